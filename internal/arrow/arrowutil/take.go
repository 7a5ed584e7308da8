package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Take makes an array of arr's values at the given indices; -1 makes a null.
// Indices must be below arr.Len(). The result has arr's type; the caller
// releases it.
func Take(mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	d := arr.Data()
	n := len(indices)
	switch dt := d.DataType().(type) {
	case *arrow.NullType:
		return array.NewNull(n), nil
	case *arrow.BooleanType:
		valid, nulls := takeValidity(mem, arr, indices)
		return Make(dt, n, []*memory.Buffer{valid, takeBits(mem, d, indices)}, nil, nulls), nil
	case *arrow.StringType, *arrow.BinaryType:
		return takeBytes[int32](mem, arr, indices)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return takeBytes[int64](mem, arr, indices)
	case *arrow.ListType, *arrow.MapType:
		return takeList[int32](mem, arr, indices)
	case *arrow.LargeListType:
		return takeList[int64](mem, arr, indices)
	case *arrow.StructType:
		return takeStruct(mem, arr.(*array.Struct), indices)
	case *arrow.FixedSizeListType:
		return takeFixedSizeList(mem, arr.(*array.FixedSizeList), indices)
	case arrow.ExtensionType:
		s, err := Take(mem, arr.(array.ExtensionArray).Storage(), indices)
		if err != nil {
			return nil, err
		}
		defer s.Release()
		return array.NewExtensionArrayWithStorage(dt, s), nil
	case *arrow.DictionaryType, *arrow.RunEndEncodedType, *arrow.StringViewType, *arrow.BinaryViewType, *arrow.ListViewType, *arrow.LargeListViewType:
		return takeBySlices(mem, arr, indices)
	case arrow.FixedWidthDataType:
		valid, nulls := takeValidity(mem, arr, indices)
		return Make(dt, n, []*memory.Buffer{valid, takeFixed(mem, d, dt.Bytes(), indices)}, nil, nulls), nil
	}
	return takeBySlices(mem, arr, indices)
}

// takeValidity is the taken bitmap, nil without nulls, and the number of nulls.
func takeValidity(mem memory.Allocator, arr arrow.Array, indices []int64) (*memory.Buffer, int) {
	from := Validity(arr)
	b := NewZeroBuffer(mem, (len(indices)+7)/8)
	bits, nulls := b.Bytes(), 0
	for i, k := range indices {
		if k >= 0 && from.At(int(k)) {
			bits[i>>3] |= 1 << (i & 7)
		} else {
			nulls++
		}
	}
	if nulls == 0 {
		b.Release()
		return nil, 0
	}
	return b, nulls
}

func takeBits(mem memory.Allocator, d arrow.ArrayData, indices []int64) *memory.Buffer {
	b := NewZeroBuffer(mem, (len(indices)+7)/8)
	if d.Len() == 0 {
		return b
	}
	from := bitmap.Bits{Data: d.Buffers()[1].Bytes(), Off: d.Offset(), Len: d.Len()}
	for i, k := range indices {
		if k >= 0 && from.At(int(k)) {
			b.Bytes()[i>>3] |= 1 << (i & 7)
		}
	}
	return b
}

func takeFixed(mem memory.Allocator, d arrow.ArrayData, width int, indices []int64) *memory.Buffer {
	b := NewZeroBuffer(mem, len(indices)*width)
	if d.Len() == 0 || width == 0 {
		return b
	}
	from, to := d.Buffers()[1].Bytes()[d.Offset()*width:], b.Bytes()
	for i, k := range indices {
		if k >= 0 {
			copy(to[i*width:(i+1)*width], from[int(k)*width:])
		}
	}
	return b
}

