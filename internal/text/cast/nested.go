package cast

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// structs converts field by field. Fields that the array lacks become null.
func structs(mem memory.Allocator, a *array.Struct, to *arrow.StructType) (arrow.Array, error) {
	from := a.DataType().(*arrow.StructType)
	children := make([]arrow.ArrayData, 0, to.NumFields())
	for _, f := range to.Fields() {
		child, err := field(mem, a, from, f)
		if err != nil {
			for _, c := range children {
				c.Release()
			}
			return nil, under("."+f.Name, err, func(i int) int { return i })
		}
		child.Data().Retain()
		children = append(children, child.Data())
		child.Release()
	}
	return arrowutil.Make(to, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a)}, children, arrowutil.NullN(a)), nil
}

// field is the converted field of a struct array. Values under a null have no meaning.
func field(mem memory.Allocator, a *array.Struct, from *arrow.StructType, f arrow.Field) (arrow.Array, error) {
	i, ok := from.FieldIdx(f.Name)
	if !ok {
		return arrowutil.Nulls(mem, f.Type, a.Len()), nil
	}
	child := a.Field(i)
	if arrowutil.NullN(a) == 0 || arrow.TypeEqual(child.DataType(), f.Type) {
		return Array(mem, child, f.Type)
	}
	masked, err := arrowutil.Mask(mem, child, arrowutil.Validity(a))
	if err != nil {
		return nil, err
	}
	defer masked.Release()
	return Array(mem, masked, f.Type)
}

// lists converts the items.
func lists(mem memory.Allocator, a arrow.Array, to arrow.ListLikeType) (arrow.Array, error) {
	return arrowutil.Relist(mem, a, to, func(items arrow.Array, row func(int) int) (arrow.Array, error) {
		child, err := Array(mem, items, to.Elem())
		return child, under("[]", err, row)
	})
}

// under adds a step to the front of the path of a Misfit, and finds the row of the value around it.
func under(step string, err error, row func(int) int) error {
	var m *Misfit
	if errors.As(err, &m) {
		m.Path, m.Row = step+m.Path, row(m.Row)
	}
	return err
}
