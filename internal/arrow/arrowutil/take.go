package arrowutil

import (
	"fmt"

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
	case *arrow.DictionaryType:
		return takeCodes(mem, arr.(*array.Dictionary), indices)
	case *arrow.RunEndEncodedType:
		return takeRuns(mem, arr.(*array.RunEndEncoded), indices)
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return takeViews(mem, arr, indices), nil
	case *arrow.ListViewType:
		return takeListView(mem, arr, 4, indices), nil
	case *arrow.LargeListViewType:
		return takeListView(mem, arr, 8, indices), nil
	case arrow.FixedWidthDataType:
		valid, nulls := takeValidity(mem, arr, indices)
		return Make(dt, n, []*memory.Buffer{valid, takeFixed(mem, d, 1, dt.Bytes(), indices)}, nil, nulls), nil
	}
	return nil, fmt.Errorf("rows of an array of type %s cannot be selected", d.DataType())
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

// takeFixed takes the values of buffer i, each of width bytes. Nulls become zeros.
func takeFixed(mem memory.Allocator, d arrow.ArrayData, i, width int, indices []int64) *memory.Buffer {
	b := NewZeroBuffer(mem, len(indices)*width)
	if d.Len() == 0 || width == 0 {
		return b
	}
	from, to := d.Buffers()[i].Bytes()[d.Offset()*width:], b.Bytes()
	switch width { // reads of values anywhere in memory wait for it together, those of a call to copy one after the other
	case 1:
		takeValues[uint8](from, to, indices)
	case 2:
		takeValues[uint16](from, to, indices)
	case 4:
		takeValues[uint32](from, to, indices)
	case 8:
		takeValues[uint64](from, to, indices)
	case 16:
		takeValues[[2]uint64](from, to, indices)
	default:
		for i, k := range indices {
			if k >= 0 {
				copy(to[i*width:(i+1)*width], from[int(k)*width:])
			}
		}
	}
	return b
}

func takeValues[T any](from, to []byte, indices []int64) {
	src, dst := As[T](from), As[T](to)
	for i, k := range indices {
		if k >= 0 {
			dst[i] = src[k]
		}
	}
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

// takeCodes takes rows of a dictionary array. The result has the same dictionary.
func takeCodes(mem memory.Allocator, arr *array.Dictionary, indices []int64) (arrow.Array, error) {
	d := arr.Data()
	width := arr.DataType().(*arrow.DictionaryType).IndexType.(arrow.FixedWidthDataType).Bytes()
	valid, nulls := takeValidity(mem, arr, indices)
	codes := takeFixed(mem, d, 1, width, indices)
	out := array.NewDataWithDictionary(d.DataType(), len(indices), []*memory.Buffer{valid, codes}, nulls, 0, d.Dictionary().(*array.Data))
	defer out.Release()
	codes.Release()
	if valid != nil {
		valid.Release()
	}
	return array.MakeFromData(out), nil
}

// takeRuns takes rows of a run-end encoded array. Consecutive rows of one run stay a run.
// Values are not compared, so that NaNs stay distinct.
func takeRuns(mem memory.Allocator, arr *array.RunEndEncoded, indices []int64) (arrow.Array, error) {
	dt := arr.DataType().(*arrow.RunEndEncodedType)
	if int64(len(indices)) > indexLimit(dt.RunEnds()) {
		return nil, errTooLong(arr)
	}
	var runs, ends []int64
	for i, k := range indices {
		run := int64(-1)
		if k >= 0 {
			run = int64(arr.GetPhysicalIndex(int(k)))
		}
		if n := len(runs); n > 0 && runs[n-1] == run {
			ends[n-1] = int64(i + 1)
			continue
		}
		runs, ends = append(runs, run), append(ends, int64(i+1))
	}
	values, err := Take(mem, arr.Values(), runs)
	if err != nil {
		return nil, err
	}
	return makeRuns(mem, dt, len(indices), ends, values), nil
}

// makeRuns makes a run-end encoded array of n rows; it takes ownership of the reference to
// values.
func makeRuns(mem memory.Allocator, dt *arrow.RunEndEncodedType, n int, ends []int64, values arrow.Array) arrow.Array {
	defer values.Release()
	width := dt.RunEnds().(arrow.FixedWidthDataType).Bytes()
	b := NewBuffer(mem, len(ends)*width)
	for i, end := range ends {
		putInt(b.Bytes()[i*width:], width, end)
	}
	endsArr := Make(dt.RunEnds(), len(ends), []*memory.Buffer{nil, b}, nil, 0)
	defer endsArr.Release()
	endsArr.Data().Retain()
	values.Data().Retain()
	return Make(dt, n, []*memory.Buffer{nil}, []arrow.ArrayData{endsArr.Data(), values.Data()}, 0)
}

// takeViews takes rows of a view array. The result shares the bytes of arr.
func takeViews(mem memory.Allocator, arr arrow.Array, indices []int64) arrow.Array {
	d := arr.Data()
	valid, nulls := takeValidity(mem, arr, indices)
	buffers := []*memory.Buffer{valid, takeFixed(mem, d, 1, arrow.ViewHeaderSizeBytes, indices)}
	for _, b := range d.Buffers()[2:] {
		b.Retain()
		buffers = append(buffers, b)
	}
	return Make(d.DataType(), len(indices), buffers, nil, nulls)
}

// takeListView takes rows of a list view array with offsets of width bytes. The result
// shares the items of arr.
func takeListView(mem memory.Allocator, arr arrow.Array, width int, indices []int64) arrow.Array {
	d := arr.Data()
	valid, nulls := takeValidity(mem, arr, indices)
	items := d.Children()[0]
	items.Retain()
	buffers := []*memory.Buffer{valid, takeFixed(mem, d, 1, width, indices), takeFixed(mem, d, 2, width, indices)}
	return Make(d.DataType(), len(indices), buffers, []arrow.ArrayData{items}, nulls)
}

func errTooLong(arr arrow.Array) error {
	return &TooLongError{Type: arr.DataType()}
}

// TooLongError is the error for values that exceed the 32-bit offsets of a type.
type TooLongError struct{ Type arrow.DataType }

func (e *TooLongError) Error() string {
	return "more than 2 GiB of values in an array of type " + e.Type.String()
}
