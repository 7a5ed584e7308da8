package read

import (
	"context"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
)

// A builder makes arrays of the elements of one read. What it makes is its own until release; what was made of that stays.
type builder struct {
	ctx   context.Context
	mem   memory.Allocator
	limit int64 // bytes of an array
	in    input
	made  []interface{ Release() }
}

func (b *builder) release() {
	for _, m := range b.made {
		m.Release()
	}
}

// maxArrayBytes bounds arrays for which the engine names no limit.
const maxArrayBytes = 1 << 33

// openField is a field in a cluster, with its columns open.
type openField struct {
	*fields.Field
	columns  []*clusterColumn // of the representation that the cluster has
	children []*openField
}

// openField opens the columns of a field in a cluster. entries is how many values the
// field has, or -1 if that depends on values of fields around it.
func (t *Table) openField(c *envelope.Cluster, f *fields.Field, entries int64) (*openField, error) {
	out := &openField{Field: f}
	if entries > 0 && f.N > math.MaxInt64/entries {
		return nil, fault.Limitf("%d arrays of %d items", entries, f.N)
	}
	items := max(entries*f.N, -1) // of arrays
	if len(f.Columns) > 0 {
		ids := f.Columns[0]
		live := 0
		for _, r := range f.Columns {
			if c.Has(r[0]) {
				ids = r
				live++
			}
		}
		if live > 1 {
			return nil, fault.Corruptf("%d representations at once", live)
		}
		if live == 0 && int64(ids[0]) < int64(len(c.Columns)) {
			return nil, fault.Corruptf("no representation: column %d is suppressed", ids[0])
		}
		for i, id := range ids {
			kind, n := column.KindOffset64, entries
			switch f.Layout {
			case fields.Value:
				kind = f.Kind
			case fields.FixedBytes:
				kind, n = column.KindByte, items
			}
			if i > 0 { // characters, bytes
				kind, n = t.schema.Columns[id].Type.Native(), -1
			}
			col, err := t.openColumn(c, id, kind, n)
			if err != nil {
				return nil, err
			}
			out.columns = append(out.columns, col)
		}
	}
	n := int64(-1)
	switch f.Layout {
	case fields.FixedList:
		n = items
	case fields.Struct:
		n = entries
	}
	out.children = make([]*openField, len(f.Children))
	for i, kid := range f.Children {
		if kid.Layout == fields.Tag {
			out.children[i] = &openField{Field: kid}
			continue
		}
		var err error
		if out.children[i], err = t.openField(c, kid, n); err != nil {
			return nil, fault.In(err, fmt.Sprintf("field %q", kid.Arrow.Name), -1)
		}
	}
	return out, nil
}

// data gives the elements of runs of the field as an array of its physical type.
func (b *builder) data(f *openField, rs runs) (*array.Data, error) {
	n := rs.len()
	if n > math.MaxInt32 {
		return nil, fault.ErrBatchTooLarge
	}
	switch f.Layout {
	case fields.Value:
		return b.values(f, rs, n, sizeOf(f.Kind, n))
	case fields.FixedBytes:
		return b.values(f, rs.times(f.N), n, n*f.N) // both factors fit 32 bits
	case fields.Cardinality:
		return b.cardinalities(f, rs, n)
	case fields.Text, fields.Bytes:
		return b.bytes(f, rs, n)
	case fields.List, fields.Map:
		return b.list(f, rs, n)
	case fields.Optional:
		return b.optional(f, rs, n)
	case fields.Struct:
		return b.structs(f, n, func(kid *openField) (*array.Data, error) { return b.data(kid, rs) })
	case fields.FixedList:
		return b.fixedLists(f, rs, n)
	case fields.Variant:
		return b.variant(f, rs, n)
	}
	return nil, fault.Unsupportedf("layout %d", f.Layout)
}

// buffer gives memory for n bytes of arbitrary content.
func (b *builder) buffer(n int64) (*memory.Buffer, error) {
	if n < 0 || n > b.limit {
		return nil, fault.ErrBatchTooLarge
	}
	buf := arrowutil.NewBuffer(b.mem, int(n))
	b.made = append(b.made, buf)
	return buf, nil
}

