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
	if f.IsUnion() {
		return union(mem, a.(*array.Struct), f)
	}
	return arrowutil.Rebuild(mem, a, arrowutil.WithoutView(f.Plain), func(i int, part arrow.Array) (arrow.Array, error) {
		kids := f.Children
		if f.Layout == fields.Map {
			kids = kids[0].Children
		}
		return logical(mem, part, kids[i])
	})
}

// union takes of each alternative the values that are active.
func union(mem memory.Allocator, s *array.Struct, f *fields.Field) (arrow.Array, error) {
	n := s.Len()
	tags := s.Field(0).(*array.Uint8).Uint8Values()
	codes, places := arrowutil.NewBuffer(mem, n), arrowutil.NewBuffer(mem, 4*n)
	defer codes.Release()
	defer places.Release()
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
	children := []arrow.Array{array.NewNull(len(active[0]))}
	defer func() { arrowutil.ReleaseAll(children) }()
	for i, kid := range f.Children[1:] {
		taken, err := arrowutil.Take(mem, s.Field(i+1), active[i+1])
		if err != nil {
			return nil, err
		}
		child, err := logical(mem, taken, kid)
		taken.Release()
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return array.NewDenseUnion(f.Arrow.Type.(*arrow.DenseUnionType), n, children, codes, places, 0), nil
}
