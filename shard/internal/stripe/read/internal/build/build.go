// Package build makes Arrow arrays block by block: it hands out the places that values are decoded to, and keeps count of
// the nulls. An array's buffers belong to it once it is made; before, the caller releases them.
package build

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Validity is the validity bits of an array, all clear at first, and the number of nulls.
type Validity struct {
	buffer *memory.Buffer // nil if no value can be null
	Nulls  int
}

func newValidity(alloc memory.Allocator, n int, nullable bool) Validity {
	if !nullable {
		return Validity{}
	}
	return Validity{buffer: arrowutil.NewZeroBuffer(arrowutil.Reusable(alloc), (n+7)/8)}
}

// Bits is a bit for each value, nil if none can be null.
func (v *Validity) Bits() []byte {
	if v.buffer == nil {
		return nil
	}
	return v.buffer.Bytes()
}

// finish is the buffer of the array.
func (v *Validity) finish() *memory.Buffer {
	return OnlyNulls(v.buffer, v.Nulls)
}

// OnlyNulls is a validity buffer that has some nulls. Another is released, and the result is nil.
func OnlyNulls(valid *memory.Buffer, nulls int) *memory.Buffer {
	if nulls == 0 && valid != nil {
		valid.Release()
		return nil
	}
	return valid
}

// Release releases those buffers that are not nil.
func Release(buffers ...*memory.Buffer) {
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
}

// Fixed is an array of fixed-width values in the making.
type Fixed struct {
	Validity
	n, room, width int
	values         *memory.Buffer
}

// NewFixed begins an array of n values of width bytes. There is room behind them for others, until the array is made.
func NewFixed(alloc memory.Allocator, n, room, width int, nullable bool) *Fixed {
	return &Fixed{newValidity(alloc, n+room, nullable), n, room, width, arrowutil.NewBuffer(arrowutil.Reusable(alloc), (n+room)*width)}
}

// Fit reports whether there is room for n values from value at on.
func (f *Fixed) Fit(at, n int) bool { return n <= f.n+f.room-at }

// Slots is the bytes of n values from value at on.
func (f *Fixed) Slots(at, n int) []byte {
	return f.values.Bytes()[at*f.width : (at+n)*f.width]
}

// Keep closes the gaps between the rows that are needed of n values from value at on. There were so many nulls before them.
func (f *Fixed) Keep(at, n int, rows rowset.Set, nulls int) {
	rowset.PickBytes(f.Slots(at, n), f.width, rows)
	if bits := f.Bits(); bits != nil {
		kept := int(rows.Len())
		f.Nulls = nulls + rowset.PickBits(bits, at, bitmap.Bits{Data: bits, Off: at, Len: n}, rows)
		bitmap.ClearRange(bits, at+kept, n-kept)
	}
}

// Array makes the array.
func (f *Fixed) Array(dt arrow.DataType) arrow.Array {
	valid, values := f.Buffers()
	return arrowutil.Make(dt, f.n, []*memory.Buffer{valid, values}, nil, f.Nulls)
}

// Buffers are the finished validity bits, nil without nulls, and values, which the caller owns.
func (f *Fixed) Buffers() (valid, values *memory.Buffer) {
	if valid, values = f.finish(), f.values; f.room > 0 {
		values.ResizeNoShrink(f.n * f.width)
		if valid != nil {
			valid.ResizeNoShrink((f.n + 7) / 8)
		}
	}
	return valid, values
}

// Release drops an array that is not made.
func (f *Fixed) Release() { Release(f.buffer, f.values) }

// NullBytes is the bytes that a null of type dt takes in an array, in buffers of its own
// and of its children.
func NullBytes(dt arrow.DataType) int64 {
	const most = 1 << 40
	dt = kinds.Storage(dt)
	if l := kinds.LayoutOf(dt); l.Form == kinds.Parallel {
		size, each := int64(1), int64(l.Each)
		for _, f := range kinds.Fields(dt) {
			size = min(size+each*min(NullBytes(f.Type), most/max(each, 1)+1), most)
		}
		return size
	}
	if fixed, ok := dt.(arrow.FixedWidthDataType); ok {
		return 1 + int64(fixed.Bytes())
	}
	return 17 // offsets or a view header
}
