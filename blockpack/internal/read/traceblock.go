package read

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/read/internal/lazy"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// traceReader reads spans of traces out of blocks.
type traceReader struct {
	table  *Table
	o      TraceOptions
	fields []spans.Field // of o.Schema
}

func newTraceReader(t *Table, o TraceOptions) (*traceReader, error) {
	x := &traceReader{table: t, o: o}
	if o.Schema == nil {
		return x, nil
	}
	for _, f := range o.Schema.Fields() {
		of, err := spans.Of(f)
		if err != nil {
			return nil, err
		}
		x.fields = append(x.fields, of)
	}
	return x, nil
}

// openBlock is a block while its spans are read.
type openBlock struct {
	*head
	part  tracePart
	table *Table
	read  blockBytes
	free  func() // its memory
}

var blockBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the largest memory that is kept for the next block.
const maxPooled = 4 << 20

// open reads the head of a block. A block of which all columns are wanted is read whole and, over a network, each that is not
// long.
func (x *traceReader) open(ctx context.Context, part tracePart, all bool) (*openBlock, error) {
	t := x.table
	b := &openBlock{part: part, table: t, free: func() {}}
	if part.offset < 0 || part.length < 0 || part.offset > t.file.Size-part.length {
		return nil, fault.In(fault.Corruptf("block of %d bytes at %d in a file of %d", part.length, part.offset, t.file.Size), "trace index", -1)
	}
	n := part.length
	if all || t.Latency() == storage.LatencyHigh && part.length <= wholeBytes {
		if err := b.readWhole(ctx); err != nil {
			return nil, err
		}
	} else {
		n = min(max(t.guess.Load(), firstHeadBytes), part.length)
		b.read = func(ctx context.Context, offset, n int64) ([]byte, error) {
			return storage.ReadRange(ctx, t.reader, part.offset+offset, n)
		}
	}
	var ok bool
	if b.head, ok = t.heads.Get(part.block); ok && b.offset == part.offset && b.Length == part.length {
		return b, nil
	}
	data, err := b.read(ctx, 0, n)
	if err == nil {
		b.head, err = readHead(ctx, data, part.offset, part.length, b.read)
	}
	if err == nil {
		err = t.keepHead(part.block, b.head)
	}
	if err != nil {
		b.free()
		return nil, err
	}
	return b, nil
}

// readWhole reads all bytes of the block.
func (b *openBlock) readWhole(ctx context.Context) error {
	buffer := blockBuffers.Get().(*[]byte)
	data, err := storage.ReadInto(ctx, b.table.reader, *buffer, b.part.offset, b.part.length)
	if err != nil {
		blockBuffers.Put(buffer)
		return err
	}
	b.free = func() {
		if *buffer = data; cap(data) <= maxPooled {
			blockBuffers.Put(buffer)
		}
	}
	b.read = func(_ context.Context, offset, n int64) ([]byte, error) {
		if offset < 0 || n < 0 || offset > int64(len(data))-n {
			return nil, fault.Corruptf("%d bytes at %d of a block of %d", n, offset, len(data))
		}
		return data[offset : offset+n : offset+n], nil
	}
	return nil
}

// stored is column i, which must not be kept in the cache: its bytes are those of the block.
func (b *openBlock) stored(ctx context.Context, i int) (*lazy.Column, error) {
	if s, ok := b.table.stored.Get(storedKey{b.part.block, i}); ok && !s.NeedsBytes() {
		return s, nil
	}
	l := b.table.blocks.Load()
	s, err := newStored(ctx, b.read, b.head, i, l != nil && l.writer != "")
	if err != nil || !s.NeedsBytes() {
		return s, err
	}
	data, err := b.read(ctx, b.Columns[i].Offset, b.Columns[i].Length)
	if err != nil {
		return nil, err
	}
	s.SetBytes(data)
	return s, nil
}

// take decodes rows of column i.
func (b *openBlock) take(ctx context.Context, i int, rows rowset.Set) (*column.Column, error) {
	s, err := b.stored(ctx, i)
	if err != nil {
		return nil, b.table.place(err, b.part.block, b.head, i)
	}
	c, err := s.Take(rows)
	return c, b.table.place(err, b.part.block, b.head, i)
}

