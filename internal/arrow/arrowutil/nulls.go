package arrowutil

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Nulls makes an array of n nulls of any type with a row in package kinds, of nested ones those at any depth. In unions they are nulls of the
// first alternative.
func Nulls(mem memory.Allocator, dt arrow.DataType, n int) arrow.Array {
	if ext, ok := dt.(arrow.ExtensionType); ok {
		storage := Nulls(mem, ext.StorageType(), n)
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(ext, storage)
	}
	l, isUnion := kinds.LayoutOf(dt), kinds.Of(dt) == kinds.Choice
	bits := func(n int) *memory.Buffer { return NewZeroBuffer(mem, (n+7)/8) }
	var buffers []*memory.Buffer // behind the bitmap of nulls
	rows := 0                    // of the children
	switch l.Form {
	case kinds.Nothing:
		return array.NewNull(n)
	case kinds.Fixed:
		buffers = append(buffers, bits(n*l.Width))
	case kinds.Bytes:
		buffers = append(buffers, bits(8*l.Width*(n+1)), bits(0))
	case kinds.Rows:
		buffers = append(buffers, bits(8*l.Width*(n+1)))
	case kinds.Views, kinds.Codes:
		buffers = append(buffers, bits(8*l.Width*n))
	case kinds.RowViews:
		buffers = append(buffers, bits(8*l.Width*n), bits(8*l.Width*n))
	case kinds.Parallel:
		rows = n * l.Each
	case kinds.Runs:
		run := min(n, 1)
		return makeRuns(mem, dt.(*arrow.RunEndEncodedType), n, []int64{int64(n)}[:run], Nulls(mem, kinds.Inner(dt), run))
	}
	if isUnion {
		code := []byte{byte(append(dt.(arrow.UnionType).TypeCodes(), 0)[0])}
		buffers = append(buffers, memory.NewBufferBytes(bytes.Repeat(code, n)))
	}
	if l.Form == kinds.Addressed {
		offsets := make([]int64, n)
		for i := range offsets {
			offsets[i] = int64(i)
		}
		buffers, rows = append(buffers, integers32(mem, offsets)), n
	}
	var children []arrow.ArrayData
	if t, ok := dt.(arrow.NestedType); ok {
		for _, f := range t.Fields() {
			child := Nulls(mem, f.Type, rows)
			defer child.Release()
			child.Data().Retain()
			children = append(children, child.Data())
		}
	}
	switch {
	case l.Form == kinds.Codes:
		values := Nulls(mem, kinds.Inner(dt), 0)
		defer values.Release()
		return MakeCodes(dt, n, bits(n), buffers[0], n, values.Data())
	case isUnion:
		return Make(dt, n, append([]*memory.Buffer{nil}, buffers...), children, 0)
	}
	return Make(dt, n, append([]*memory.Buffer{bits(n)}, buffers...), children, n)
}

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
