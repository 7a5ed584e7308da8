package tables

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/table/provider"
)

// partSource gives the rows of a part the types of the union: its columns, and nulls for those that it lacks.
type partSource struct {
	provider.Source
	name    string
	mem     memory.Allocator
	schema  *arrow.Schema
	present []bool // by column: the part has it

	ranges   []provider.RowRange // of the rows that are wanted, by their position in the part; nil for all
	counts   bool                // others are left out here
	filtered bool                // by the part
	hides    bool                // the part has positions without a row
	read     int64               // rows that the part has given
	given    int64               // of these, those in the ranges, without the last batch
	last     int64               // rows of the last batch
}

func (p *partSource) Schema() *arrow.Schema { return p.schema }

// Next implements [provider.Source]. Rows behind the last range are not read.
func (p *partSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for !p.counts || p.read < endOf(p.ranges) {
		b, err := p.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		chosen := b
		if p.counts {
			chosen, err = provider.ChooseRows(b, rowset.Shift(p.ranges, p.read))
		}
		p.read += b.NumRows()
		if chosen != b {
			b.Release()
		}
		if err != nil {
			return nil, err
		}
		if chosen != nil {
			defer chosen.Release()
			p.given, p.last = p.given+p.last, chosen.NumRows()
			return p.widen(chosen)
		}
	}
	return nil, nil
}

// Ranges implements [provider.Numbered].
func (p *partSource) Ranges() []provider.RowRange {
	if n, ok := p.Source.(provider.Numbered); ok && (p.filtered || p.hides) {
		return n.Ranges()
	}
	if p.filtered || p.hides || p.ranges != nil {
		return nil
	}
	return []provider.RowRange{{From: p.read - p.last, To: p.read}}
}

// group is the group of rows of the part that the last batch is in, or -1.
func (p *partSource) group() int {
	if g, ok := p.Source.(provider.Grouped); ok {
		return g.Group()
	}
	return -1
}

// widen gives columns the types of the union.
func (p *partSource) widen(b arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, p.schema.NumFields())
	defer arrowutil.ReleaseAll(columns)
	at := 0
	for i, f := range p.schema.Fields() {
		if !p.present[i] {
			columns[i] = arrowutil.Nulls(p.mem, f.Type, int(b.NumRows()))
			continue
		}
		var err error
		columns[i], err = cast.Array(p.mem, b.Column(at), f.Type)
		at++
		var m *cast.Misfit
		switch {
		case errors.As(err, &m):
			return nil, p.misfit(f, m)
		case err != nil:
			return nil, fmt.Errorf("column %q: %w in %s", f.Name, err, p.name)
		}
	}
	return array.NewRecordBatch(p.schema, columns, b.NumRows()), nil
}

// misfit is the error of a value that the type of the union cannot hold. The row is not known if the part has filtered or hides rows.
func (p *partSource) misfit(f arrow.Field, m *cast.Misfit) error {
	if p.filtered || p.hides {
		return fmt.Errorf("column %q: %w in %s", f.Name+m.Path, m.Err, p.name)
	}
	return &provider.ValueError{
		Column: f.Name + m.Path, Value: m.Value, Row: rowset.Row(p.ranges, p.given+int64(m.Row)) + 1, Input: p.name, Err: m.Err,
		Remedy: fmt.Sprintf("--schema '%s:utf8' keeps any value", text.Name(f.Name)),
	}
}

// ParseRange parses "100:200", "100:", ":100" or "-100:". Negative positions count from the end.
func ParseRange(s string) (r provider.RowRange, err error) {
	from, to, ok := strings.Cut(s, ":")
	if !ok || s == ":" {
		return r, fmt.Errorf("%q is not a range such as 100:200; :100 is the first rows, and -100: the last", s)
	}
	if from != "" {
		if r.From, err = strconv.ParseInt(from, 10, 64); err != nil {
			return r, fmt.Errorf("%q is not a number of rows", from)
		}
	}
	if r.To = math.MaxInt64; to != "" {
		if r.To, err = strconv.ParseInt(to, 10, 64); err != nil {
			return r, fmt.Errorf("%q is not a number of rows", to)
		}
	}
	if (r.From < 0) == (r.To < 0) && r.To < r.From {
		return r, fmt.Errorf("%s ends before it begins", s)
	}
	return r, nil
}

// fromEnd reports whether the only range counts from the end of the table.
func fromEnd(rows []provider.RowRange) (bool, error) {
	for _, r := range rows {
		if r.From < 0 || r.To < 0 {
			if len(rows) > 1 {
				return false, errors.New("of several ranges of rows none may count from the end")
			}
			return true, nil
		}
	}
	return false, nil
}

// resolve gives a range in a table of n rows.
func resolve(r provider.RowRange, n int64) provider.RowRange {
	if r.From < 0 {
		r.From = max(r.From+n, 0)
	}
	if r.To < 0 {
		r.To = max(r.To+n, 0)
	}
	return r
}

// NumParts is the number of the parts of the union.
func (u *Union) NumParts() int { return len(u.parts) }

// OpenPart opens part i as it is, with the columns and types of its own.
func (u *Union) OpenPart(ctx context.Context, i int, o provider.ReadOptions) (provider.Source, error) {
	if o.Schema = u.casts; len(u.parts) > 1 {
		o.Schema = u.looks[i].casts
	}
	src, _, err := u.parts[i].Open(ctx, o)
	return src, err
}