// ids are all rows of the column of ids, which stays in the cache; nil if the block lacks it.
func (b *openBlock) ids(ctx context.Context) (*column.Column, error) {
	i := b.Column(spans.TraceID, column.Bytes)
	if i < 0 {
		return nil, nil
	}
	s, err := b.stored(ctx, i)
	if err != nil {
		return nil, b.table.place(err, b.part.block, b.head, i)
	}
	c, err := s.All()
	if err == nil {
		b.table.stored.Put(storedKey{b.part.block, i}, s, s.Size())
	}
	return c, b.table.place(err, b.part.block, b.head, i)
}

// rows are the rows of the block that have the ids, and for each the index of its id.
func (b *openBlock) rows(ctx context.Context) (rows []int64, of []int, err error) {
	c, err := b.ids(ctx)
	if c == nil || err != nil {
		return nil, nil, err
	}
	index := make([]int, c.Values.Len()) // by value: of its id, or -1
	found := false
	for k := range index {
		index[k] = indexOf(b.part.ids, c.Values.Bytes(k))
		found = found || index[k] >= 0
	}
	if !found {
		return nil, nil, nil
	}
	for row, k := range c.Each() {
		if index[k] >= 0 {
			rows, of = append(rows, int64(row)), append(of, index[k])
		}
	}
	return rows, of, nil
}

func indexOf(ids []string, id []byte) int {
	if len(ids) == 1 {
		if ids[0] == string(id) {
			return 0
		}
		return -1
	}
	i, ok := slices.BinarySearchFunc(ids, id, func(a string, b []byte) int { return strings.Compare(a, string(b)) })
	if !ok {
		return -1
	}
	return i
}

// batch reads the wanted spans of a block.
func (x *traceReader) batch(ctx context.Context, part tracePart) (arrow.RecordBatch, error) {
	b, err := x.open(ctx, part, x.o.Columns == nil && x.o.Schema == nil)
	if err != nil {
		return nil, err
	}
	defer b.free()
	rows := part.rows
	if rows == nil {
		if rows, _, err = b.rows(ctx); err != nil {
			return nil, err
		}
	}
	set := rowset.FromRows(rows)
	if x.o.Schema != nil {
		return x.batchOfSchema(ctx, b, set)
	}
	return x.batchOfBlock(ctx, b, set)
}

