package stripe

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
)

// overrun is how far beyond the end of the values a decoder may write.
const overrun = 64

// bytesReader reads a node of byte strings stored as such: String, Binary,
// Guid, FixedSizeBinary. O is the width of Arrow's offsets.
type bytesReader[O int32 | int64] struct {
	dt      arrow.DataType
	options ReadOptions
	data    *blockReader
	fixed   int  // length of every value, 0 if it varies
	nulls   bool // a value may be null
	text    bool // values must be valid UTF-8
	mean    int  // expected bytes of a value
	spare   atomic.Pointer[spareBytes]
}

// spareBytes is a decoded block of byte strings; see [spareBlock].
type spareBytes struct {
	first   uint64
	n       int
	data    []byte
	offsets []int64 // n+1, or none for fixed lengths
	valid   []byte
}

// bytesColumn is an array of byte strings in the making.
type bytesColumn[O int32 | int64] struct {
	offsets *memory.Buffer // nil for fixed lengths
	ends    []O            // the offsets from the second on
	data    *memory.Buffer
	size    int // bytes of values so far
	valid   *memory.Buffer
	nulls   int
	limit   int64
}

func (r *bytesReader[O]) newColumn(n int, nulls bool) (*bytesColumn[O], error) {
	c := &bytesColumn[O]{limit: r.options.MaxArrayBytes}
	if int64(n)*int64(max(r.fixed, 8)) > c.limit {
		return nil, ErrBatchTooLarge
	}
	c.data = arrowutil.NewBuffer(r.options.Allocator, 0)
	c.data.Reserve(int(min(int64(n)*int64(r.mean), c.limit)) + overrun)
	if r.fixed == 0 {
		c.offsets = arrowutil.NewBuffer(r.options.Allocator, sizeOf[O]()*(n+1))
		all := arrowutil.As[O](c.offsets.Bytes())
		all[0] = 0
		c.ends = all[1:]
	}
	if nulls {
		c.valid = arrowutil.NewZeroBuffer(r.options.Allocator, (n+7)/8)
	}
	return c, nil
}

// room makes room for n more bytes of values and returns it, with a capacity
// that a decoder may overrun into.
func (c *bytesColumn[O]) room(n int) ([]byte, error) {
	size := c.size + n
	if int64(size) > c.limit || c.offsets != nil && int64(O(size)) != int64(size) {
		return nil, ErrBatchTooLarge
	}
	if size+overrun > c.data.Cap() {
		c.data.Reserve(max(size, min(2*c.data.Cap(), int(min(c.limit, math.MaxInt))) /* as append grows */) + overrun)
	}
	c.data.ResizeNoShrink(size)
	buf := c.data.Buf()
	return buf[c.size:size:min(size+overrun, cap(buf))], nil
}

func (r *bytesReader[O]) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	c, err := r.newColumn(int(to-from), r.nulls)
	if err != nil {
		return nil, err
	}
	err = r.data.each(ctx, w, uint64(from), uint64(to), func(e blockmap.Entry, block []byte) error {
		lo, hi := max(uint64(from), e.First), min(uint64(to), e.First+uint64(e.N))
		at := int(lo - uint64(from))
		if int(hi-lo) == e.N {
			return r.decode(w, e, block, c, at)
		}
		return r.decodePart(w, e, block, c, at, int(lo-e.First), int(hi-e.First))
	})
	if err != nil {
		releaseAll(c.offsets, c.data, c.valid)
		return nil, err
	}
	return c.array(r.dt, int(to-from)), nil
}

func (r *bytesReader[O]) parse(w *worker, e blockmap.Entry, block []byte) (*bytestring.Block, error) {
	return bytestring.Parse(block, e.N, r.fixed,
		bytestring.BlockOptions{Checksums: r.data.checksums, MaxDecoded: r.options.blockBytes(len(block))}, &w.bytes)
}

// decode decodes a whole block to its place.
func (r *bytesReader[O]) decode(w *worker, e blockmap.Entry, block []byte, c *bytesColumn[O], at int) error {
	b, err := r.parse(w, e, block)
	if err != nil {
		return err
	}
	dst, err := c.room(b.DataLen())
	if err != nil {
		return err
	}
	var ends []O
	if c.offsets != nil {
		ends = c.ends[at : at+e.N]
	}
	if err := bytestring.Decode(b, dst, ends, O(c.size)); err != nil {
		return err
	}
	c.size += len(dst)
	if c.valid != nil {
		b.Validity(c.valid.Bytes(), at)
	}
	return r.countNulls(b.Nulls(), &c.nulls)
}

func (r *bytesReader[O]) countNulls(n int, sum *int) error {
	if n > 0 && !r.nulls {
		return fault.Corruptf("%d nulls in a column whose descriptor counts none", n)
	}
	*sum += n
	return nil
}

// decodePart decodes a block that reaches beyond the range that is read, and
// copies its values from lo up to hi.
func (r *bytesReader[O]) decodePart(w *worker, e blockmap.Entry, block []byte, c *bytesColumn[O], at, lo, hi int) error {
	s := r.spare.Swap(nil)
	if s == nil {
		s = &spareBytes{n: -1}
	}
	if s.first != e.First || s.n != e.N {
		s.n = -1
		if err := r.decodeSpare(w, e, block, s); err != nil {
			return err
		}
		s.first, s.n = e.First, e.N
	}
	defer r.spare.Store(s)
	start, end := lo*r.fixed, hi*r.fixed
	if r.fixed == 0 {
		start, end = int(s.offsets[lo]), int(s.offsets[hi])
	}
	dst, err := c.room(end - start)
	if err != nil {
		return err
	}
	copy(dst, s.data[start:end])
	if r.fixed == 0 {
		shift := int64(c.size - start)
		for i, end := range s.offsets[lo+1 : hi+1] {
			c.ends[at+i] = O(end + shift)
		}
	}
	c.size += len(dst)
	if c.valid != nil {
		valid := bitmap.Bits{Data: s.valid, Off: lo, Len: hi - lo}
		valid.CopyTo(c.valid.Bytes(), at)
		c.nulls += valid.Nulls()
	}
	return nil
}

func (r *bytesReader[O]) decodeSpare(w *worker, e blockmap.Entry, block []byte, s *spareBytes) error {
	b, err := r.parse(w, e, block)
	if err != nil {
		return err
	}
	var ends []int64
	if r.fixed == 0 {
		slice(&s.offsets, e.N+1)[0] = 0
		ends = s.offsets[1:]
	}
	if err := bytestring.Decode(b, slice(&s.data, b.DataLen()), ends, int64(0)); err != nil {
		return err
	}
	clear(slice(&s.valid, (e.N+7)/8))
	b.Validity(s.valid, 0)
	nulls := 0
	return r.countNulls(b.Nulls(), &nulls)
}

// array makes the array and hands the buffers over to it.
func (c *bytesColumn[O]) array(dt arrow.DataType, n int) arrow.Array {
	if c.nulls == 0 && c.valid != nil {
		c.valid.Release()
		c.valid = nil
	}
	buffers := []*memory.Buffer{c.valid, c.data}
	if c.offsets != nil {
		buffers = []*memory.Buffer{c.valid, c.offsets, c.data}
	}
	return arrowutil.Make(dt, n, buffers, nil, c.nulls)
}

func sizeOf[O int32 | int64]() int {
	if int64(O(math.MaxInt32)+1) < 0 {
		return 4
	}
	return 8
}
