package structs

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

func newNestedReader(n *node, dt arrow.DataType, h *held) (reader, error) {
	switch dt := dt.(type) {
	case *arrow.StructType:
		if n.shape == shapeStruct {
			return newStructReader(n, dt, h)
		}
	case *arrow.MapType:
		if n.shape == shapeMap {
			return newMapReader(n, dt, h)
		}
	case *arrow.FixedSizeListType:
		if n.shape == shapeTuple && int(dt.Len()) == n.goType.Len() {
			child, err := newReader(n.kids[0], dt.Elem(), h)
			return &tupleReader{n: n, held: h, child: child}, err
		} else if n.shape == shapeList {
			return newListReader(n, dt.Elem(), h)
		}
	case arrow.ListLikeType:
		if n.shape == shapeList {
			return newListReader(n, dt.Elem(), h)
		}
	}
	return nil, mismatch(n, dt)
}

// structReader copies structs field by field.
type structReader struct {
	n     *node
	held  *held
	kids  []reader
	index []int // of the field of each kid
	arr   *array.Struct
}

func newStructReader(n *node, dt *arrow.StructType, h *held) (*structReader, error) {
	r := &structReader{n: n, held: h}
	for _, kid := range n.kids {
		at, ok := dt.FieldIdx(kid.name)
		if !ok {
			return nil, fmt.Errorf("field %s: there is no column %q", kid.goName, kid.name)
		}
		child, err := newReader(kid, dt.Field(at).Type, h)
		if err != nil {
			return nil, err
		}
		r.kids, r.index = append(r.kids, child), append(r.index, at)
	}
	return r, nil
}

func (r *structReader) bind(v reflect.Value) {
	for i, kid := range r.kids {
		kid.bind(fieldOf(v, r.n.kids[i].index))
	}
}

func (r *structReader) unbind() {
	for _, kid := range r.kids {
		kid.unbind()
	}
}

func (r *structReader) open(arr arrow.Array) error {
	r.arr = arr.(*array.Struct)
	return r.openFields(r.arr.Field)
}

func (r *structReader) openFields(column func(int) arrow.Array) error {
	for i, kid := range r.kids {
		if err := r.held.open(kid, column(r.index[i])); err != nil {
			return err
		}
	}
	return nil
}

func (r *structReader) read(from, to, at int) error {
	if valid := validOf(r.arr, from, to); valid.Nulls() > 0 {
		return shift(nullError(r.n, valid), from)
	}
	return r.readFields(from, to, at)
}

func (r *structReader) readFields(from, to, at int) error {
	for _, kid := range r.kids {
		if err := kid.read(from, to, at); err != nil {
			return err
		}
	}
	return nil
}

// optionalReader makes pointers to structs and arrays.
type optionalReader struct {
	variables
	n     *node
	child reader
	arr   arrow.Array
}

func (r *optionalReader) open(arr arrow.Array) error {
	r.arr = arr
	return r.child.open(arr)
}

func (r *optionalReader) read(from, to, at int) error {
	valid := validOf(r.arr, from, to)
	fresh := makeItems(r.n.goType, valid.Count())
	bindItems(r.child, fresh)
	defer r.child.unbind()
	k := 0
	for i := from; i < to; {
		run := i
		for ; run < to && valid.At(run-from); run++ {
			r.at[at+run-from].Set(fresh.Index(k + run - i).Addr())
		}
		if err := r.child.read(i, run, k); err != nil {
			return err
		}
		k, i = k+run-i, run
		for ; i < to && !valid.At(i-from); i++ {
			r.at[at+i-from].SetZero()
		}
	}
	return nil
}

func makeItems(t reflect.Type, n int) reflect.Value {
	return reflect.MakeSlice(reflect.SliceOf(t), n, n)
}

// lists are the rows of a list or map, some of which are null.
type lists struct {
	arr interface {
		arrow.Array
		ValueOffsets(i int) (start, end int64)
	}
}

// items are those of row i: none of a null.
func (l *lists) items(i int) (from, to int) {
	if l.arr.IsNull(i) {
		return 0, 0
	}
	start, end := l.arr.ValueOffsets(i)
	return int(start), int(end)
}

// count is the number of items of some rows.
func (l *lists) count(from, to int) (n int) {
	for i := from; i < to; i++ {
		start, end := l.items(i)
		n += end - start
	}
	return n
}

// mostBound is how many items have known places at a time, which take more memory than some items.
const mostBound = 1 << 14

// read reads the items of some rows into a slice, in few pieces where they lie side by side. An error is one of the row.
func (l *lists) read(r reader, items reflect.Value, from, to int) error {
	defer r.unbind()
	place := 0
	for i := from; i < to; {
		first, last := l.items(i)
		begin := i
		for i++; i < to; i++ {
			start, end := l.items(i)
			if start == end {
				continue
			} else if start != last {
				break
			}
			last = end
		}
		for ; first < last; first += mostBound {
			n := min(mostBound, last-first)
			r.unbind()
			bindItems(r, items.Slice(place, place+n))
			if err := r.read(first, first+n, 0); err != nil {
				return l.itemErr(err, begin, i)
			}
			place += n
		}
	}
	return nil
}