// batchOfSchema makes the columns of the schema that was asked for.
func (x *traceReader) batchOfSchema(ctx context.Context, b *openBlock, rows rowset.Set) (arrow.RecordBatch, error) {
	arrays := make([]arrow.Array, len(x.fields))
	defer func() { arrowutil.ReleaseAll(arrays) }()
	for k, of := range x.fields {
		i := b.Column(of.Name, of.Type)
		var c *column.Column
		var err error
		f := x.o.Schema.Field(k)
		if i >= 0 {
			if c, err = b.take(ctx, i, rows); err != nil {
				return nil, err
			}
			arrays[k], err = toArrow(x.o.Allocator, c, f, 0)
			err = b.table.place(err, b.part.block, b.head, i)
		} else {
			arrays[k], err = spans.Array(x.o.Allocator, nil, int(rows.Len()), nullable(f))
		}
		if err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(x.o.Schema, arrays, rows.Len()), nil
}

// batchOfBlock makes the columns of the block, or those among them that were asked for. Their types depend on the values.
func (x *traceReader) batchOfBlock(ctx context.Context, b *openBlock, rows rowset.Set) (arrow.RecordBatch, error) {
	columns := make(map[column.Key]*column.Column, len(b.Columns))
	fields := make([]spans.Field, 0, len(b.Columns))
	for i := range b.Columns {
		key := b.Columns[i].Key()
		if x.o.Columns != nil && !slices.Contains(x.o.Columns, key.Name) || columns[key] != nil {
			continue
		}
		c, err := b.take(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		columns[key] = c
		fields = append(fields, spans.Field{Name: key.Name, Type: key.Type, Flags: spans.TraitsOf(c) &^ column.Always})
	}
	spans.Order(fields)
	o := &x.table.o
	schema := spans.Schema(fields, spans.Options{Dictionaries: o.Dictionaries, BinaryText: o.Binary, UintTimes: o.RawTimes, Events: o.Events})
	arrays := make([]arrow.Array, len(fields))
	defer func() { arrowutil.ReleaseAll(arrays) }()
	for k, f := range fields {
		var err error
		if arrays[k], err = toArrow(x.o.Allocator, columns[f.Key()], schema.Field(k), 0); err != nil {
			return nil, b.table.place(err, b.part.block, b.head, b.Column(f.Name, f.Type))
		}
	}
	return array.NewRecordBatch(schema, arrays, rows.Len()), nil
}

// page leaves of each trace the spans from offset on, at most limit of them. Blocks before and behind the page are not read if
// the index tells how many spans they have.
func (x *traceReader) page(ctx context.Context, plan []tracePart, offset, limit int64) ([]tracePart, error) {
	seen := map[string]int64{}
	inPage := func(n int64) bool { return n >= offset && (limit == 0 || n < offset+limit) }
	var out []tracePart
	for _, part := range plan {
		if part.counts != nil && part.rows == nil {
			some := false
			for k, id := range part.ids {
				for n := range int64(part.counts[k]) {
					some = some || inPage(seen[id]+n)
				}
			}
			if !some {
				for k, id := range part.ids {
					seen[id] += int64(part.counts[k])
				}
				continue
			}
		}
		rows, of, err := x.find(ctx, part)
		if err != nil {
			return nil, err
		}
		var left []int64
		for k, row := range rows {
			id := part.ids[of[k]]
			if part.rows != nil && !slices.Contains(part.rows, row) {
				continue
			}
			if inPage(seen[id]) {
				left = append(left, row)
			}
			seen[id]++
		}
		if left != nil {
			part.rows = left
			out = append(out, part)
		}
	}
	return out, nil
}

// find finds the rows of a block that have the ids.
func (x *traceReader) find(ctx context.Context, part tracePart) (rows []int64, of []int, err error) {
	defer fault.Recover(&err)
	b, err := x.open(ctx, part, false)
	if err != nil {
		return nil, nil, err
	}
	defer b.free()
	return b.rows(ctx)
}

// traceNode is a span of a trace.
type traceNode struct {
	part int
	row  int64
	id   string
}

// subtree leaves a span and those below it.
func (x *traceReader) subtree(ctx context.Context, plan []tracePart, root []byte) ([]tracePart, error) {
	var nodes []traceNode
	children := map[string][]int{} // by trace and span
	var open []int
	for p, part := range plan {
		err := x.eachSpan(ctx, part, func(row int64, trace string, span, parent []byte) {
			if string(span) == string(root) {
				open = append(open, len(nodes))
			}
			key := trace + string(parent)
			children[key] = append(children[key], len(nodes))
			nodes = append(nodes, traceNode{p, row, trace + string(span)})
		})
		if err != nil {
			return nil, fault.InStripe(err, part.block)
		}
	}
	wanted := make([]bool, len(nodes))
	for len(open) > 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		if !wanted[n] {
			wanted[n] = true
			open = append(open, children[nodes[n].id]...)
		}
	}
	out := make([]tracePart, 0, len(plan))
	for n, node := range nodes {
		if !wanted[n] {
			continue
		}
		if k := len(out) - 1; k < 0 || out[k].block != plan[node.part].block {
			out = append(out, plan[node.part])
			out[len(out)-1].rows = nil
		}
		out[len(out)-1].rows = append(out[len(out)-1].rows, node.row)
	}
	return out, nil
}

// eachSpan calls f with the ids of the wanted spans of a block.
func (x *traceReader) eachSpan(ctx context.Context, part tracePart, f func(row int64, trace string, span, parent []byte)) (err error) {
	defer fault.Recover(&err)
	b, err := x.open(ctx, part, false)
	if err != nil {
		return err
	}
	defer b.free()
	rows, of, err := b.rows(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	var values [2][][]byte
	for k, name := range []string{spans.SpanID, spans.ParentID} {
		values[k] = make([][]byte, len(rows))
		i := b.Column(name, column.Bytes)
		if i < 0 {
			continue
		}
		c, err := b.take(ctx, i, rowset.FromRows(rows))
		if err != nil {
			return err
		}
		for row, v := range c.Each() {
			values[k][row] = c.Values.Bytes(v)
		}
	}
	for k, row := range rows {
		f(row, part.ids[of[k]], values[0][k], values[1][k])
	}
	return nil
}
