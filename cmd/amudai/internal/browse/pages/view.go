// Package pages reads the rows of a table that are shown, and keeps some of them in memory.
package pages

import (
	"context"
	"errors"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
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
