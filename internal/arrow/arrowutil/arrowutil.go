// Package arrowutil reads Arrow arrays by their layout: values and validity as slices,
// independent of the logical type. It takes rows, and expands dictionaries, runs and views.
package arrowutil

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Validity is the validity bitmap of arr, which must not be a dictionary of null values or a run-end encoded array (see [Plain]). It shares arr's
// memory. A union, which has no bitmap, is null where the alternative that is chosen is.
func Validity(arr arrow.Array) bitmap.Bits {
	d := arr.Data()
	if d.DataType().ID() == arrow.NULL {
		return bitmap.Bits{Data: make([]byte, (d.Len()+7)/8), Len: d.Len()}
	}
	if isUnion(d.DataType()) {
		return unionValidity(arr)
	}
	if NullN(arr) == 0 {
		return bitmap.All(d.Len())
	}
	return bitmap.Bits{Data: d.Buffers()[0].Bytes(), Off: d.Offset(), Len: d.Len()}
}

// NullN is the number of nulls of arr. Unlike arr.NullN, it does not panic if the number is unknown and there is no validity bitmap; it is 0 then.
func NullN(arr arrow.Array) int {
	if isUnion(arr.DataType()) {
		return unionValidity(arr).Nulls()
	}
	if d := arr.Data(); d.DataType().ID() != arrow.NULL && (len(d.Buffers()) == 0 || d.Buffers()[0] == nil) {
		return 0
	}
	return arr.NullN()
}

// Values is the second buffer of arr as a slice of T, which must have the width of arr's values. It shares arr's memory.
func Values[T any](arr arrow.Array) []T {
	return bufferOf[T](arr.Data(), 1, arr.Len())
}

// Offsets are the Len+1 offsets of a list, map, string or binary array. It
// shares arr's memory.
func Offsets[O int32 | int64](arr arrow.Array) []O {
	if b := arr.Data().Buffers()[1]; b == nil || b.Len() == 0 {
		return make([]O, arr.Len()+1) // allowed for an empty array
	}
	return bufferOf[O](arr.Data(), 1, arr.Len()+1)
}

func bufferOf[T any](d arrow.ArrayData, i, n int) []T {
	b := d.Buffers()[i]
	if b == nil || n == 0 {
		return nil
	}
	return As[T](b.Bytes())[d.Offset() : d.Offset()+n]
}

// As views b as a slice of T. Trailing bytes that are less than a T are left out.
func As[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// Bytes views s as bytes.
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(t)))
}

// Make makes an array of n values from buffers and children, and takes ownership of the
// caller's references to both.
func Make(dt arrow.DataType, n int, buffers []*memory.Buffer, children []arrow.ArrayData, nulls int) arrow.Array {
	d := array.NewData(dt, n, buffers, children, nulls, 0)
	defer d.Release()
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return array.MakeFromData(d)
}

// NewBuffer is a buffer of n bytes of arbitrary content.
func NewBuffer(mem memory.Allocator, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(withoutClearing(mem))
	b.Resize(n)
	return b
}

// NewZeroBuffer is a buffer of n zero bytes.
func NewZeroBuffer(mem memory.Allocator, n int) *memory.Buffer {
	b := NewBuffer(mem, n)
	clear(b.Bytes())
	return b
}

func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// Rebuild is an array of type dt with other parts: those that change returns, and gives up, for the parts of arr, with as many rows.
// The parts of a struct are sliced as it is. The caller releases the result.
func Rebuild(mem memory.Allocator, arr arrow.Array, dt arrow.DataType, change func(i int, part arrow.Array) (arrow.Array, error)) (arrow.Array, error) {
	d := arr.Data()
	if s, ok := arr.(*array.Struct); ok {
		parts := make([]arrow.ArrayData, s.NumField())
		for i := range parts {
			parts[i] = s.Field(i).Data()
		}
		valid := CopyValidity(mem, arr)
		d = array.NewData(d.DataType(), d.Len(), []*memory.Buffer{valid}, parts, NullN(arr), 0)
		defer d.Release()
		if valid != nil {
			valid.Release()
		}
	}
	out, err := kinds.Rebuild(d, dt, func(i int, part arrow.ArrayData) (arrow.ArrayData, error) {
		from := array.MakeFromData(part)
		defer from.Release()
		to, err := change(i, from)
		if err != nil {
			return nil, err
		}
		defer to.Release()
		to.Data().Retain()
		return to.Data(), nil
	})
	if err != nil {
		return nil, err
	}
	defer out.Release()
	return array.MakeFromData(out), nil
}

// Keys of the metadata of fields in tables of spans. These have a column for each type of the values of an attribute, so that several may have one name.
const (
	ColumnType = "blockpack.type" // the type of the column: "string", "int64", "uint64", "float64", "bool", "bytes"
	ColumnName = "blockpack.name" // the name of the column, where it is not the name of the field
)

// WithoutView is the type of the same values without a view: with 64-bit offsets for strings and bytes, and
// those of its own width for lists.
func WithoutView(dt arrow.DataType) arrow.DataType {
	switch l := kinds.LayoutOf(dt); {
	case dt.ID() == arrow.STRING_VIEW:
		return arrow.BinaryTypes.LargeString
	case dt.ID() == arrow.BINARY_VIEW:
		return arrow.BinaryTypes.LargeBinary
	case kinds.Of(dt) != kinds.List:
	case l.Form == kinds.RowViews && l.Width == 4:
		return arrow.ListOfField(dt.(arrow.ListLikeType).ElemField())
	case l.Form == kinds.RowViews:
		return arrow.LargeListOfField(dt.(arrow.ListLikeType).ElemField())
	}
	return dt
}
