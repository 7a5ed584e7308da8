package browse

import (
	"context"
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

const (
	pageRows    = 256
	groupSize   = 64       // columns that are read together, in tables that can be read from any row
	mostPages   = 64       // in memory
	mostBytes   = 64 << 20 // of pages in memory
	cursorSkips = 4096     // rows that a cursor reads to get to a page, where it could be opened anew
)

// pageID is the place of a page: some rows of some columns.
type pageID struct {
	page  int64
	group int
}

// page is some rows in memory.
type page struct {
	pageID
	batches []arrow.RecordBatch
	bytes   int64
	used    int64 // for the choice of pages to drop

	cells []*column // made when they are shown
}

// rows is the number of rows of a page.
func (p *page) rows() (n int64) {
	for _, b := range p.batches {
		n += b.NumRows()
	}
	return n
}

// cell finds the value of a column, by its number in the group, in a row of the page.
func (p *page) cell(column, row int) (arrow.Array, int, bool) {
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

// pages are the pages in memory. They belong to the goroutine of the model.
type pages struct {
	list  map[pageID]*page
	bytes int64
	clock int64
}

func (s *pages) get(id pageID) *page {
	p := s.list[id]
	if p != nil {
		s.clock++
		p.used = s.clock
	}
	return p
}

// add keeps a page, and drops those that were used least recently.
func (s *pages) add(p *page) {
	if s.list == nil {
		s.list = map[pageID]*page{}
	}
	if old := s.list[p.pageID]; old != nil {
		s.bytes -= old.bytes
	}
	s.clock++
	p.used = s.clock
	s.list[p.pageID] = p
	s.bytes += p.bytes
	for len(s.list) > 4 && (len(s.list) > mostPages || s.bytes > mostBytes) {
		var oldest *page
		for _, q := range s.list {
			if oldest == nil || q.used < oldest.used {
				oldest = q
			}
		}
		s.bytes -= oldest.bytes
		delete(s.list, oldest.pageID)
	}
}

// loader reads pages. It keeps its cursor, so that pages in a row are read in one go.
type loader struct {
	lock  sync.Mutex
	cur   *cursor
	group int
}

// close ends the cursor.
func (l *loader) close() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.drop()
}

func (l *loader) drop() (err error) {
	if l.cur != nil {
		err = l.cur.close()
		l.cur = nil
	}
	return err
}

// at returns a cursor at or before a row.
func (l *loader) at(v *view, group int, columns []string, row int64) (*cursor, error) {
	c := l.cur
	if c != nil && !c.ended && c.view == v && l.group == group && c.row <= row && (row-c.row <= cursorSkips || v.before(row).row <= c.row) {
		return c, nil
	}
	err := l.drop()
	l.cur, l.group = v.cursor(columns, pageRows, row), group
	return l.cur, err
}

// stale reports whether a read failed because the cursor was opened by an earlier one, which is cancelled by now. The cursor is dropped, so that the next
// read succeeds.
func stale(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() == nil
}

// load reads the pages of a group of columns from first to last. Of a page behind the end there is none.
func (l *loader) load(ctx context.Context, v *view, group int, columns []string, first, last int64, progress func(int64)) ([]*page, error) {
	list, err := l.tryLoad(ctx, v, group, columns, first, last, progress)
	if stale(ctx, err) {
		list, err = l.tryLoad(ctx, v, group, columns, first, last, progress)
	}
	return list, err
}

func (l *loader) tryLoad(ctx context.Context, v *view, group int, columns []string, first, last int64, progress func(int64)) (list []*page, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	defer func() {
		if err != nil {
			err = errors.Join(err, l.drop())
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := l.at(v, group, columns, first*pageRows)
	if err != nil {
		return nil, err
	}
	for id := first; id <= last; id++ {
		p := &page{pageID: pageID{id, group}}
		if err := p.read(ctx, c, progress); err != nil {
			return list, err
		}
		if len(p.batches) == 0 {
			break
		}
		list = append(list, p)
	}
	return list, nil
}

// end reads a view to its end, and returns the last two pages, also before an error.
func (l *loader) end(ctx context.Context, v *view, group int, columns []string, progress func(int64)) ([]*page, error) {
	list, err := l.tryEnd(ctx, v, group, columns, progress)
	if stale(ctx, err) {
		list, err = l.tryEnd(ctx, v, group, columns, progress)
	}
	return list, err
}

func (l *loader) tryEnd(ctx context.Context, v *view, group int, columns []string, progress func(int64)) (list []*page, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	defer func() {
		if err != nil {
			err = errors.Join(err, l.drop())
		}
	}()
	c := l.cur
	if c == nil || c.ended || c.view != v || l.group != group {
		if c, err = l.at(v, group, columns, 0); err != nil {
			return nil, err
		}
	}
	for id := (c.row + pageRows - 1) / pageRows; ; id++ {
		p := &page{pageID: pageID{id, group}}
		if err := p.read(ctx, c, progress); err != nil || len(p.batches) == 0 {
			return list, err
		}
		if list = append(list, p); len(list) > 2 {
			list = list[1:]
		}
	}
}

// read reads the rows of a page, after the rows before it.
func (p *page) read(ctx context.Context, c *cursor, progress func(int64)) error {
	from, to := p.page*pageRows, (p.page+1)*pageRows
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
			err = p.add(b, begin-first, min(to, c.row)-first)
		}
		b.Release()
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// add copies rows of a batch, whose memory may be much larger.
func (p *page) add(b arrow.RecordBatch, from, to int64) error {
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
		p.bytes += size(copied.Data(), 0)
	}
	p.batches = append(p.batches, array.NewRecordBatch(b.Schema(), columns, to-from))
	return nil
}

// size is the memory of an array.
func size(d arrow.ArrayData, depth int) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	if depth > 64 {
		return n
	}
	for _, c := range d.Children() {
		n += size(c, depth+1)
	}
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		n += size(dict, depth+1)
	}
	return n
}
