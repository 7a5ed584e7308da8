package stripe

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// Readers make arrays of physical types, which have no dictionaries, runs, extension
// types or views at any depth. [Logical] adds these at the end, so that code that
// selects or joins rows meets few types.
//
//	logical   list_view<extension<uuid>>
//	physical  list<fixed_size_binary[16]>

// Physical is the column without dictionaries, runs, extension types and views at any
// depth. ok is false if it has none of them, and is returned as it is.
func Physical(col arrowmap.Column) (physical arrowmap.Column, ok bool) {
	physical = col
	physical.Wraps = nil
	var kids []arrow.DataType
	if len(col.Children) > 0 {
		physical.Children = make([]arrowmap.Column, len(col.Children))
		for i, c := range col.Children {
			kid, differs := Physical(c)
			physical.Children[i] = kid
			kids = append(kids, kid.Plain)
			ok = ok || differs
		}
	}
	if ok {
		physical.Plain = kinds.WithTypes(col.Plain, kids)
	}
	physical.Plain = arrowutil.WithoutView(physical.Plain)
	if !ok && len(col.Wraps) == 0 && physical.Plain.ID() == col.Plain.ID() {
		return col, false
	}
	physical.Arrow.Type = physical.Plain
	return physical, true
}

// Logical makes an array of a column's Arrow type from one of its physical type. The
// caller releases it; arr stays the caller's.
func Logical(mem memory.Allocator, arr arrow.Array, col arrowmap.Column) (arrow.Array, error) {
	if _, ok := Physical(col); !ok {
		arr.Retain()
		return arr, nil
	}
	plain, err := logicalChildren(mem, arr, &col)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return arrowutil.Wrap(mem, plain, col.Arrow.Type)
}

// logicalChildren makes the children of an array logical.
func logicalChildren(mem memory.Allocator, arr arrow.Array, col *arrowmap.Column) (arrow.Array, error) {
	return arrowutil.Rebuild(mem, arr, arrowutil.WithoutView(col.Plain), func(i int, part arrow.Array) (arrow.Array, error) {
		if i < len(col.Children) {
			return Logical(mem, part, col.Children[i])
		}
		part.Retain()
		return part, nil
	})
}