func (l *lists) itemErr(err error, from, to int) error {
	e := (*RowError)(nil)
	if !errors.As(err, &e) {
		return err
	}
	for i := from; i < to; i++ {
		if start, end := l.items(i); e.Row >= start && e.Row < end {
			return &RowError{i, e.Field, e.Err}
		}
	}
	return err
}

// listReader makes slices.
type listReader struct {
	variables
	lists
	n     *node
	held  *held
	child reader
}

func newListReader(n *node, item arrow.DataType, h *held) (reader, error) {
	child, err := newReader(n.kids[0], item, h)
	return &listReader{n: n, held: h, child: child}, err
}

func (r *listReader) open(arr arrow.Array) error {
	list := arr.(array.ListLike)
	r.arr = list
	return r.held.open(r.child, list.ListValues())
}

func (r *listReader) read(from, to, at int) error {
	if n := r.count(from, to); n*int(r.n.goType.Elem().Size()) > sharedBytes && to-from > 1 {
		half := (to - from) / 2
		if err := r.read(from, from+half, at); err != nil {
			return err
		}
		return r.read(from+half, to, at+half)
	} else {
		return r.readShared(n, from, to, at)
	}
}

// readShared makes slices of one array, of n items.
func (r *listReader) readShared(n, from, to, at int) error {
	fresh := makeItems(r.n.goType.Elem(), n)
	k := 0
	for i := from; i < to; i++ {
		v := r.at[at+i-from]
		if r.arr.IsNull(i) {
			v.SetZero()
			continue
		}
		start, end := r.items(i)
		items := fresh.Slice3(k, k+end-start, k+end-start)
		if items.Type() != v.Type() {
			items = items.Convert(v.Type())
		}
		v.Set(items)
		k += end - start
	}
	return r.lists.read(r.child, fresh, from, to)
}

// tupleReader copies lists of a fixed length to arrays.
type tupleReader struct {
	n     *node
	held  *held
	child reader
	arr   *array.FixedSizeList
}

func (r *tupleReader) bind(v reflect.Value) {
	for k := range v.Len() {
		r.child.bind(v.Index(k))
	}
}

func (r *tupleReader) unbind() { r.child.unbind() }

func (r *tupleReader) open(arr arrow.Array) error {
	r.arr = arr.(*array.FixedSizeList)
	return r.held.open(r.child, r.arr.ListValues())
}

func (r *tupleReader) read(from, to, at int) error {
	if valid := validOf(r.arr, from, to); valid.Nulls() > 0 {
		return shift(nullError(r.n, valid), from)
	}
	size := r.n.goType.Len()
	first := (from + r.arr.Data().Offset()) * size
	err := r.child.read(first, first+(to-from)*size, at*size)
	if e := (*RowError)(nil); errors.As(err, &e) {
		return &RowError{from + (e.Row-first)/size, e.Field, e.Err}
	}
	return err
}

// mapReader makes maps. Of entries with the same key the last stays.
type mapReader struct {
	variables
	lists
	n            *node
	held         *held
	keys, values reader
}

func newMapReader(n *node, dt *arrow.MapType, h *held) (reader, error) {
	keys, err := newReader(n.kids[0], dt.KeyType(), h)
	if err != nil {
		return nil, err
	}
	values, err := newReader(n.kids[1], dt.ItemType(), h)
	return &mapReader{n: n, held: h, keys: keys, values: values}, err
}

func (r *mapReader) open(arr arrow.Array) error {
	m := arr.(*array.Map)
	r.arr = m
	parts := kinds.Open(arr).Parts
	if err := r.held.open(r.keys, parts[0]); err != nil {
		return err
	}
	return r.held.open(r.values, parts[1])
}

func (r *mapReader) read(from, to, at int) error {
	n := r.count(from, to)
	keys, values := makeItems(r.n.goType.Key(), n), makeItems(r.n.goType.Elem(), n)
	if err := r.lists.read(r.keys, keys, from, to); err != nil {
		return err
	}
	if err := r.lists.read(r.values, values, from, to); err != nil {
		return err
	}
	k := 0
	for i := from; i < to; i++ {
		v := r.at[at+i-from]
		v.SetZero()
		if r.arr.IsNull(i) {
			continue
		}
		start, end := r.items(i)
		m := reflect.MakeMapWithSize(r.n.goType, end-start)
		for range end - start {
			m.SetMapIndex(keys.Index(k), values.Index(k))
			k++
		}
		v.Set(m)
	}
	return nil
}
