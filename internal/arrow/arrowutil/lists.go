package arrowutil

import (
	"fmt"
	"math"
	"sort"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/ascii"
)

// Relist makes lists of another type out of lists of any type: of 32 or 64 bits, views, of a fixed size. The items of null lists are
// dropped; those of lists in ascending order without gaps are shared, not copied. If convert is not nil, it makes the items of the new
// type out of the old ones, whose row it can ask for. The caller releases the result.
func Relist(mem memory.Allocator, arr arrow.Array, to arrow.ListLikeType, convert func(items arrow.Array, row func(item int) int) (arrow.Array, error)) (arrow.Array, error) {
	n, fixed := arr.Len(), -1
	if t, ok := to.(*arrow.FixedSizeListType); ok {
		if fixed = int(t.Len()); fixed > 0 && n > math.MaxInt32/fixed {
			return nil, &TooLongError{Type: to}
		}
	}
	v, valid := kinds.Open(arr), Validity(arr)
	ends := make([]int64, n+1)
	shared, at := true, int64(-1)
	for i := range n {
		size := int64(0)
		from, end := v.Range(i)
		switch {
		case !valid.At(i):
			shared = shared && fixed <= 0 && from == end
			size = int64(max(fixed, 0))
		case fixed >= 0 && end-from != int64(fixed):
			return nil, fmt.Errorf("a list of %d items, where %s has %d", end-from, to, fixed)
		case end > from:
			shared = shared && (at < 0 || at == from)
			size, at = end-from, end
		}
		ends[i+1] = ends[i] + size
	}
	l, put := kinds.LayoutOf(to), integers64
	if l.Width == 4 {
		if put = integers32; ends[n] > math.MaxInt32 {
			return nil, &TooLongError{Type: to}
		}
	}
	items, err := listItems(mem, v, valid.At, ends, shared, at)
	if err != nil {
		return nil, err
	}
	defer items.Release()
	if convert != nil {
		items, err = convert(items, func(item int) int {
			return sort.Search(n, func(i int) bool { return ends[i+1] > int64(item) })
		})
		if err != nil {
			return nil, err
		}
		defer items.Release()
	}
	buffers := []*memory.Buffer{CopyValidity(mem, arr)}
	switch l.Form {
	case kinds.Rows:
		buffers = append(buffers, put(mem, ends))
	case kinds.RowViews:
		sizes := make([]int64, n)
		for i := range sizes {
			sizes[i] = ends[i+1] - ends[i]
		}
		buffers = append(buffers, put(mem, ends[:n]), put(mem, sizes))
	}
	items.Data().Retain()
	return Make(to, n, buffers, []arrow.ArrayData{items.Data()}, NullN(arr)), nil
}

// listItems are the items of lists, one list behind the other, up to the ends of lists. If they are shared, at is their end. Those of a
// null are null.
func listItems(mem memory.Allocator, v kinds.View, valid func(int) bool, ends []int64, shared bool, at int64) (arrow.Array, error) {
	total := ends[len(ends)-1]
	if shared {
		return array.NewSlice(v.Parts[0], max(at, total)-total, max(at, total)), nil
	}
	rows := make([]int64, 0, min(total, 1<<20)) // views may overlap
	for i := range len(ends) - 1 {
		from, _ := v.Range(i)
		for k := range ends[i+1] - ends[i] {
			if valid(i) {
				rows = append(rows, from+k)
			} else {
				rows = append(rows, -1)
			}
		}
	}
	return Take(mem, v.Parts[0], rows)
}

func integers32(mem memory.Allocator, values []int64) *memory.Buffer {
	b := NewBuffer(mem, 4*len(values))
	for i, to := 0, As[int32](b.Bytes()); i < len(to); i++ {
		to[i] = int32(values[i])
	}
	return b
}

func integers64(mem memory.Allocator, values []int64) *memory.Buffer {
	b := NewBuffer(mem, 8*len(values))
	copy(As[int64](b.Bytes()), values)
	return b
}

// Lengths are the lengths of values, as 64-bit integers, null where the values are: characters of texts, bytes of byte strings, elements of
// lists. The caller releases them.
func Lengths(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	if d, ok := Storage(arr).(*array.Dictionary); ok && d.Dictionary().Len() <= d.Len() {
		entries, err := Lengths(mem, d.Dictionary())
		if err != nil {
			return nil, err
		}
		defer entries.Release()
		return TakeCoded(mem, d, entries)
	}
	arr, err := Plain(mem, arr)
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	one, err := lengthOf(arr)
	if err != nil {
		return nil, err
	}
	values := NewZeroBuffer(mem, 8*arr.Len())
	for i, lengths := 0, As[int64](values.Bytes()); i < len(lengths); i++ {
		if arr.IsValid(i) {
			lengths[i] = one(i)
		}
	}
	return Make(arrow.PrimitiveTypes.Int64, arr.Len(), []*memory.Buffer{CopyValidity(mem, arr), values}, nil, NullN(arr)), nil
}

// lengthOf is a function for the length of a value of a plain array.
func lengthOf(arr arrow.Array) (func(i int) int64, error) {
	if l, ok := arr.(array.ListLike); ok {
		return func(i int) int64 { lo, hi := l.ValueOffsets(i); return hi - lo }, nil
	}
	at := BytesOf(arr)
	switch {
	case at == nil:
		return nil, fmt.Errorf("values of type %s have no length", arr.DataType())
	case kinds.IsText(arr.DataType()):
		if a, ok := arr.(*array.String); !ok || !ascii.Only(a.ValueBytes()) {
			return func(i int) int64 { return int64(utf8.RuneCount(at(i))) }, nil
		}
	}
	return func(i int) int64 { return int64(len(at(i))) }, nil
}

// LengthsOf returns a field of values that have lengths as one of these lengths. Its metadata tells so. ok is false for other fields.
func LengthsOf(f arrow.Field) (_ arrow.Field, ok bool) {
	if dt := kinds.Unwrapped(f.Type); kinds.Of(dt) != kinds.List && !kinds.IsText(dt) && !kinds.IsBinary(dt) {
		return f, false
	}
	return recordedAs(f, arrow.PrimitiveTypes.Int64, lengths), true
}

// AreLengths reports whether [LengthsOf] made a field.
func AreLengths(f arrow.Field) bool {
	dt, ok := f.Metadata.GetValue(recordedType)
	return ok && dt == lengths && f.Type.ID() == arrow.INT64
}
