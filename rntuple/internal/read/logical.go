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

// union makes a union of the struct of its alternatives.
func union(mem memory.Allocator, s *array.Struct, f *fields.Field) (arrow.Array, error) {
	children := []arrow.Array{array.NewNull(s.Len())}
	defer func() { arrowutil.ReleaseAll(children) }()
	for i, kid := range f.Children[1:] {
		child, err := logical(mem, s.Field(i+1), kid)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	dt := f.Arrow.Type.(arrow.UnionType)
	codes, all := arrowutil.NewBuffer(mem, s.Len()), dt.TypeCodes()
	for i, tag := range s.Field(0).(*array.Uint8).Uint8Values() {
		codes.Bytes()[i] = byte(all[tag])
	}
	return arrowutil.Union(mem, dt, codes, children), nil
}
