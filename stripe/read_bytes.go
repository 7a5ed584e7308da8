package stripe

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// overrun is how far beyond the end of the values a decoder may write.
const overrun = 64

// bytesReader reads a node of byte strings stored as such: String, Binary,
// Guid, FixedSizeBinary. O is the width of Arrow's offsets.
type bytesReader[O int32 | int64] struct {
	dt    arrow.DataType
	data  *blockReader
	fixed int  // length of every value, 0 if it varies
	nulls bool // a value may be null
	text  bool // values must be valid UTF-8
	mean  int  // expected bytes of a value
	spare atomic.Pointer[spareBytes]
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
		return nil, ErrBatchTooLarge
	}
	c.data = arrowutil.NewBuffer(w.options.Allocator, 0)
	c.data.Reserve(int(min(likely, c.limit)) + overrun)
	if nulls {
		c.valid = arrowutil.NewZeroBuffer(w.options.Allocator, (n+7)/8)
	}
	return c, nil
}

// newSteps is newColumn for values that all have the same length.
func (r *bytesReader[O]) newSteps(w *worker, n, length int, nulls bool) (*bytesColumn[O], error) {
	size := int64(n) * int64(length)
	if size > maxOf[O]() {
		return nil, ErrBatchTooLarge
	}
	c, err := r.beginColumn(w, n, size, nulls)
	if err == nil {
		c.offsets = stepsOf[O](n, length)
	}
	return c, err
}

// likely is how many bytes the values of rows probably have, and some more: as
// much as they should by the encoded size of their blocks. Memory that was
// reserved too small is copied.
func (r *bytesReader[O]) likely(rows rowset.Set) int64 {
	n := rows.Len()
	if r.fixed > 0 || n == 0 || r.data.blocks.DataSize() <= 0 {
		return n * int64(r.mean)
	}
	bounds := rows.Bounds()
	from, to := uint64(bounds.From), uint64(bounds.To)
	if to > r.data.blocks.Values() || to-from > 2*uint64(n) {
		return n * int64(r.mean)
	}
	first, _, start, _ := r.data.blocks.Block(r.data.blocks.Find(from))
	last, count, end, size := r.data.blocks.Block(r.data.blocks.Find(to - 1))
	perRow := float64(end-start+int64(size)) / float64(last-first+uint64(count))
	mean := float64(r.data.blocks.DataSize()) / float64(r.data.blocks.Values())
	return int64(float64(n) * float64(r.mean) * min(perRow/mean, 2) * 9 / 8)
}

// room makes room for n more bytes of values and returns it, with a capacity
// that a decoder may overrun into.
func (c *bytesColumn[O]) room(n int) ([]byte, error) {
	size := c.size + n
	if int64(size) > c.limit || c.offsets != nil && int64(size) > maxOf[O]() {
		return nil, ErrBatchTooLarge
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

func (r *bytesReader[O]) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.data.need(w, rows, add)
}

func (r *bytesReader[O]) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	c, err := r.newColumn(w, int(rows.Len()), r.likely(rows), r.nulls)
	if err != nil {
		return nil, err
	}
	err = r.data.each(ctx, w, rows, func(p *part, block []byte) error {
		switch {
		case p.whole():
			return r.decode(w, p, block, c)
		case p.sparse():
			return r.decodeSome(w, p, block, c)
		}
		return r.decodePart(w, p, block, c)
	})
	if err != nil {
		releaseAll(c.offsets, c.data, c.valid)
		return nil, err
	}
	return c.array(r.dt, int(rows.Len())), nil
}

func (r *bytesReader[O]) parse(w *worker, p *part, block []byte) (*bytestring.Block, error) {
	return bytestring.Parse(block, p.N, r.fixed,
		bytestring.BlockOptions{Checksums: r.data.options.Checksums, MaxDecoded: w.options.blockBytes(len(block))}, &w.bytes)
}

