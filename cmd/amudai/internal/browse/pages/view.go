// Package pages reads the rows of a table that are shown, and keeps some of them in memory.
package pages

import (
	"context"
	"errors"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
)

// Opener opens a table. It applies Columns, Filter and Rows.
type Opener func(ctx context.Context, o provider.ReadOptions) (provider.Source, error)

// View is the rows of a table that meet a condition. They are numbered from 0.
type View struct {
	Filter filter.Expr
	Seeks  bool // reading can begin behind the first row of the table

	open  Opener
	table int64 // rows of the table, or -1 if they are not known

	lock  sync.Mutex
	marks []mark // ascending
	total int64  // rows of the view, or -1 while it is not known
}

// mark is a place where reading may begin: row of the view is the first that is at or after row in of the table.
type mark struct{ in, row int64 }

const (
	plainSpan = 64 << 10 // rows that are read by one source, if there is no condition
	mostSpan  = 4 << 20  // with a condition, ranges grow up to this number of rows
	mostMarks = 4096
)

// NewView returns a view of a table with a number of rows, or -1 if that is not known. With seeks, the table can be read from any row.
func NewView(open Opener, rows int64, seeks bool, e filter.Expr) *View {
	v := &View{open: open, Filter: e, table: rows, Seeks: seeks && rows >= 0, marks: []mark{{}}, total: -1}
	if e.IsZero() {
		v.total = rows
	}
	return v
}

// Rows is the number of rows, or -1 if it is not known.
func (v *View) Rows() int64 {
	v.lock.Lock()
	defer v.lock.Unlock()
	return v.total
}

func (v *View) setRows(n int64) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.total = n
}

// before is the last place at or before a row where reading may begin.
func (v *View) before(row int64) mark {
	if v.Seeks && v.Filter.IsZero() {
		return mark{row, row}
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	i := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].row > row })
	return v.marks[i-1]
}

// add remembers a place.
func (v *View) add(m mark) {
	v.lock.Lock()
	defer v.lock.Unlock()
	if m.in > v.marks[len(v.marks)-1].in && len(v.marks) < mostMarks {
		v.marks = append(v.marks, m)
	}
}

// cursor reads a view forward. It is used by one goroutine at a time.
type cursor struct {
	view    *View
	columns []string // nil: all
	batch   int
	row     int64 // of the view, that comes next

	src   provider.Source   // nil before and behind each range of rows
	rest  arrow.RecordBatch // the rows that come next, or nil
	in    provider.RowRange // of the table, that src reads
	ended bool
}

// cursor returns a cursor at a place of the view. The rows up to the one that is wanted are to be skipped.
func (v *View) cursor(columns []string, batch int, row int64) *cursor {
	m := v.before(row)
	c := &cursor{view: v, columns: columns, batch: batch, row: m.row}
	c.in.To = m.in
	return c
}

// next returns the next batch, which the caller releases, and the number of its first row, or none at the end. An error ends the cursor.
func (c *cursor) next(ctx context.Context) (arrow.RecordBatch, int64, error) {
	if b := c.rest; b != nil {
		c.rest = nil
		first := c.row
		c.row += b.NumRows()
		return b, first, nil
	}
	for !c.ended {
		if c.src == nil {
			if err := c.nextRange(ctx); err != nil {
				return nil, 0, errors.Join(err, c.close())
			}
			continue
		}
		b, err := c.src.Next(ctx)
		if b != nil {
			first := c.row
			c.row += b.NumRows()
			return b, first, nil
		}
		if err == nil {
			err = c.src.Close()
			c.src = nil
			if !c.view.Seeks {
				c.ended = true
			}
		}
		if err != nil {
			return nil, 0, errors.Join(err, c.close())
		}
	}
	c.view.setRows(c.row)
	return nil, 0, nil
}

