package arrowutil

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Concatenate joins arrays of one type, at least one. A single array is retained, not copied. In dictionaries and runs
// arrow-go would compare values, and merge floats that differ in their bits only. The caller releases the result.
func Concatenate(mem memory.Allocator, arrays []arrow.Array) (arrow.Array, error) {
	if len(arrays) == 1 {
		arrays[0].Retain()
		return arrays[0], nil
	}
	dt := arrays[0].DataType()
	if kinds.Has(dt, isUnion) {
		structs := make([]arrow.Array, len(arrays))
		defer ReleaseAll(structs)
		for i, a := range arrays {
			var err error
			if structs[i], err = unionsToStructs(mem, a); err != nil {
				return nil, err
			}
		}
		whole, err := Concatenate(mem, structs)
		if err != nil {
			return nil, err
		}
		defer whole.Release()
		return structsToUnions(mem, whole, dt)
	}
	if kinds.HasID(dt, arrow.DICTIONARY) {
		arrays = slices.Clone(arrays)
		defer ReleaseAll(arrays)
		for i, a := range arrays {
			d := withCodes(a.Data(), false)
			arrays[i] = array.MakeFromData(d)
			d.Release()
		}
	}
	return array.Concatenate(arrays, mem)
}

// withCodes is d so that arrow-go can join it with others of different dictionaries, where it takes the first code of a
// part even if that has none. It takes codes by runs of valid ones, and so none of an empty part, if there are bits for
// them. Any part of what is below another array may be empty. The caller releases the result.
func withCodes(d arrow.ArrayData, below bool) arrow.ArrayData {
	buffers := slices.Clone(d.Buffers())
	if dictionary, ok := d.Dictionary().(*array.Data); ok && dictionary != nil {
		if n := d.Offset() + d.Len(); buffers[0] == nil && (below || d.Len() == 0) {
			bits := make([]byte, (n+7)/8)
			bitmap.SetRange(bits, 0, n)
			buffers[0] = memory.NewBufferBytes(bits)
		}
		if buffers[1] == nil {
			buffers[1] = memory.NewBufferBytes(nil)
		}
		return array.NewDataWithDictionary(d.DataType(), d.Len(), buffers, d.NullN(), d.Offset(), dictionary)
	}
	var children []arrow.ArrayData
	for _, c := range d.Children() {
		child := withCodes(c, true)
		defer child.Release()
		children = append(children, child)
	}
	return array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
}

// ReleaseAll releases arrays, some of which may be nil.
func ReleaseAll(arrays []arrow.Array) {
	for _, a := range arrays {
		if a != nil {
			a.Release()
		}
	}
}
