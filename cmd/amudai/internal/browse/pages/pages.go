package pages

import (
	"context"
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/lru"
)

const (
	Rows        = 256      // of a page
	Columns     = 64       // that are read together, in tables that can be read from any row
	Most        = 64       // pages in memory
	least       = 4        // of these that stay, however large they are
	mostBytes   = 64 << 20 // of pages in memory
	cursorSkips = 4096     // rows that a cursor reads to get to a page, where it could be opened anew
)

// ID is the place of a page: some rows of some columns.
type ID struct {
	Page  int64
	Group int
}

// Page is some rows in memory.
type Page struct {
	ID
	batches []arrow.RecordBatch
	bytes   int64
	cells   []*column // made when they are shown
}

// NumRows is the number of rows of a page.
func (p *Page) NumRows() (n int64) {
	for _, b := range p.batches {
		n += b.NumRows()
	}
	return n
}

// Cell finds the value of a column, by its number in the group, in a row of the page.
func (p *Page) Cell(column, row int) (arrow.Array, int, bool) {
	for _, b := range p.batches {
		if n := int(b.NumRows()); row >= n {
			row -= n
			continue
		}
		if column >= int(b.NumCols()) {
			break
		}
		return b.Column(column), row, true
	}
	return nil, 0, false
}

// Cache is the pages in memory.
type Cache struct{ *lru.Cache[ID, *Page] }

// NewCache is a cache without pages.
func NewCache() Cache { return Cache{lru.New[ID, *Page](mostBytes)} }

// Add keeps pages, and drops those that were used least recently.
func (c Cache) Add(list []*Page) {
	for _, p := range list {
		c.Put(p.ID, p, min(max(p.bytes, mostBytes/Most), mostBytes/least))
	}
}

// Loader reads pages. It keeps its cursor, so that pages in a row are read in one go.
type Loader struct {
	lock  sync.Mutex
	cur   *cursor
	group int
}

// Close ends the cursor.
func (l *Loader) Close() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.drop()
}

func (l *Loader) drop() (err error) {
	if l.cur != nil {
		err = l.cur.close()
		l.cur = nil
	}
	return err
}

// at returns a cursor at or before a row, or anywhere if row is -1.
func (l *Loader) at(v *View, group int, columns []string, row int64) (*cursor, error) {
	c := l.cur
	if c != nil && !c.ended && c.view == v && l.group == group && (row < 0 || c.row <= row && (row-c.row <= cursorSkips || v.before(row).row <= c.row)) {
		return c, nil
	}
	err := l.drop()
	l.cur, l.group = v.cursor(columns, Rows, max(row, 0)), group
	return l.cur, err
}

// with calls do with a cursor at or before a row. It tries again if the read failed because the cursor was opened by an earlier call, which is
// cancelled by now.
func (l *Loader) with(ctx context.Context, v *View, group int, columns []string, row int64, do func(c *cursor) error) error {
	try := func() error {
		l.lock.Lock()
		defer l.lock.Unlock()
		if err := ctx.Err(); err != nil {
			return errors.Join(err, l.drop())
		}
		c, err := l.at(v, group, columns, row)
		if err == nil {
			err = do(c)
		}
		if err != nil {
			err = errors.Join(err, l.drop())
		}
		return err
	}
	err := try()
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = try()
	}
	return err
}

// Load reads the pages of a group of columns from first to last. Of a page behind the end there is none.
func (l *Loader) Load(ctx context.Context, v *View, group int, columns []string, first, last int64, progress func(int64)) (list []*Page, err error) {
	err = l.with(ctx, v, group, columns, first*Rows, func(c *cursor) error {
		list = nil
		for id := first; id <= last; id++ {
			p := &Page{ID: ID{id, group}}
			if err := p.read(ctx, c, progress); err != nil || len(p.batches) == 0 {
				return err
			}
			list = append(list, p)
		}
		return nil
	})
	return list, err
}

// End reads a view to its end, and returns the last two pages, also before an error.
func (l *Loader) End(ctx context.Context, v *View, group int, columns []string, progress func(int64)) (list []*Page, err error) {
	err = l.with(ctx, v, group, columns, -1, func(c *cursor) error {
		list = nil
		for id := (c.row + Rows - 1) / Rows; ; id++ {
			p := &Page{ID: ID{id, group}}
			if err := p.read(ctx, c, progress); err != nil || len(p.batches) == 0 {
				return err
			}
			if list = append(list, p); len(list) > 2 {
				list = list[1:]
			}
		}
	})
	return list, err
}

// read reads the rows of a page, after the rows before it.
func (p *Page) read(ctx context.Context, c *cursor, progress func(int64)) error {
	from, to := p.Page*Rows, (p.Page+1)*Rows
	for c.row < to {
		b, first, err := c.next(ctx)
		if err != nil || b == nil {
			return err
		}
		progress(c.row)
		if end := first + b.NumRows(); end > to {
			c.unread(b.NewSlice(to-first, b.NumRows()))
		}
		if begin := max(from, first); begin < c.row {
			p.add(b, begin-first, min(to, c.row)-first)
		}
		b.Release()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// add copies rows of a batch, whose memory may be much larger.
func (p *Page) add(b arrow.RecordBatch, from, to int64) {
	rows := make([]int64, to-from)
	for i := range rows {
		rows[i] = from + int64(i)
	}
	columns := make([]arrow.Array, b.NumCols())
	for k, c := range b.Columns() {
		copied, err := arrowutil.Take(memory.DefaultAllocator, c, rows)
		if err != nil { // a type whose rows cannot be selected
			copied = array.NewSlice(c, from, to)
		}
		columns[k] = copied
		p.bytes += int64(copied.Data().SizeInBytes())
	}
	p.batches = append(p.batches, array.NewRecordBatch(b.Schema(), columns, to-from))
}
