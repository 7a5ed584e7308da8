package build

import (
	"math"
	"sync"
	"weak"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// overrun is how far beyond the end of the values a decoder may write.
const overrun = 64

// Bytes is an array of byte strings in the making. O is the type of its offsets.
type Bytes[O int32 | int64] struct {
	Validity
	offsets *memory.Buffer // nil for fixed lengths
	ends    []O            // the offsets from the second on, nil if they are set
	data    *memory.Buffer
	size    int // bytes of values so far
	limit   int64
}

// Limit is the memory that an array may take, and where from.
type Limit struct {
	Allocator memory.Allocator
	Bytes     int64 // of the values
}

// NewBytes begins an array of n values of fixed bytes or, if fixed is 0, of any length. likely is an estimate
// of the bytes of all values.
func NewBytes[O int32 | int64](l Limit, n, fixed int, likely int64, nullable bool) (*Bytes[O], error) {
	b, err := begin[O](l, n, fixed, likely, nullable)
	if err == nil && fixed == 0 {
		b.offsets = arrowutil.NewBuffer(arrowutil.Reusable(l.Allocator), sizeOf[O]()*(n+1))
		all := arrowutil.As[O](b.offsets.Bytes())
		all[0] = 0
		b.ends = all[1:]
	}
	return b, err
}

// NewEqual begins an array of n values that all have the same length, at most MaxEqual; their offsets are set.
func NewEqual[O int32 | int64](l Limit, n, length int, nullable bool) (*Bytes[O], error) {
	size := int64(n) * int64(length)
	if size > MaxOffset[O]() {
		return nil, fault.ErrBatchTooLarge
	}
	b, err := begin[O](l, n, 0, size, nullable)
	if err == nil {
		b.offsets = equalOffsetsOf[O](n, length)
	}
	return b, err
}

// begin is an array without offsets.
func begin[O int32 | int64](l Limit, n, fixed int, likely int64, nullable bool) (*Bytes[O], error) {
	if int64(n)*int64(max(fixed, 8)) > l.Bytes {
		return nil, fault.ErrBatchTooLarge
	}
	b := &Bytes[O]{limit: l.Bytes, data: arrowutil.NewBuffer(l.Allocator, 0)}
	b.Reserve(likely)
	b.Validity = newValidity(l.Allocator, n, nullable)
	return b, nil
}

// Reserve makes room for what is likely to be the size of all values. Memory that is too small would be copied.
func (b *Bytes[O]) Reserve(likely int64) { b.data.Reserve(int(min(likely, b.limit)) + overrun) }

// Room makes room for size more bytes of values and returns it, with a capacity
// that a decoder may overrun into.
func (b *Bytes[O]) Room(size int) ([]byte, error) {
	end := b.size + size
	if int64(end) > b.limit || b.offsets != nil && int64(end) > MaxOffset[O]() {
		return nil, fault.ErrBatchTooLarge
	}
	if end+overrun > b.data.Cap() {
		b.data.Reserve(max(end, min(2*b.data.Cap(), int(min(b.limit, math.MaxInt))) /* as append grows */) + overrun)
	}
	b.data.ResizeNoShrink(end)
	buf := b.data.Buf()
	return buf[b.size:end:min(end+overrun, cap(buf))], nil
}

// Free is all the room that there is for more values, nil if size bytes may not fit.
func (b *Bytes[O]) Free(size uint64) []byte {
	end := min(int64(b.data.Cap()), b.limit)
	if b.offsets != nil {
		end = min(end, MaxOffset[O]())
	}
	if size > uint64(max(0, end-int64(b.size))) {
		return nil
	}
	return b.data.Buf()[b.size:end]
}

// Ends is the offsets behind n values from value at on, nil if there are none to set.
func (b *Bytes[O]) Ends(at, n int) []O {
	if b.ends == nil {
		return nil
	}
	return b.ends[at : at+n]
}

// Size is the bytes of the values so far: the offset of the next one.
func (b *Bytes[O]) Size() O { return O(b.size) }

// Grow counts bytes of values that were written to the room for them.
func (b *Bytes[O]) Grow(size int) { b.size += size }

// Append copies values, the first of which is value at of the array.
func (b *Bytes[O]) Append(at int, v bytestring.Values) error {
	src := v.Bytes()
	dst, err := b.Room(len(src))
	if err != nil {
		return err
	}
	copy(dst, src)
	if v.Fixed == 0 {
		shift := int64(b.size) - v.Offsets[0]
		for i, end := range v.Offsets[1:] {
			b.ends[at+i] = O(end + shift)
		}
	}
	b.size += len(dst)
	return nil
}

// Array makes the array.
func (b *Bytes[O]) Array(dt arrow.DataType, n int) arrow.Array {
	b.data.ResizeNoShrink(b.size)
	valid := b.finish()
	buffers := []*memory.Buffer{valid, b.data}
	if b.offsets != nil {
		buffers = []*memory.Buffer{valid, b.offsets, b.data}
	}
	return arrowutil.Make(dt, n, buffers, nil, b.Nulls)
}

// View is the values so far as an array, which is valid as long as they stay.
func (b *Bytes[O]) View(dt arrow.DataType, n int) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(b.data.Buf()[:b.size])}
	if b.offsets != nil {
		buffers = []*memory.Buffer{nil, memory.NewBufferBytes(b.offsets.Bytes()), buffers[1]}
	}
	if b.Nulls > 0 {
		buffers[0] = memory.NewBufferBytes(b.Bits())
	}
	return arrowutil.Make(dt, n, buffers, nil, b.Nulls)
}

// Reset drops the values, and keeps the memory for others.
func (b *Bytes[O]) Reset() { b.size, b.Nulls = 0, 0 }

// Release drops an array that is not made.
func (b *Bytes[O]) Release() { Release(b.offsets, b.data, b.buffer) }

// MaxOffset is the largest offset of its type.
func MaxOffset[O int32 | int64]() int64 {
	if sizeOf[O]() == 4 {
		return math.MaxInt32
	}
	return math.MaxInt64
}

func sizeOf[O int32 | int64]() int {
	if int64(O(math.MaxInt32)+1) < 0 {
		return 4
	}
	return 8
}

// MaxEqual is the longest length of values that [NewEqual] takes.
const MaxEqual = 64

// equalOffsets are the offsets of values of one length. Arrays share one buffer of them,
// which never changes, for as long as one of them holds it.
type equalOffsets[O int32 | int64] struct {
	mu sync.Mutex
	of [MaxEqual + 1]weak.Pointer[memory.Buffer] // by length
}

var (
	equalOffsets32 equalOffsets[int32]
	equalOffsets64 equalOffsets[int64]
)

// equalOffsetsOf gives the offsets of n values of a length up to MaxEqual. They must fit into O.
func equalOffsetsOf[O int32 | int64](n, length int) *memory.Buffer {
	if sizeOf[O]() == 4 {
		return equalOffsets32.get(n, length)
	}
	return equalOffsets64.get(n, length)
}

func (s *equalOffsets[O]) get(n, length int) *memory.Buffer {
	size := (n + 1) * sizeOf[O]()
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.of[length].Value()
	if all == nil || all.Len() < size {
		all = memory.NewBufferBytes(arrowutil.Arbitrary(size))
		for i, at := 0, arrowutil.As[O](all.Bytes()); i < len(at); i++ {
			at[i] = O(i * length)
		}
		s.of[length] = weak.Make(all)
	}
	return memory.SliceBuffer(all, 0, size)
}
