package structs

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// newNestedReader makes a reader of structs, lists or maps.
func newNestedReader(n *node, dt arrow.DataType, h *held) (reader, error) {
	fixed, isFixed := dt.(*arrow.FixedSizeListType)
	parts := kinds.Fields(dt)
	isList := kinds.Of(dt) == kinds.List && len(parts) == 1
	if kinds.Of(dt) == kinds.Record && n.shape == shapeStruct {
		return newStructReader(n, dt.(*arrow.StructType), h)
	}
	if !(n.shape == shapeMap && kinds.Of(dt) == kinds.List && len(parts) == 2) && !(n.shape == shapeList && isList) &&
		!(n.shape == shapeTuple && isFixed && int(fixed.Len()) == n.goType.Len()) {
		return nil, mismatch(n, dt)
	}
	var children []reader
	for i, kid := range n.kids {
		child, err := newReader(kid, parts[i].Type, h)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	l := lists{n: n, held: h, kids: children}
	switch n.shape {
	case shapeList:
		return &listReader{l}, nil
	case shapeTuple:
		return &tupleReader{l}, nil
	}
	return &mapReader{l}, nil
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

func (r *structReader) read(from int, to span) error {
	if valid := validOf(r.arr, from, to.n); valid.Nulls() > 0 {
		return nullError(r.n, valid)
	}
	return r.readFields(from, to)
}

func (r *structReader) readFields(from int, to span) error {
	for i, kid := range r.kids {
		if err := kid.read(from, to.field(r.n.kids[i].offset)); err != nil {
			return err
		}
	}
	return nil
}

// optionalReader makes pointers to structs and arrays.
type optionalReader struct {
	n     *node
	child reader
	arr   arrow.Array
}

func (r *optionalReader) open(arr arrow.Array) error {
	r.arr = arr
	return r.child.open(arr)
}

func (r *optionalReader) read(from int, to span) error {
	valid := validOf(r.arr, from, to.n)
	fresh := itemsOf(makeItems(r.n.goType, valid.Count()))
	for i, k := 0, 0; i < to.n; {
		if !valid.At(i) {
			*(*unsafe.Pointer)(to.value(i)) = nil
			i++
			continue
		}
		run := 0
		for ; i+run < to.n && valid.At(i+run); run++ {
			*(*unsafe.Pointer)(to.value(i + run)) = fresh.value(k + run)
		}
		if err := r.child.read(from+i, fresh.part(k, k+run)); err != nil {
			return shift(err, i)
		}
		i, k = i+run, k+run
	}
	return nil
}

func makeItems(t reflect.Type, n int) reflect.Value {
	return reflect.MakeSlice(reflect.SliceOf(t), n, n)
}

// itemsOf is the span of a slice.
func itemsOf(items reflect.Value) span {
	return span{items.UnsafePointer(), items.Type().Elem().Size(), items.Len()}
}

// lists are the rows of lists or maps, some of which are null.
type lists struct {
	n    *node
	held *held
	kids []reader // of items, or of keys and values
	arr  arrow.Array
	kinds.View
}

func (l *lists) open(arr arrow.Array) error {
	l.arr, l.View = arr, kinds.Open(arr)
	for i, kid := range l.kids {
		if err := l.held.open(kid, l.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// items are those of row i: none of a null.
func (l *lists) items(i int) (from, to int) {
	if l.arr.IsNull(i) {
		return 0, 0
	}
	start, end := l.Range(i)
	return int(start), int(end)
}

// count is the number of items of some rows.
func (l *lists) count(from, n int) (items int) {
	for i := range n {
		start, end := l.items(from + i)
		items += end - start
	}
	return items
}

// read reads the items of n rows, in few pieces where they lie side by side. An error is one of the row.
func (l *lists) read(r reader, from, n int, items span) error {
	place := 0
	for i := 0; i < n; {
		begin := i
		first, last := l.items(from + i)
		for i++; i < n; i++ {
			start, end := l.items(from + i)
			if start == end {
				continue
			} else if start != last {
				break
			}
			last = end
		}
		if first == last {
			continue
		}
		if err := r.read(first, items.part(place, place+last-first)); err != nil {
			return l.itemErr(err, first, from, begin, i)
		}
		place += last - first
	}
	return nil
}

// itemErr is the error of an item, counted from the first, as one of its row.
func (l *lists) itemErr(err error, first, from, begin, end int) error {
	if e := (*RowError)(nil); errors.As(err, &e) {
		for i := begin; i < end; i++ {
			if start, end := l.items(from + i); first+e.Row >= start && first+e.Row < end {
				return inRow(err, i)
			}
		}
	}
	return err
}

// listReader makes slices.
type listReader struct{ lists }

func (r *listReader) read(from int, to span) error {
	item := r.n.goType.Elem()
	n := r.count(from, to.n)
	if n*int(item.Size()) > sharedBytes && to.n > 1 {
		half := to.n / 2
		if err := r.read(from, to.part(0, half)); err != nil {
			return err
		}
		return shift(r.read(from+half, to.part(half, to.n)), half)
	}
	fresh, k := itemsOf(makeItems(item, n)), 0
	for i := range to.n {
		start, end := r.items(from + i)
		items := slice{fresh.part(k, k+end-start).at, end - start, end - start}
		if k += end - start; r.arr.IsNull(from + i) {
			items.at = nil
		}
		*(*slice)(to.value(i)) = items
	}
	return r.lists.read(r.kids[0], from, to.n, fresh)
}

// tupleReader copies lists of a fixed length to arrays.
type tupleReader struct{ lists }

func (r *tupleReader) read(from int, to span) error {
	if valid := validOf(r.arr, from, to.n); valid.Nulls() > 0 {
		return nullError(r.n, valid)
	}
	for i := range to.n {
		first, _ := r.items(from + i)
		if err := r.kids[0].read(first, span{to.value(i), r.n.goType.Elem().Size(), r.n.goType.Len()}); err != nil {
			return inRow(err, i)
		}
	}
	return nil
}

// mapReader makes maps. Of entries with the same key the last stays.
type mapReader struct{ lists }

func (r *mapReader) read(from int, to span) error {
	n := r.count(from, to.n)
	keys, values := makeItems(r.n.goType.Key(), n), makeItems(r.n.goType.Elem(), n)
	for i, items := range []reflect.Value{keys, values} {
		if err := r.lists.read(r.kids[i], from, to.n, itemsOf(items)); err != nil {
			return err
		}
	}
	k := 0
	for i := range to.n {
		v := reflect.NewAt(r.n.goType, to.value(i)).Elem()
		v.SetZero()
		if r.arr.IsNull(from + i) {
			continue
		}
		start, end := r.items(from + i)
		m := reflect.MakeMapWithSize(r.n.goType, end-start)
		for range end - start {
			m.SetMapIndex(keys.Index(k), values.Index(k))
			k++
		}
		v.Set(m)
	}
	return nil
}