// zeros gives a bitmap of n zeros.
func (b *builder) zeros(n int64) (*memory.Buffer, error) {
	buf, err := b.buffer((n + 7) / 8)
	if err == nil {
		clear(buf.Bytes())
	}
	return buf, err
}

func (b *builder) newData(dt arrow.DataType, n int64, nulls int64, buffers []*memory.Buffer, children ...arrow.ArrayData) *array.Data {
	d := array.NewData(dt, int(n), buffers, children, int(nulls), 0)
	b.made = append(b.made, d)
	return d
}

// within tells whether the columns of a field have the elements of runs, so that no memory is taken for
// elements that an index column makes up.
func (f *openField) within(rs runs) error {
	if len(f.columns) > 0 {
		return f.columns[0].within(rs)
	}
	switch f.Layout {
	case fields.Struct:
		for _, kid := range f.children {
			if err := kid.within(rs); err != nil {
				return err
			}
		}
	case fields.FixedList:
		for _, r := range rs {
			if r.from+r.n > math.MaxInt64/f.N {
				return fault.Corruptf("array %d is asked for, of %d items each", r.from+r.n-1, f.N)
			}
		}
		return f.children[0].within(rs.times(f.N))
	}
	return nil
}

// values gives n values of so many bytes in all, of the elements of runs.
func (b *builder) values(f *openField, rs runs, n, size int64) (*array.Data, error) {
	if err := f.columns[0].within(rs); err != nil {
		return nil, err
	}
	buf, err := b.buffer(size)
	if err != nil {
		return nil, err
	}
	if err := f.columns[0].values(b.ctx, buf.Bytes(), rs, b.in); err != nil {
		return nil, err
	}
	return b.newData(f.Physical, n, 0, []*memory.Buffer{nil, buf}), nil
}

func sizeOf(k column.Kind, n int64) int64 {
	if k == column.KindBool {
		return (n + 7) / 8
	}
	return n * int64(k.Size(1))
}

// collections are where the items of collections lie.
type collections struct {
	ends  []int64 // in the result, of each collection
	items runs    // in the column of the items
}

// collections reads an index column for runs. items is the number of items that the
// cluster has, or -1 if nothing tells.
func (b *builder) collections(c *clusterColumn, rs runs) (out collections, err error) {
	n := rs.len()
	if n > b.limit/8 {
		return out, fault.ErrBatchTooLarge
	}
	// A run begins where the collection before it ends. If that is not known, it is read, too.
	wide, begins := make(runs, 0, len(rs)), make([]int64, len(rs))
	for i, r := range rs {
		if !r.absent() {
			var known bool
			if begins[i], known = c.before(r.from); !known {
				r = run{r.from - 1, r.n + 1}
			}
		}
		wide = append(wide, r)
	}
	ends := make([]int64, wide.len())
	if err := c.values(b.ctx, arrowutil.Bytes(ends), wide, b.in); err != nil {
		return out, err
	}
	total, at, to := int64(0), 0, 0
	for i, r := range rs {
		if r.absent() {
			for range r.n {
				ends[to] = total
				to++
			}
			at += int(r.n)
			continue
		}
		begin := begins[i]
		if wide[i].n > r.n {
			begin = ends[at]
			at++
		}
		last := begin
		for k := range r.n {
			end := ends[at]
			if end < last {
				return out, fault.In(fault.Corruptf("collection %d ends at item %d, the one before it at %d", r.from+k, end, last), c.name(), -1)
			}
			ends[to] = total + (end - begin)
			last = end
			at, to = at+1, to+1
		}
		if begin < 0 {
			return out, fault.In(fault.Corruptf("collection %d ends at item %d", r.from-1, begin), c.name(), -1)
		}
		total += last - begin
		out.items = out.items.add(begin, last-begin)
	}
	out.ends = ends[:to]
	return out, nil
}

// offsets is the offset buffer of an array of a type, from the ends of its values.
func (b *builder) offsets(dt arrow.DataType, ends []int64) (*memory.Buffer, error) {
	if kinds.LayoutOf(dt).Width == 8 {
		return offsets[int64](b, ends, math.MaxInt64)
	}
	return offsets[int32](b, ends, math.MaxInt32)
}

