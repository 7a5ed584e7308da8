package cast

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
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

// maps converts keys and values.
func maps(mem memory.Allocator, a arrow.Array, to *arrow.MapType) (arrow.Array, error) {
	entries := kinds.Relabel(a.Data(), arrow.ListOf(a.DataType().(*arrow.MapType).Elem()))
	defer entries.Release()
	list := array.MakeFromData(entries)
	defer list.Release()
	return arrowutil.Relist(mem, list, to, func(items arrow.Array, row func(int) int) (arrow.Array, error) {
		children := make([]arrow.Array, 2)
		defer arrowutil.ReleaseAll(children)
		for i, f := range []arrow.Field{to.KeyField(), to.ItemField()} {
			var err error
			if children[i], err = Array(mem, items.(*array.Struct).Field(i), f.Type); err != nil {
				return nil, under([]string{".key", ".value"}[i], err, row)
			}
			if err := arrowutil.CheckNulls(f, children[i]); err != nil {
				return nil, err
			}
		}
		return array.NewStructArrayWithFields(children, to.Elem().(*arrow.StructType).Fields())
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
