package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Concatenate joins arrays of one type, at least one. A single array is retained, not copied. In dictionaries and runs
// arrow-go would compare values, and merge floats that differ in their bits only. The caller releases the result.
func Concatenate(mem memory.Allocator, arrays []arrow.Array) (arrow.Array, error) {
	if len(arrays) == 1 {
		arrays[0].Retain()
		return arrays[0], nil
	}
	return array.Concatenate(arrays, mem)
}

// ReleaseAll releases arrays, some of which may be nil.
func ReleaseAll(arrays []arrow.Array) {
	for _, a := range arrays {
		if a != nil {
			a.Release()
		}
	}
}
