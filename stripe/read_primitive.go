package stripe

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
)

// storer turns stored values into the bytes of an Arrow buffer. With convert
// nil the two are the same, and blocks are decoded straight into the buffer.
type storer[T any] struct {
	width   int // bytes of an Arrow value
	convert func(dst []byte, src []T, valid bitmap.Bits) error
}

// primitiveReader reads a node of fixed-width numbers.
type primitiveReader[T numeric.Value] struct {
	dt      arrow.DataType
	options ReadOptions
	data    *blockReader
	nulls   bool // a value may be null
	store   storer[T]
	spare   atomic.Pointer[spareBlock[T]]
}

// spareBlock is a decoded block that straddled the end of the last read: the
// next one usually begins inside it.
type spareBlock[T any] struct {
	first  uint64
	values []T
	valid  []byte
}

func (r *primitiveReader[T]) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	if to-from > r.options.MaxArrayBytes/8 {
		return nil, ErrBatchTooLarge
	}
	n := int(to - from)
	out := fixedColumn{values: arrowutil.NewBuffer(r.options.Allocator, n*r.store.width)}
	if r.nulls {
		out.valid = arrowutil.NewZeroBuffer(r.options.Allocator, (n+7)/8)
	}
	err := r.data.each(ctx, w, uint64(from), uint64(to), func(e blockmap.Entry, block []byte) error {
		lo, hi := max(uint64(from), e.First), min(uint64(to), e.First+uint64(e.N))
		at := int(lo - uint64(from))
		if int(hi-lo) == e.N {
			return r.decode(w, e, block, &out, at)
		}
		return r.decodePart(w, e, block, &out, at, int(lo-e.First), int(hi-e.First))
	})
	if err != nil {
		out.release()
		return nil, err
	}
	return out.array(r.dt, n), nil
}

// decode decodes a whole block to its place.
func (r *primitiveReader[T]) decode(w *worker, e blockmap.Entry, block []byte, out *fixedColumn, at int) error {
	dst := out.values.Bytes()[at*r.store.width : (at+e.N)*r.store.width]
	var bits []byte
	if out.valid != nil {
		bits = out.valid.Bytes()
	}
	if r.store.convert == nil {
		return r.decodeTo(w, arrowutil.As[T](dst), bits, at, e, block, out)
	}
	src := arrowutil.As[T](arrowutil.Bytes(slice(&w.words, e.N)))[:e.N]
	if err := r.decodeTo(w, src, bits, at, e, block, out); err != nil {
		return err
	}
	return r.store.convert(dst, src, bitmap.Bits{Data: bits, Off: at, Len: e.N})
}

func (r *primitiveReader[T]) decodeTo(w *worker, dst []T, bits []byte, at int, e blockmap.Entry, block []byte, out *fixedColumn) error {
	nulls, err := numeric.DecodeBlock(dst, bits, at, block, numeric.BlockOptions{Checksums: r.data.checksums}, &w.numeric)
	if err != nil {
		return err
	}
	if nulls > 0 && !r.nulls {
		return fault.Corruptf("%d nulls in a column whose descriptor counts none", nulls)
	}
	out.nulls += nulls
	return nil
}

// decodePart decodes a block that reaches beyond the range that is read, and
// copies its values from lo up to hi.
func (r *primitiveReader[T]) decodePart(w *worker, e blockmap.Entry, block []byte, out *fixedColumn, at, lo, hi int) error {
	s := r.spare.Swap(nil)
	if s == nil {
		s = &spareBlock[T]{first: ^uint64(0)}
	}
	if s.first != e.First || len(s.values) != e.N {
		s.first = ^uint64(0)
		values := slice(&s.values, e.N)
		if r.nulls {
			clear(slice(&s.valid, (e.N+7)/8))
		}
		if err := r.decodeTo(w, values, s.valid, 0, e, block, &fixedColumn{}); err != nil {
			return err
		}
		s.first = e.First
	}
	defer r.spare.Store(s)
	valid := bitmap.All(hi - lo)
	if r.nulls {
		valid = bitmap.Bits{Data: s.valid, Off: lo, Len: hi - lo}
		valid.CopyTo(out.valid.Bytes(), at)
		out.nulls += valid.Nulls()
	}
	dst := out.values.Bytes()[at*r.store.width : (at+hi-lo)*r.store.width]
	if r.store.convert != nil {
		return r.store.convert(dst, s.values[lo:hi], valid)
	}
	copy(arrowutil.As[T](dst), s.values[lo:hi])
	return nil
}

// fixedColumn is an array of fixed-width values in the making.
type fixedColumn struct {
	values *memory.Buffer
	valid  *memory.Buffer // nil if no value can be null
	nulls  int
}

// array makes the array and hands the buffers over to it.
func (c *fixedColumn) array(dt arrow.DataType, n int) arrow.Array {
	if c.nulls == 0 && c.valid != nil {
		c.valid.Release()
		c.valid = nil
	}
	return arrowutil.Make(dt, n, []*memory.Buffer{c.valid, c.values}, nil, c.nulls)
}

func (c *fixedColumn) release() {
	c.values.Release()
	if c.valid != nil {
		c.valid.Release()
	}
}
