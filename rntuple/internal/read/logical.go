package read

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
)

// logical makes an array of a field's Arrow type of one of its physical type: with unions, dictionaries, runs,
// extension types and views. The engine joins and takes rows of physical arrays, so this comes last.
func logical(mem memory.Allocator, a arrow.Array, f *fields.Field) (arrow.Array, error) {
	for f.Layout == fields.Optional {
		f = f.Children[0]
	}
	if arrow.TypeEqual(f.Physical, f.Arrow.Type) {
		a.Retain()
		return a, nil
	}
	plain, err := logicalPlain(mem, a, f)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return arrowutil.Wrap(mem, plain, f.Arrow.Type)
}

// logicalPlain makes unions, and the children of arrays logical.
func logicalPlain(mem memory.Allocator, a arrow.Array, f *fields.Field) (arrow.Array, error) {
	d := a.Data()
	if f.IsUnion() {
		return made(union(mem, d, f))
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	defer func() { release(children) }()
	for i, child := range d.Children() {
		var err error
		if children[i], err = logicalData(mem, child, f.Children[i]); err != nil {
			return nil, err
		}
	}
	dt := arrowutil.WithoutView(f.Plain)
	if m, ok := dt.(*arrow.MapType); ok { // its entries have the names of Arrow
		e := children[0]
		children[0] = array.NewData(m.Elem(), e.Len(), e.Buffers(), e.Children(), e.NullN(), e.Offset())
		e.Release()
	}
	return made(array.NewData(dt, d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil)
}

// made is the array of data, which it takes over.
func made(d arrow.ArrayData, err error) (arrow.Array, error) {
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

func logicalData(mem memory.Allocator, d arrow.ArrayData, f *fields.Field) (arrow.ArrayData, error) {
	physical := array.MakeFromData(d)
	defer physical.Release()
	a, err := logical(mem, physical, f)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	a.Data().Retain()
	return a.Data(), nil
}

// union takes of each alternative the values that are active.
func union(mem memory.Allocator, d arrow.ArrayData, f *fields.Field) (arrow.ArrayData, error) {
	s := array.NewStructData(d)
	defer s.Release()
	n := s.Len()
	tags := s.Field(0).(*array.Uint8).Uint8Values()
	codes, places := arrowutil.NewBuffer(mem, n), arrowutil.NewBuffer(mem, 4*n)
	at := arrowutil.As[int32](places.Bytes())
	active := make([][]int64, len(f.Children))
	for i, tag := range tags {
		at[i] = int32(len(active[tag]))
		active[tag] = append(active[tag], int64(i))
	}
	copy(codes.Bytes(), tags)
	if own := f.Codes(); own != nil {
		for i, tag := range tags {
			codes.Bytes()[i] = byte(own[tag])
		}
	}
	children := []arrow.ArrayData{array.NewData(arrow.Null, len(active[0]), []*memory.Buffer{nil}, nil, len(active[0]), 0)}
	fail := func(err error) (arrow.ArrayData, error) {
		release(children)
		codes.Release()
		places.Release()
		return nil, err
	}
	for i, kid := range f.Children[1:] {
		taken, err := arrowutil.Take(mem, s.Field(i+1), active[i+1])
		if err != nil {
			return fail(err)
		}
		child, err := logicalData(mem, taken.Data(), kid)
		taken.Release()
		if err != nil {
			return fail(err)
		}
		children = append(children, child)
	}
	return newData(f.Arrow.Type, int64(n), 0, []*memory.Buffer{nil, codes, places}, children...), nil
}
