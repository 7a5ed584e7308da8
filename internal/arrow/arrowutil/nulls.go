package arrowutil

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
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
