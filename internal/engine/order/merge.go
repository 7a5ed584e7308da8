package order

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowfile"
)

// merge reads the rows of several runs in order.
type merge struct {
	mem     memory.Allocator
	cursors []*cursor // in the order of their keys; there are few
	chunk   int       // rows of a batch of the usual size
}

// cursor is a position in a run.
type cursor struct {
	index  int // of the run: of equal rows, those of earlier runs come first
	reader *rowfile.Reader
	batch  arrow.RecordBatch
	keys   *array.LargeBinary
	row    int
	part   int // of the rows being collected, or -1
}

// part is a range of rows of a batch, from which rows are collected.
type part struct {
	batch      arrow.RecordBatch
	begin, end int
}

// pick is a row of a part.
type pick struct{ part, row int }

func newMerge(mem memory.Allocator, runs []*run) (*merge, error) {
	m := &merge{mem: mem}
	var rows, size int64
	for i, r := range runs {
		if r.Rows == 0 {
			continue
		}
		rows, size = rows+r.Rows, size+r.Bytes()
		reader, err := r.Open()
		if err != nil {
			m.release()
			return nil, err
		}
		c := &cursor{index: i, reader: reader}
		m.cursors = append(m.cursors, c)
		if _, err := c.load(); err != nil {
			m.release()
			return nil, err
		}
	}
	slices.SortFunc(m.cursors, compareCursors)
	m.chunk = rowsOf(batchBytes, size, int(rows))
	return m, nil
}

// load reads the next batch. It is false after the last one.
func (c *cursor) load() (bool, error) {
	if c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
	c.row, c.part = 0, -1
	b, err := c.reader.Next()
	if b == nil || err != nil {
		return false, err
	}
	last := b.Column(int(b.NumCols() - 1))
	keys, ok := last.(*array.LargeBinary)
	if !ok {
		return false, fmt.Errorf("temporary file: keys of type %s", last.DataType())
	}
	b.Retain()
	c.batch, c.keys = b, keys
	return true, nil
}

// next returns up to n rows as columns, of which the last has the keys. After the last row, there are none.
func (m *merge) next(n int) (columns []arrow.Array, rows int, err error) {
	var parts []part
	var picks []pick
	defer func() {
		for _, p := range parts {
			p.batch.Release()
		}
	}()
	for len(m.cursors) > 0 && len(picks) < n {
		c := m.cursors[0]
		if c.part < 0 {
			c.part = len(parts)
			c.batch.Retain()
			parts = append(parts, part{batch: c.batch, begin: c.row})
		}
		picks = append(picks, pick{c.part, c.row})
		c.row++
		parts[c.part].end = c.row
		if c.row == c.keys.Len() {
			more, err := c.load()
			if err != nil {
				return nil, 0, err
			}
			if !more {
				c.release()
				m.cursors = m.cursors[1:]
				continue
			}
		}
		m.settle()
	}
	for _, c := range m.cursors {
		c.part = -1
	}
	if len(picks) == 0 {
		return nil, 0, nil
	}
	columns, err = m.collect(parts, picks)
	return columns, len(picks), err
}

// settle moves the first cursor to its place among the others.
func (m *merge) settle() {
	c := m.cursors[0]
	at, _ := slices.BinarySearchFunc(m.cursors[1:], c, compareCursors)
	copy(m.cursors, m.cursors[1:at+1])
	m.cursors[at] = c
}

func compareCursors(a, b *cursor) int {
	return cmp.Or(bytes.Compare(a.keys.Value(a.row), b.keys.Value(b.row)), cmp.Compare(a.index, b.index))
}

// collect joins the parts of each column, and takes rows of the whole.
func (m *merge) collect(parts []part, picks []pick) ([]arrow.Array, error) {
	starts := make([]int, len(parts)) // of the rows of each batch, in the whole
	total := 0
	for i, p := range parts {
		starts[i] = total - p.begin
		total += p.end - p.begin
	}
	rows := make([]int64, len(picks))
	for i, p := range picks {
		rows[i] = int64(starts[p.part] + p.row)
	}
	columns := make([]arrow.Array, parts[0].batch.NumCols())
	for i := range columns {
		var err error
		if columns[i], err = m.column(parts, i, rows); err != nil {
			arrowutil.ReleaseAll(columns)
			return nil, err
		}
	}
	return columns, nil
}

func (m *merge) column(parts []part, i int, rows []int64) (arrow.Array, error) {
	arrays := make([]arrow.Array, len(parts))
	defer arrowutil.ReleaseAll(arrays)
	for k, p := range parts {
		arrays[k] = array.NewSlice(p.batch.Column(i), int64(p.begin), int64(p.end))
	}
	whole, err := arrowutil.Concatenate(m.mem, arrays)
	if err != nil {
		return nil, err
	}
	if len(parts) == 1 { // in order
		return whole, nil
	}
	defer whole.Release()
	return arrowutil.Take(m.mem, whole, rows)
}

func (c *cursor) release() {
	if c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
	if c.reader != nil {
		c.reader.Release()
		c.reader = nil
	}
}

func (m *merge) release() {
	if m == nil {
		return
	}
	for _, c := range m.cursors {
		c.release()
	}
	m.cursors = nil
}