// nextRange opens the source of the next range of rows.
func (c *cursor) nextRange(ctx context.Context) (err error) {
	o := provider.ReadOptions{Columns: c.columns, BatchRows: c.batch, Filter: c.view.Filter}
	if c.view.Seeks {
		if c.in.To >= c.view.table {
			c.ended = true
			return nil
		}
		span := int64(plainSpan)
		if !c.view.Filter.IsZero() {
			c.view.add(mark{c.in.To, c.row})
			span = min(max(2*(c.in.To-c.in.From), plainSpan), mostSpan)
		}
		c.in = provider.RowRange{From: c.in.To, To: min(c.in.To+span, c.view.table)}
		o.Rows = []provider.RowRange{c.in}
	}
	c.src, err = c.view.open(ctx, o)
	return err
}

// unread gives back a batch, whose rows come again.
func (c *cursor) unread(b arrow.RecordBatch) {
	c.rest = b
	c.row -= b.NumRows()
}

// close ends the cursor.
func (c *cursor) close() (err error) {
	if c.rest != nil {
		c.rest.Release()
	}
	if c.src != nil {
		err = c.src.Close()
	}
	c.src, c.rest, c.ended = nil, nil, true
	return err
}

// walk calls f with the rows of a view from one of them on, until f is done or the view ends.
func (v *View) walk(ctx context.Context, columns []string, from int64, f func(b arrow.RecordBatch, first int64) (done bool, err error)) error {
	return v.cursor(columns, provider.DefaultBatchRows, from).walk(ctx, from, f)
}

func (c *cursor) walk(ctx context.Context, from int64, f func(b arrow.RecordBatch, first int64) (done bool, err error)) (err error) {
	defer func() { err = errors.Join(err, c.close()) }()
	for {
		b, first, err := c.next(ctx)
		if err != nil || b == nil {
			return err
		}
		if skip := from - first; skip >= b.NumRows() {
			b.Release()
			continue
		} else if skip > 0 {
			part := b.NewSlice(skip, b.NumRows())
			b.Release()
			b, first = part, from
		}
		done, err := f(b, first)
		b.Release()
		if done || err != nil {
			return err
		}
	}
}

// Count counts the rows of a view. It reports the progress now and then.
func (v *View) Count(ctx context.Context, progress func(int64)) error {
	return v.walk(ctx, []string{}, 0, func(b arrow.RecordBatch, first int64) (bool, error) {
		progress(first + b.NumRows())
		return false, ctx.Err()
	})
}

// SampleRows is the number of rows that facts and completions are of.
const SampleRows = 100_000

// Describe describes the values of columns in the first rows of a view.
func Describe(ctx context.Context, v *View, paths []string) (*profile.Profile, error) {
	var p *profile.Profiler
	rows := int64(0)
	err := v.walk(ctx, paths, 0, func(b arrow.RecordBatch, _ int64) (bool, error) {
		if p == nil {
			p = profile.New(b.Schema(), profile.Options{})
		}
		part := b.NewSlice(0, min(b.NumRows(), SampleRows-rows))
		defer part.Release()
		rows += part.NumRows()
		return rows >= SampleRows, p.Add(ctx, part)
	})
	if p == nil || err != nil {
		return &profile.Profile{}, err
	}
	return p.Result(), nil
}

// Frequent are the values of a column in the first rows, as conditions write them, the most frequent ones first.
func Frequent(ctx context.Context, v *View, path string) ([]string, error) {
	counts := complete.Counts{}
	err := v.walk(ctx, []string{path}, 0, func(b arrow.RecordBatch, first int64) (bool, error) {
		return !counts.AddColumn(b) || first+b.NumRows() >= SampleRows, ctx.Err()
	})
	return counts.Values(), err
}

// Row reads a row: the names of its columns, its values, and a JSON object of them. Without such a row, names is nil.
func Row(ctx context.Context, v *View, row int64) (names, vals []string, object string, err error) {
	err = v.cursor(nil, Rows, row).walk(ctx, row, func(b arrow.RecordBatch, _ int64) (bool, error) {
		names = []string{}
		for i, col := range b.Columns() {
			names = append(names, terminal.Printable(b.ColumnName(i)))
			s, ok := Whole(col, 0)
			if !ok {
				s = NullText
			}
			vals = append(vals, s)
		}
		whole := array.RecordToStructArray(b)
		defer whole.Release()
		object = string(values.JSON(whole)(nil, 0))
		return true, nil
	})
	return names, vals, object, err
}