func takeBytes[O int32 | int64](mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	n := len(indices)
	valid, nulls := takeValidity(mem, arr, indices)
	offsets := NewBuffer(mem, sizeOf[O]()*(n+1))
	from, to := Offsets[O](arr), As[O](offsets.Bytes())
	total := int64(0)
	to[0] = 0
	for i, k := range indices {
		if k >= 0 {
			total += int64(from[k+1] - from[k])
		}
		to[i+1] = O(total)
		if int64(to[i+1]) != total {
			offsets.Release()
			if valid != nil {
				valid.Release()
			}
			return nil, errTooLong(arr)
		}
	}
	data := NewBuffer(mem, int(total))
	if total > 0 {
		src := arr.Data().Buffers()[2].Bytes()
		for i, k := range indices {
			if k >= 0 {
				copy(data.Bytes()[to[i]:to[i+1]], src[from[k]:from[k+1]])
			}
		}
	}
	return Make(arr.DataType(), n, []*memory.Buffer{valid, offsets, data}, nil, nulls), nil
}

func takeList[O int32 | int64](mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	n := len(indices)
	from := Offsets[O](arr)
	offsets := NewBuffer(mem, sizeOf[O]()*(n+1))
	to := As[O](offsets.Bytes())
	to[0] = 0
	var inner []int64
	for i, k := range indices {
		if k >= 0 {
			for j := from[k]; j < from[k+1]; j++ {
				inner = append(inner, int64(j))
			}
		}
		to[i+1] = O(len(inner))
		if int(to[i+1]) != len(inner) {
			offsets.Release()
			return nil, errTooLong(arr)
		}
	}
	child, err := Take(mem, arr.(array.ListLike).ListValues(), inner)
	if err != nil {
		offsets.Release()
		return nil, err
	}
	defer child.Release()
	child.Data().Retain()
	valid, nulls := takeValidity(mem, arr, indices)
	return Make(arr.DataType(), n, []*memory.Buffer{valid, offsets}, []arrow.ArrayData{child.Data()}, nulls), nil
}

func takeStruct(mem memory.Allocator, arr *array.Struct, indices []int64) (arrow.Array, error) {
	children := make([]arrow.ArrayData, 0, arr.NumField())
	for i := range arr.NumField() {
		c, err := Take(mem, arr.Field(i), indices)
		if err != nil {
			for _, c := range children {
				c.Release()
			}
			return nil, err
		}
		c.Data().Retain()
		children = append(children, c.Data())
		c.Release()
	}
	valid, nulls := takeValidity(mem, arr, indices)
	return Make(arr.DataType(), len(indices), []*memory.Buffer{valid}, children, nulls), nil
}

func takeFixedSizeList(mem memory.Allocator, arr *array.FixedSizeList, indices []int64) (arrow.Array, error) {
	size := int64(arr.DataType().(*arrow.FixedSizeListType).Len())
	inner := make([]int64, 0, len(indices)*int(size))
	for _, k := range indices {
		for j := range size {
			if k < 0 {
				inner = append(inner, -1)
			} else {
				inner = append(inner, (k+int64(arr.Data().Offset()))*size+j)
			}
		}
	}
	child, err := Take(mem, arr.ListValues(), inner)
	if err != nil {
		return nil, err
	}
	defer child.Release()
	child.Data().Retain()
	valid, nulls := takeValidity(mem, arr, indices)
	return Make(arr.DataType(), len(indices), []*memory.Buffer{valid}, []arrow.ArrayData{child.Data()}, nulls), nil
}

// takeBySlices serves every type that Arrow can concatenate, a slice a run of
// consecutive indices.
func takeBySlices(mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	var parts []arrow.Array
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i := 0; i < len(indices); {
		j := i + 1
		if indices[i] < 0 {
			for j < len(indices) && indices[j] < 0 {
				j++
			}
			parts = append(parts, Nulls(mem, arr.DataType(), j-i))
		} else {
			for j < len(indices) && indices[j] == indices[j-1]+1 {
				j++
			}
			parts = append(parts, array.NewSlice(arr, indices[i], indices[j-1]+1))
		}
		i = j
	}
	if len(parts) == 0 {
		return array.NewSlice(arr, 0, 0), nil
	}
	return array.Concatenate(parts, mem)
}

func errTooLong(arr arrow.Array) error {
	return &TooLongError{Type: arr.DataType()}
}

// TooLongError says that values do not fit the 32-bit offsets of a type.
type TooLongError struct{ Type arrow.DataType }

func (e *TooLongError) Error() string {
	return "more than 2 GiB of values in an array of type " + e.Type.String()
}
