package tables

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/table/provider"
)

// partSource gives the rows of a part the types of the union.
type partSource struct {
	provider.Source
	s    *source
	name string

	schema     *arrow.Schema // of widened batches
	present    []bool        // by column of it: the part has it
	bound      *predicate.Bound
	projection *provider.Projection

	rows   int64               // of the part, if ranges of rows are asked for
	ranges []provider.RowRange // of these rows, by their position in the part; nil for all
	counts bool                // rows are selected as they are read
	first  int64               // position of the part
	read   int64               // number of rows of the part that were read
	given  int64               // number of those that are in the ranges, without the last batch
	last   int64               // rows of the last batch

	filtered bool // the part filters rows

	groups    bool // groups of rows of the part are groups of the union
	started   bool
	lastGroup int
}

func (p *partSource) open(ctx context.Context, i int, ro provider.ReadOptions) (err error) {
	var fields []arrow.Field
	ro.Columns, fields, p.present = p.s.columnsOf(i)
	meta := p.s.u.schema.Metadata()
	p.schema = arrow.NewSchema(fields, &meta)
	p.filtered = !ro.Filter.IsZero()
	if p.s.bound != nil && ro.Filter.IsZero() {
		if p.bound, err = compute.Condition(p.s.o.Filter.Node(), p.schema); err != nil {
			return err
		}
	}
	if p.projection, err = provider.Project(p.schema, p.s.o.Columns); err != nil {
		return err
	}
	ro.Schema = p.s.u.looks[i].casts
	if p.s.messages {
		ro.Notice, ro.Warning = p.s.u.notice, p.s.u.warning
	}
	p.Source, _, err = p.s.u.parts[i].Open(ctx, ro)
	return err
}

// end is the position of the row behind the part.
func (p *partSource) end() int64 {
	if p.counts {
		return p.first + p.read
	}
	return p.first + p.rows
}

// next returns the next batch, or none at the end, and whether it begins a group.
func (p *partSource) next(ctx context.Context) (b arrow.RecordBatch, newGroup bool, err error) {
	for {
		b, err := p.Source.Next(ctx)
		if err != nil || b == nil {
			return nil, false, err
		}
		if p.counts {
			if endOf(p.ranges) <= p.read {
				b.Release()
				return nil, false, nil
			}
			chosen, err := provider.ChooseRows(b, rowset.Shift(p.ranges, p.read))
			p.read += b.NumRows()
			b.Release()
			if err != nil {
				return nil, false, err
			}
			if b = chosen; b == nil {
				continue
			}
		}
		p.given, p.last = p.given+p.last, b.NumRows()
		out, err := p.convert(b)
		b.Release()
		if err != nil {
			return nil, false, err
		}
		if out == nil {
			continue
		}
		group := -1
		if g, ok := p.Source.(provider.Grouped); ok && p.groups {
			group = g.Group()
		}
		newGroup := !p.started || group != p.lastGroup
		p.started, p.lastGroup = true, group
		return out, newGroup, nil
	}
}

// convert returns the columns of the result for those rows that meet the filter, or nil if there are none.
func (p *partSource) convert(b arrow.RecordBatch) (arrow.RecordBatch, error) {
	wide, err := p.widen(b)
	if err != nil {
		return nil, err
	}
	defer wide.Release()
	out := p.projection.Of(wide)
	if p.bound == nil {
		return out, nil
	}
	defer out.Release()
	chosen, err := p.bound.Filter(p.s.o.Allocator, wide, out)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, p.name)
	}
	return chosen, nil
}

// widen gives columns the types of the union.
func (p *partSource) widen(b arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, p.schema.NumFields())
	defer arrowutil.ReleaseAll(columns)
	at := 0
	for i, f := range p.schema.Fields() {
		if !p.present[i] {
			columns[i] = arrowutil.Nulls(p.s.o.Allocator, f.Type, int(b.NumRows()))
			continue
		}
		var err error
		columns[i], err = cast.Array(p.s.o.Allocator, b.Column(at), f.Type)
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

// misfit is the error of a value that the type of the union cannot hold. The row is not known if the part has filtered.
func (p *partSource) misfit(f arrow.Field, m *cast.Misfit) error {
	if p.filtered {
		return fmt.Errorf("column %q: %w in %s", f.Name+m.Path, m.Err, p.name)
	}
	return &provider.ValueError{
		Column: f.Name + m.Path, Value: m.Value, Row: rowset.Row(p.ranges, p.given+int64(m.Row)) + 1, Input: p.name, Err: m.Err,
		Remedy: fmt.Sprintf("--schema '%s:utf8' keeps any value", text.Name(f.Name)),
	}
}