func offsets[T int32 | int64](b *builder, ends []int64, most int64) (*memory.Buffer, error) {
	if n := len(ends); n > 0 && ends[n-1] > most {
		return nil, fault.ErrBatchTooLarge
	}
	width := int64(len(arrowutil.Bytes([]T{0})))
	buf, err := b.buffer(width * int64(len(ends)+1))
	if err != nil {
		return nil, err
	}
	out := arrowutil.As[T](buf.Bytes())
	out[0] = 0
	for i, end := range ends {
		out[i+1] = T(end)
	}
	return buf, nil
}

func (b *builder) cardinalities(f *openField, rs runs, n int64) (*array.Data, error) {
	c, err := b.collections(f.columns[0], rs)
	if err != nil {
		return nil, err
	}
	buf, err := b.buffer(sizeOf(f.Kind, n))
	if err != nil {
		return nil, err
	}
	last := int64(0)
	for i, end := range c.ends {
		count := end - last
		last = end
		if f.Kind == column.KindUint64 {
			arrowutil.As[uint64](buf.Bytes())[i] = uint64(count)
			continue
		}
		if count > math.MaxUint32 {
			return nil, fault.Corruptf("collection of %d items, whose size is to be a uint32", count)
		}
		arrowutil.As[uint32](buf.Bytes())[i] = uint32(count)
	}
	return b.newData(f.Physical, n, 0, []*memory.Buffer{nil, buf}), nil
}

func (b *builder) bytes(f *openField, rs runs, n int64) (*array.Data, error) {
	c, err := b.collections(f.columns[0], rs)
	if err != nil {
		return nil, err
	}
	if err := f.columns[1].within(c.items); err != nil {
		return nil, err
	}
	if f.Plain.ID() != f.Physical.ID() && c.items.len() > math.MaxInt32 {
		return nil, fault.ErrBatchTooLarge // places in views have 32 bits
	}
	offsets, err := b.offsets(f.Physical, c.ends)
	if err != nil {
		return nil, err
	}
	content, err := b.buffer(c.items.len())
	if err != nil {
		return nil, err
	}
	if err := f.columns[1].values(b.ctx, content.Bytes(), c.items, b.in); err != nil {
		return nil, err
	}
	if id := f.Physical.ID(); id == arrow.STRING || id == arrow.LARGE_STRING {
		if err := checkText(content.Bytes(), c.ends); err != nil {
			return nil, err
		}
	}
	return b.newData(f.Physical, n, 0, []*memory.Buffer{nil, offsets, content}), nil
}

// checkText tells whether all values are UTF-8. C++ strings may hold any bytes.
func checkText(b []byte, ends []int64) error {
	valid := utf8.Valid(b)
	from := int64(0)
	for i, end := range ends {
		if from < int64(len(b)) && from < end && !utf8.RuneStart(b[from]) || !valid && !utf8.Valid(b[from:end]) {
			return fault.Unsupportedf("value %d is no UTF-8: read strings as binary", i)
		}
		from = end
	}
	return nil
}

func (b *builder) list(f *openField, rs runs, n int64) (*array.Data, error) {
	c, err := b.collections(f.columns[0], rs)
	if err != nil {
		return nil, err
	}
	if err := f.children[0].within(c.items); err != nil {
		return nil, err
	}
	offsets, err := b.offsets(f.Physical, c.ends)
	if err != nil {
		return nil, err
	}
	items, err := b.data(f.children[0], c.items)
	if err != nil {
		return nil, err
	}
	if m, ok := f.Physical.(*arrow.MapType); ok { // its entries have the names of Arrow
		items = b.newData(m.Elem(), int64(items.Len()), 0, items.Buffers(), items.Children()...)
	}
	return b.newData(f.Physical, n, 0, []*memory.Buffer{nil, offsets}, items), nil
}

// optional reads the items that are there, and leaves the others absent.
func (b *builder) optional(f *openField, rs runs, n int64) (*array.Data, error) {
	c, err := b.collections(f.columns[0], rs)
	if err != nil {
		return nil, err
	}
	valid, err := b.zeros(n)
	if err != nil {
		return nil, err
	}
	next := itemsOf(c.items)
	items, last, present := make(runs, 0, 16), int64(0), int64(0)
	for i, end := range c.ends {
		switch end - last {
		case 0:
			items = items.add(absent, 1)
		case 1:
			items = items.add(next(), 1)
			bitmap.SetRange(valid.Bytes(), i, 1)
			present++
		default:
			return nil, fault.Corruptf("optional value %d of %d items", i, end-last)
		}
		last = end
	}
	return b.masked(f.children[0], items, f.Physical, valid, n, n-present)
}

