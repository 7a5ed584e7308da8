package arrowutil

import (
	"slices"
	"sync"

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

// chunks allocates buffers of similar lifetime from chunks of one size. Separate allocations
// would leave holes of all sizes in the heap, which would take more pages. The runtime returns
// free pages to the system, and each costs microseconds when it is written again.
type chunks struct {
	goMemory
	reusable *Recycler

	mu    sync.Mutex
	rest  []byte // of the newest chunk
	taken int    // bytes of all chunks
}

const (
	// chunkSize is the size of chunks. The first ones are smaller: a chunk is no larger than those before it together,
	// so that a small table takes little more memory than its values.
	chunkSize = 4 << 20
	// leastCut is the least size that is cut from a chunk, so that a retained buffer does not keep
	// many times its size alive.
	leastCut = chunkSize / 64
	// mostCut is the greatest size that is cut from a chunk. Larger buffers have separate memory,
	// in steps that leave fewer holes.
	mostCut  = chunkSize / 2
	ownSteps = chunkSize / 8
)

// Chunks wraps the Go allocator so that buffers are cut from chunks of up to 4 MiB, and so that
// [Reusable] memory comes from r. The result is safe for concurrent use. A buffer keeps its chunk
// alive. Chunks returns any other allocator unchanged.
func Chunks(mem memory.Allocator, r *Recycler) memory.Allocator {
	if m, ok := mem.(*memory.GoAllocator); ok {
		return &chunks{goMemory: goMemory{m}, reusable: r}
	}
	return mem
}

// Reusable is the allocator for buffers of numbers, offsets and bits. Callers copy these out of an
// array, whereas a Go string refers to the array's memory and is easily kept beyond Release. It is
// mem itself unless that is of [Chunks].
func Reusable(mem memory.Allocator) memory.Allocator {
	if c, ok := mem.(*chunks); ok {
		return c.reusable
	}
	return mem
}

func (c *chunks) take(size int) []byte {
	if size < leastCut {
		return c.goMemory.take(size)
	}
	if size > mostCut {
		return c.goMemory.take(roundTo(size+alignment, ownSteps) - alignment)[:size]
	}
	room := roundTo(size, alignment)
	c.mu.Lock()
	defer c.mu.Unlock()
	if room > len(c.rest) {
		n := max(room, min(c.taken, chunkSize-alignment))
		c.rest = c.goMemory.take(n)
		c.taken += n
	}
	b := c.rest[:size:room]
	c.rest = c.rest[room:]
	return b
}

// roundTo is the next multiple of step, a power of two.
func roundTo(n, step int) int { return (n + step - 1) &^ (step - 1) }
