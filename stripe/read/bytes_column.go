package read

import (
	"math"
	"sync"
	"weak"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// overrun is how far beyond the end of the values a decoder may write.
const overrun = 64

// bytesColumn is an array of byte strings in the making.
type bytesColumn[O int32 | int64] struct {
	offsets *memory.Buffer // nil for fixed lengths
	ends    []O            // the offsets from the second on, nil if they are set
	data    *memory.Buffer
	size    int // bytes of values so far
	valid   *memory.Buffer
	nulls   int
	limit   int64
}

// newColumn begins an array of n values of probably so many bytes.
func (r *bytesReader[O]) newColumn(w *worker, n int, likely int64, nulls bool) (*bytesColumn[O], error) {
	c, err := r.beginColumn(w, n, likely, nulls)
	if err == nil && r.fixed == 0 {
		c.offsets = arrowutil.NewBuffer(w.options.Allocator, sizeOf[O]()*(n+1))
		all := arrowutil.As[O](c.offsets.Bytes())
		all[0] = 0
		c.ends = all[1:]
	}
	return c, err
}

// beginColumn is newColumn without offsets.
func (r *bytesReader[O]) beginColumn(w *worker, n int, likely int64, nulls bool) (*bytesColumn[O], error) {
	c := &bytesColumn[O]{limit: w.options.MaxArrayBytes}
	if int64(n)*int64(max(r.fixed, 8)) > c.limit {
		return nil, fault.ErrBatchTooLarge
	}
	c.data = arrowutil.NewBuffer(w.options.Allocator, 0)
	c.data.Reserve(int(min(likely, c.limit)) + overrun)
	if nulls {
		c.valid = arrowutil.NewZeroBuffer(w.options.Allocator, (n+7)/8)
	}
	return c, nil
}

// newEqualColumn is newColumn for values that all have the same length.
func (r *bytesReader[O]) newEqualColumn(w *worker, n, length int, nulls bool) (*bytesColumn[O], error) {
	size := int64(n) * int64(length)
	if size > maxOf[O]() {
		return nil, fault.ErrBatchTooLarge
	}
	c, err := r.beginColumn(w, n, size, nulls)
	if err == nil {
		c.offsets = equalOffsetsOf[O](n, length)
	}
	return c, err
}

// room makes room for n more bytes of values and returns it, with a capacity
// that a decoder may overrun into.
func (c *bytesColumn[O]) room(n int) ([]byte, error) {
	size := c.size + n
	if int64(size) > c.limit || c.offsets != nil && int64(size) > maxOf[O]() {
		return nil, fault.ErrBatchTooLarge
	}
	if size+overrun > c.data.Cap() {
		c.data.Reserve(max(size, min(2*c.data.Cap(), int(min(c.limit, math.MaxInt))) /* as append grows */) + overrun)
	}
	c.data.ResizeNoShrink(size)
	buf := c.data.Buf()
	return buf[c.size:size:min(size+overrun, cap(buf))], nil
}

// free is all the room that there is for more values, nil if n bytes may not fit.
func (c *bytesColumn[O]) free(n uint64) []byte {
	end := min(int64(c.data.Cap()), c.limit)
	if c.offsets != nil {
		end = min(end, maxOf[O]())
	}
	if n > uint64(max(0, end-int64(c.size))) {
		return nil
	}
	return c.data.Buf()[c.size:end]
}

// copyOf appends the values from lo up to hi of a decoded block.
func (c *bytesColumn[O]) copyOf(s *spareBytes, fixed, at, lo, hi int) error {
	start, end := lo*fixed, hi*fixed
	if fixed == 0 {
		start, end = int(s.offsets[lo]), int(s.offsets[hi])
	}
	dst, err := c.room(end - start)
	if err != nil {
		return err
	}
	copy(dst, s.data[start:end])
	if fixed == 0 {
		shift := int64(c.size - start)
		for i, end := range s.offsets[lo+1 : hi+1] {
			c.ends[at+i] = O(end + shift)
		}
	}
	c.size += len(dst)
	return nil
}

// array makes the array and hands the buffers over to it.
func (c *bytesColumn[O]) array(dt arrow.DataType, n int) arrow.Array {
	c.data.ResizeNoShrink(c.size)
	valid := withNulls(c.valid, c.nulls)
	buffers := []*memory.Buffer{valid, c.data}
	if c.offsets != nil {
		buffers = []*memory.Buffer{valid, c.offsets, c.data}
	}
	return arrowutil.Make(dt, n, buffers, nil, c.nulls)
}

func maxOf[O int32 | int64]() int64 {
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

// mostShared is the longest length of values whose offsets are shared.
const mostShared = 64

// equalOffsets are offsets that say only that all values have the same length. Whoever
// needs them shares one buffer, which nobody changes, for as long as an array holds it.
type equalOffsets[O int32 | int64] struct {
	mu sync.Mutex
	of [mostShared + 1]weak.Pointer[memory.Buffer] // by length
}

var (
	equalOffsets32 equalOffsets[int32]
	equalOffsets64 equalOffsets[int64]
)

// equalOffsetsOf gives the offsets of n values of a length up to mostShared. They must fit into O.
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