// masked reads a field, and makes it null where valid has no bit.
func (b *builder) masked(f *openField, rs runs, dt arrow.DataType, valid *memory.Buffer, n, nulls int64) (*array.Data, error) {
	items, err := b.data(f, rs)
	if err != nil {
		return nil, err
	}
	if nulls == 0 {
		valid = nil
	}
	return b.newData(dt, n, nulls, append([]*memory.Buffer{valid}, items.Buffers()[1:]...), items.Children()...), nil
}

// itemsOf gives the items of runs one after the other.
func itemsOf(rs runs) func() int64 {
	i, k := 0, int64(0)
	return func() int64 {
		for k == rs[i].n {
			i, k = i+1, 0
		}
		k++
		return rs[i].from + k - 1
	}
}

// structs gives structs of the children of a field as child gives them.
func (b *builder) structs(f *openField, n int64, child func(kid *openField) (*array.Data, error)) (*array.Data, error) {
	children := make([]arrow.ArrayData, len(f.children))
	for i, kid := range f.children {
		d, err := child(kid)
		if err != nil {
			return nil, fault.In(err, fmt.Sprintf("field %q", kid.Arrow.Name), -1)
		}
		children[i] = d
	}
	return b.newData(f.Physical, n, 0, []*memory.Buffer{nil}, children...), nil
}

func (b *builder) fixedLists(f *openField, rs runs, n int64) (*array.Data, error) {
	if n > math.MaxInt32/f.N {
		return nil, fault.ErrBatchTooLarge
	}
	items, err := b.data(f.children[0], rs.times(f.N))
	if err != nil {
		return nil, err
	}
	return b.newData(f.Physical, n, 0, []*memory.Buffer{nil}, items), nil
}

// switches reads the column of a variant, and checks its tags.
func (b *builder) switches(f *openField, rs runs) (switches, error) {
	if n := rs.len(); n > b.limit/5 {
		return switches{}, fault.ErrBatchTooLarge
	}
	s, err := f.columns[0].switches(b.ctx, rs, b.in)
	if err != nil {
		return s, err
	}
	for i, tag := range s.tags {
		if int64(tag) > f.N || tag < 0 {
			return s, fault.Corruptf("value %d is alternative %d of a variant, of %d", i, tag, f.N)
		}
	}
	return s, nil
}

// variant is a struct of a tag and alternatives.
func (b *builder) variant(f *openField, rs runs, n int64) (*array.Data, error) {
	s, err := b.switches(f, rs)
	if err != nil {
		return nil, err
	}
	return b.structs(f, n, func(kid *openField) (*array.Data, error) { return b.alternative(kid, s, n) })
}

// alternative is a child of a struct that stands for variants: the tags, or the values of one alternative.
func (b *builder) alternative(kid *openField, s switches, n int64) (*array.Data, error) {
	if kid.Layout == fields.Tag && kid.Physical.ID() == arrow.NULL {
		return b.newData(kid.Physical, n, n, []*memory.Buffer{nil}), nil
	}
	if kid.Layout == fields.Tag {
		buf, err := b.buffer(n)
		if err != nil {
			return nil, err
		}
		copy(arrowutil.As[int8](buf.Bytes()), s.tags)
		return b.newData(kid.Physical, n, 0, []*memory.Buffer{nil, buf}), nil
	}
	var items runs
	for i, tag := range s.tags {
		if int(tag) == kid.Tag {
			items = items.add(int64(s.places[i]), 1)
		} else {
			items = items.add(absent, 1)
		}
	}
	if kid.Layout == fields.Optional {
		return b.data(kid, items)
	}
	valid, err := b.zeros(n)
	if err != nil {
		return nil, err
	}
	present := int64(0)
	for i, tag := range s.tags {
		if int(tag) == kid.Tag {
			bitmap.SetRange(valid.Bytes(), i, 1)
			present++
		}
	}
	return b.masked(kid, items, kid.Physical, valid, n, n-present)
}
