package cast

import (
	"errors"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// structs converts field by field. Fields that the array lacks become null.
func structs(mem memory.Allocator, a *array.Struct, to *arrow.StructType) (arrow.Array, error) {
	from := a.DataType().(*arrow.StructType)
	children := make([]arrow.ArrayData, 0, to.NumFields())
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for _, f := range to.Fields() {
		child, err := field(mem, a, from, f)
		if err != nil {
			return nil, under("."+f.Name, err, func(i int) int { return i })
		}
		child.Data().Retain()
		children = append(children, child.Data())
		child.Release()
	}
	d := array.NewData(to, a.Len(), []*memory.Buffer{validity(mem, a)}, children, arrowutil.NullN(a), 0)
	defer d.Release()
	releaseBuffers(d)
	return array.MakeFromData(d), nil
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
func lists(mem memory.Allocator, a array.VarLenListLike, to arrow.ListLikeType) (arrow.Array, error) {
	if arrowutil.NullRanges(a) {
		plain, err := arrowutil.DropNullRanges(mem, a)
		if err != nil {
			return nil, err
		}
		defer plain.Release()
		a = plain.(array.VarLenListLike)
	}
	n := a.Len()
	first, last := int64(0), int64(0)
	if n > 0 {
		first, _ = a.ValueOffsets(0)
		_, last = a.ValueOffsets(n - 1)
	}
	items := array.NewSlice(a.ListValues(), first, last)
	defer items.Release()
	child, err := Array(mem, items, to.Elem())
	if err != nil {
		return nil, under("[]", err, func(k int) int {
			return sort.Search(n, func(i int) bool { _, end := a.ValueOffsets(i); return end > first+int64(k) })
		})
	}
	defer child.Release()
	var offsets *memory.Buffer
	if to.ID() == arrow.LARGE_LIST {
		offsets = listOffsets[int64](mem, a, first)
	} else {
		if last-first > 1<<31-1 {
			return nil, &arrowutil.TooLongError{Type: to}
		}
		offsets = listOffsets[int32](mem, a, first)
	}
	d := array.NewData(to, n, []*memory.Buffer{validity(mem, a), offsets}, []arrow.ArrayData{child.Data()}, arrowutil.NullN(a), 0)
	defer d.Release()
	releaseBuffers(d)
	return array.MakeFromData(d), nil
}

func listOffsets[O int32 | int64](mem memory.Allocator, a array.VarLenListLike, first int64) *memory.Buffer {
	b := arrowutil.NewZeroBuffer(mem, sizeOf[O]()*(a.Len()+1))
	off := arrowutil.As[O](b.Bytes())
	for i := range a.Len() {
		_, end := a.ValueOffsets(i)
		off[i+1] = O(end - first)
	}
	return b
}

// releaseBuffers gives up the references of the function that made the data.
func releaseBuffers(d *array.Data) {
	for _, b := range d.Buffers() {
		if b != nil {
			b.Release()
		}
	}
}

// validity is a copy of the validity bitmap at offset 0, or nil without nulls.
func validity(mem memory.Allocator, a arrow.Array) *memory.Buffer {
	if arrowutil.NullN(a) == 0 {
		return nil
	}
	b := arrowutil.NewZeroBuffer(mem, (a.Len()+7)/8)
	arrowutil.Validity(a).CopyTo(b.Bytes(), 0)
	return b
}

// under adds a step to the front of the path of a Misfit, and finds the row of the value around it.
func under(step string, err error, row func(int) int) error {
	var m *Misfit
	if errors.As(err, &m) {
		m.Path, m.Row = step+m.Path, row(m.Row)
	}
	return err
}