// decode decodes a whole block to its place.
func (r *bytesReader[O]) decode(w *worker, p *part, block []byte, c *bytesColumn[O]) error {
	b, err := r.parse(w, p, block)
	if err != nil {
		return err
	}
	dst, err := c.room(b.DataLen())
	if err != nil {
		return err
	}
	var ends []O
	if c.offsets != nil {
		ends = c.ends[p.at : p.at+p.N]
	}
	if err := bytestring.Decode(b, dst, ends, O(c.size)); err != nil {
		return err
	}
	c.size += len(dst)
	if c.valid != nil {
		b.Validity(c.valid.Bytes(), p.at)
	}
	c.nulls += b.Nulls()
	return checkNulls(b.Nulls(), r.nulls)
}

// decodeSome decodes a few values of a block.
func (r *bytesReader[O]) decodeSome(w *worker, p *part, block []byte, c *bytesColumn[O]) error {
	b, err := r.parse(w, p, block)
	if err != nil {
		return err
	}
	return r.decodeRows(w, p, b, c)
}

// decodeRows decodes the rows of a part out of a parsed block.
func (r *bytesReader[O]) decodeRows(w *worker, p *part, b *bytestring.Block, c *bytesColumn[O]) error {
	b.Want(int(p.rows.Bounds().To))
	at := p.at
	for rows := range p.rows.Ranges() {
		from, to := int(rows.From), int(rows.To)
		dst, err := c.room(b.RangeLen(from, to))
		if err != nil {
			return err
		}
		var ends []O
		if c.offsets != nil {
			ends = c.ends[at : at+to-from]
		}
		if err := bytestring.DecodeRange(b, from, to, dst, ends, O(c.size)); err != nil {
			return err
		}
		c.size += len(dst)
		at += to - from
	}
	if c.valid != nil && b.Nulls() > 0 {
		bits := slice(&w.bits, (b.Len()+7)/8)
		clear(bits)
		b.Validity(bits, 0)
		c.nulls += pickBits(c.valid.Bytes(), p.at, bitmap.Bits{Data: bits, Len: b.Len()}, p.rows)
		return nil
	}
	if c.valid != nil {
		bitmap.SetRange(c.valid.Bytes(), p.at, p.n)
	}
	return checkNulls(b.Nulls(), r.nulls)
}

// decodePart decodes a block that is needed in part, and copies the rows.
func (r *bytesReader[O]) decodePart(w *worker, p *part, block []byte, c *bytesColumn[O]) error {
	s := r.spare.Swap(nil)
	if s == nil {
		s = &spareBytes{n: -1}
	}
	if s.first != p.First || s.n != p.N {
		s.n = -1
		if err := r.decodeSpare(w, p, block, s); err != nil {
			return err
		}
		s.first, s.n = p.First, p.N
	}
	defer r.spare.Store(s)
	at := p.at
	for rows := range p.rows.Ranges() {
		if err := c.copyOf(s, r.fixed, at, int(rows.From), int(rows.To)); err != nil {
			return err
		}
		at += int(rows.To - rows.From)
	}
	if c.valid != nil {
		c.nulls += pickBits(c.valid.Bytes(), p.at, bitmap.Bits{Data: s.valid, Len: p.N}, p.rows)
	}
	return nil
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

func (r *bytesReader[O]) decodeSpare(w *worker, p *part, block []byte, s *spareBytes) error {
	b, err := r.parse(w, p, block)
	if err != nil {
		return err
	}
	var ends []int64
	if r.fixed == 0 {
		slice(&s.offsets, p.N+1)[0] = 0
		ends = s.offsets[1:]
	}
	if err := bytestring.Decode(b, slice(&s.data, b.DataLen()), ends, int64(0)); err != nil {
		return err
	}
	clear(slice(&s.valid, (p.N+7)/8))
	b.Validity(s.valid, 0)
	return checkNulls(b.Nulls(), r.nulls)
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
