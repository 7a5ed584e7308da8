package structs

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// structAppender collects structs field by field.
type structAppender struct {
	n    *node
	kids []appender
}

func newStructAppender(n *node) *structAppender {
	a := &structAppender{n: n}
	for _, kid := range n.kids {
		a.kids = append(a.kids, newAppender(kid))
	}
	return a
}

func (a *structAppender) bind(v reflect.Value) {
	for i, kid := range a.kids {
		kid.bind(fieldOf(v, a.n.kids[i].index))
	}
}

// fieldOf is a field of a struct, through embedded ones.
func fieldOf(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		v = v.Field(i)
	}
	return v
}

func (a *structAppender) unbind() {
	for _, kid := range a.kids {
		kid.unbind()
	}
}

func (a *structAppender) append(from, to int) error {
	for _, kid := range a.kids {
		if err := kid.append(from, to); err != nil {
			return err
		}
	}
	return nil
}

func (a *structAppender) skip(n int) {
	for _, kid := range a.kids {
		kid.skip(n)
	}
}

func (a *structAppender) array(n int) arrow.Array {
	return nest(a.n.dt, n, nil, nil, a.columns(n)...)
}

func (a *structAppender) columns(n int) []arrow.Array {
	columns := make([]arrow.Array, len(a.kids))
	for i, kid := range a.kids {
		columns[i] = kid.array(n)
	}
	return columns
}

func (a *structAppender) reset() {
	for _, kid := range a.kids {
		kid.reset()
	}
}

func (a *structAppender) bytes() (n int) {
	for _, kid := range a.kids {
		n += kid.bytes()
	}
	return n
}

// nest is an array of n values that are made of kids, whose references it takes.
func nest(dt arrow.DataType, n int, valid *validity, offsets []int32, kids ...arrow.Array) arrow.Array {
	buffers, nulls := []*memory.Buffer{nil}, 0
	if valid != nil {
		buffers[0], nulls = valid.buffer(), -1
	}
	if offsets != nil {
		buffers = append(buffers, memory.NewBufferBytes(arrowutil.Bytes(offsets)))
	}
	data := make([]arrow.ArrayData, len(kids))
	for i, kid := range kids {
		data[i] = kid.Data()
	}
	return arrowutil.Make(dt, n, buffers, data, nulls)
}

// optionalAppender collects what pointers to structs and arrays point to.
type optionalAppender struct {
	variables
	n     *node
	child appender
	valid validity
}

