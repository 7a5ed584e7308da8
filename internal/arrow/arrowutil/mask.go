package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Mask is arr with nulls wherever valid is clear, to hide the values under a null parent. It
// shares arr's values; the caller releases it. The result is plain, see [Plain].
func Mask(mem memory.Allocator, arr arrow.Array, valid bitmap.Bits) (arrow.Array, error) {
	plain, err := Plain(mem, arr)
	if err != nil || valid.Data == nil || plain.DataType().ID() == arrow.NULL {
		return plain, err
	}
	defer plain.Release()
	if isUnion(plain.DataType()) { // which has no nulls of its own
		return takeValid(mem, plain, valid)
	}
	d := plain.Data()
	own := Validity(plain)
	bits := NewZeroBuffer(mem, (d.Offset()+d.Len()+7)/8)
	defer bits.Release()
	nulls := d.Len()
	for i := 0; i < d.Len(); i += 64 {
		w := own.Word(i) & valid.Word(i)
		n := min(d.Len()-i, 64)
		bitmap.PutWord(bits.Bytes(), d.Offset()+i, w, n)
		for ; w != 0; w &= w - 1 {
			nulls--
		}
	}
	buffers := append([]*memory.Buffer{bits}, d.Buffers()[1:]...)
	masked := array.NewData(d.DataType(), d.Len(), buffers, d.Children(), nulls, d.Offset())
	defer masked.Release()
	return array.MakeFromData(masked), nil
}

// NullRanges reports whether a null list of arr has items, which have no meaning.
func NullRanges(arr arrow.Array) bool {
	if NullN(arr) == 0 {
		return false
	}
	for i := range arr.Len() {
		if start, end := arr.(array.VarLenListLike).ValueOffsets(i); arr.IsNull(i) && start != end {
			return true
		}
	}
	return false
}

// DropNullRanges is the list or map arr without the items of null lists. The
// caller releases it.
func DropNullRanges(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	return takeValid(mem, arr, Validity(arr))
}

// takeValid takes all rows of arr, and nulls where valid is clear.
func takeValid(mem memory.Allocator, arr arrow.Array, valid bitmap.Bits) (arrow.Array, error) {
	indices := make([]int64, arr.Len())
	for i := range indices {
		indices[i] = -1
		if valid.At(i) {
			indices[i] = int64(i)
		}
	}
	return Take(mem, arr, indices)
}