func (a *optionalAppender) append(from, to int) error {
	a.child.unbind()
	defer a.child.unbind()
	bound, rows := 0, make([]int, 0, to-from) // rows of the values that are not yet appended
	flush := func() error {
		err := a.child.append(bound-len(rows), bound)
		if e := (*RowError)(nil); errors.As(err, &e) {
			return &RowError{rows[e.Row-(bound-len(rows))], e.Field, e.Err}
		}
		rows = rows[:0]
		return err
	}
	for i := from; i < to; i++ {
		p := a.at[i]
		a.valid.add(!p.IsNil())
		if !p.IsNil() {
			a.child.bind(p.Elem())
			bound, rows = bound+1, append(rows, i)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		a.child.skip(1)
	}
	return flush()
}

func (a *optionalAppender) skip(n int) {
	a.child.skip(n)
	for range n {
		a.valid.add(false)
	}
}

func (a *optionalAppender) array(n int) arrow.Array {
	plain := a.child.array(n)
	defer plain.Release()
	buffers := slices.Clone(plain.Data().Buffers())
	buffers[0] = a.valid.buffer()
	for _, b := range buffers[1:] {
		b.Retain()
	}
	kids := slices.Clone(plain.Data().Children())
	for _, kid := range kids {
		kid.Retain()
	}
	return arrowutil.Make(a.n.dt, n, buffers, kids, -1)
}

func (a *optionalAppender) reset()     { a.child.reset(); a.valid.reset() }
func (a *optionalAppender) bytes() int { return a.child.bytes() + len(a.valid.bits) }

// itemErr turns an error of an item into one of its row. ends has the number of items up to the end of each row.
func itemErr(err error, from int, ends []int) error {
	if e := (*RowError)(nil); errors.As(err, &e) {
		return &RowError{from + sort.SearchInts(ends, e.Row+1), e.Field, e.Err}
	}
	return err
}

// listAppender collects slices.
type listAppender struct {
	variables
	n       *node
	child   appender
	offsets []int32
	valid   validity
	ends    []int
}

func (a *listAppender) append(from, to int) error {
	a.child.unbind()
	defer a.child.unbind()
	a.ends = a.ends[:0]
	items, before := 0, int(a.offsets[len(a.offsets)-1])
	for _, v := range a.at[from:to] {
		n := v.Len()
		if n > maxOffset-before-items {
			return a.n.full()
		}
		bindItems(a.child, v)
		items += n
		a.ends = append(a.ends, items)
		a.offsets = append(a.offsets, int32(before+items))
		a.valid.add(!v.IsNil())
	}
	return itemErr(a.child.append(0, items), from, a.ends)
}

func (a *listAppender) skip(n int) {
	for range n {
		a.offsets = append(a.offsets, a.offsets[len(a.offsets)-1])
		a.valid.add(false)
	}
}

func (a *listAppender) array(n int) arrow.Array {
	return nest(a.n.dt, n, &a.valid, a.offsets[:n+1], a.child.array(int(a.offsets[n])))
}

func (a *listAppender) reset() {
	a.offsets = a.offsets[:1]
	a.child.reset()
	a.valid.reset()
}

func (a *listAppender) bytes() int { return a.child.bytes() + 4*len(a.offsets) }

// tupleAppender collects arrays of a fixed length.
type tupleAppender struct {
	n     *node
	child appender
}

func (a *tupleAppender) bind(v reflect.Value) {
	for k := range v.Len() {
		a.child.bind(v.Index(k))
	}
}

func (a *tupleAppender) unbind() { a.child.unbind() }

func (a *tupleAppender) append(from, to int) error {
	size := a.n.goType.Len()
	err := a.child.append(from*size, to*size)
	if e := (*RowError)(nil); errors.As(err, &e) {
		return &RowError{e.Row / size, e.Field, e.Err}
	}
	return err
}

func (a *tupleAppender) skip(n int) { a.child.skip(n * a.n.goType.Len()) }

func (a *tupleAppender) array(n int) arrow.Array {
	return nest(a.n.dt, n, nil, nil, a.child.array(n*a.n.goType.Len()))
}

func (a *tupleAppender) reset()     { a.child.reset() }
func (a *tupleAppender) bytes() int { return a.child.bytes() }

// mapAppender collects maps, in the order of their keys.
type mapAppender struct {
	variables
	n       *node
	keys    appender
	values  appender
	offsets []int32
	valid   validity
	ends    []int

	// Copies of entries, because those in a map have no address, and their numbers by map and key.
	keyCopies, valueCopies reflect.Value
	order                  []int
}

func newMapAppender(n *node) *mapAppender {
	return &mapAppender{n: n, keys: newAppender(n.kids[0]), values: newAppender(n.kids[1]), offsets: make([]int32, 1)}
}

func (a *mapAppender) append(from, to int) error {
	a.ends = a.ends[:0]
	entries, before := 0, int(a.offsets[len(a.offsets)-1])
	for _, v := range a.at[from:to] {
		if entries += v.Len(); entries > maxOffset-before {
			return a.n.full()
		}
		a.ends = append(a.ends, entries)
		a.offsets = append(a.offsets, int32(before+entries))
		a.valid.add(!v.IsNil())
	}
	if err := a.bindEntries(entries, from, to); err != nil {
		return err
	}
	err := cmp.Or(a.keys.append(0, entries), a.values.append(0, entries))
	a.keyCopies.Clear() // so that they keep nothing in memory
	a.valueCopies.Clear()
	return itemErr(err, from, a.ends)
}

// bindEntries binds copies of the n entries of some maps.
func (a *mapAppender) bindEntries(n, from, to int) error {
	if !a.keyCopies.IsValid() || a.keyCopies.Len() < n {
		a.keyCopies = reflect.MakeSlice(reflect.SliceOf(a.n.goType.Key()), n, n)
		a.valueCopies = reflect.MakeSlice(reflect.SliceOf(a.n.goType.Elem()), n, n)
	}
	keys, values := a.keyCopies, a.valueCopies
	a.keys.unbind()
	a.values.unbind()
	a.order = a.order[:0]
	entry := new(reflect.MapIter)
	for i, m := range a.at[from:to] {
		begin := len(a.order)
		for entry.Reset(m); len(a.order) < a.ends[i] && entry.Next(); {
			k := len(a.order)
			keys.Index(k).SetIterKey(entry)
			values.Index(k).SetIterValue(entry)
			a.order = append(a.order, k)
		}
		if len(a.order) < a.ends[i] {
			return errors.New("a map changes while it is written")
		}
		slices.SortFunc(a.order[begin:], func(x, y int) int { return compareKeys(keys.Index(x), keys.Index(y)) })
	}
	for _, at := range a.order {
		a.keys.bind(keys.Index(at))
		a.values.bind(values.Index(at))
	}
	return nil
}

func compareKeys(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	}
	return cmp.Compare(a.Uint(), b.Uint())
}

func (a *mapAppender) skip(n int) {
	for range n {
		a.offsets = append(a.offsets, a.offsets[len(a.offsets)-1])
		a.valid.add(false)
	}
}

func (a *mapAppender) array(n int) arrow.Array {
	items := int(a.offsets[n])
	entries := nest(a.n.dt.(*arrow.MapType).Elem(), items, nil, nil, a.keys.array(items), a.values.array(items))
	return nest(a.n.dt, n, &a.valid, a.offsets[:n+1], entries)
}

func (a *mapAppender) reset() {
	a.offsets = a.offsets[:1]
	a.keys.reset()
	a.values.reset()
	a.valid.reset()
}

func (a *mapAppender) bytes() int { return a.keys.bytes() + a.values.bytes() + 4*len(a.offsets) }
