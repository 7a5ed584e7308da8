package stripe

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// storer turns stored values into the bytes of an Arrow buffer. With convert
// nil the two are the same, and blocks are decoded straight into the buffer.
type storer[T any] struct {
	width   int // bytes of an Arrow value
	convert func(dst []byte, src []T, valid bitmap.Bits) error
	// decode decodes a block straight to Arrow values; numeric.ErrChange means that
	// convert has to look at the values one by one. nil if there is no such way.
	decode blockDecoder
}

// blockDecoder decodes a block to the bytes of an Arrow buffer; see numeric.DecodeBlock.
type blockDecoder func(dst []byte, validity []byte, at int, block []byte, o numeric.BlockOptions, s *numeric.Scratch) (nulls int, err error)

// primitiveReader reads a node of fixed-width numbers.
type primitiveReader[T numeric.Value] struct {
	dt    arrow.DataType
	data  *blockReader
	nulls bool // a value may be null
	store storer[T]
	// stored are the stored values that become some numbers, nil if those cannot
	// be told.
	stored func(n *Numbers) []numeric.Interval[T]
	spare  atomic.Pointer[spareBlock[T]]
}

// spareBlock is a decoded block that straddled the end of the last read: the
// next one usually begins inside it.
type spareBlock[T any] struct {
	first  uint64
	values []T
	valid  []byte
}

func (r *primitiveReader[T]) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.data.need(w, rows, add)
}

func (r *primitiveReader[T]) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	count := rows.Len()
	if count > w.options.MaxArrayBytes/8 {
		return nil, ErrBatchTooLarge
	}
	n := int(count)
	out := newFixedColumn(w, n, r.store.width, r.nulls)
	err := r.data.each(ctx, w, rows, func(p *part, block []byte) error {
		if p.whole() {
			return r.decode(w, p, block, out)
		}
		return r.decodePart(w, p, block, out)
	})
	if err != nil {
		out.release()
		return nil, err
	}
	return out.array(r.dt, n), nil
}

// decode decodes a whole block to its place.
func (r *primitiveReader[T]) decode(w *worker, p *part, block []byte, out *fixedColumn) error {
	dst := out.values.Bytes()[p.at*r.store.width : (p.at+p.N)*r.store.width]
	var bits []byte
	if out.valid != nil {
		bits = out.valid.Bytes()
	}
	if r.store.convert == nil {
		return r.decodeTo(w, arrowutil.As[T](dst), bits, p.at, block, out)
	}
	if r.store.decode != nil {
		nulls, err := r.store.decode(dst, bits, p.at, block, r.data.options, &w.numeric)
		if !errors.Is(err, numeric.ErrChange) {
			return r.count(nulls, err, out)
		}
	}
	src := r.scratch(w, p.N)
	if err := r.decodeTo(w, src, bits, p.at, block, out); err != nil {
		return err
	}
	return r.store.convert(dst, src, bitmap.Bits{Data: bits, Off: p.at, Len: p.N})
}

func (r *primitiveReader[T]) decodeTo(w *worker, dst []T, bits []byte, at int, block []byte, out *fixedColumn) error {
	nulls, err := numeric.DecodeBlock(dst, bits, at, block, r.data.options, &w.numeric)
	return r.count(nulls, err, out)
}

// count adds the nulls of a block that was decoded.
func (r *primitiveReader[T]) count(nulls int, err error, out *fixedColumn) error {
	if err != nil {
		return err
	}
	out.nulls += nulls
	return checkNulls(nulls, r.nulls)
}

// scratch is room for n stored values.
func (r *primitiveReader[T]) scratch(w *worker, n int) []T {
	return arrowutil.As[T](arrowutil.Bytes(slice(&w.words, n)))[:n]
}

// decodePart decodes a block that is needed in part, and copies the rows.
func (r *primitiveReader[T]) decodePart(w *worker, p *part, block []byte, out *fixedColumn) error {
	s := r.spare.Swap(nil)
	if s == nil {
		s = &spareBlock[T]{first: ^uint64(0)}
	}
	if s.first != p.First || len(s.values) != p.N {
		if p.sparse() {
			r.spare.Store(s)
			return r.decodeRows(w, p, block, out)
		}
		s.first = ^uint64(0)
		values := slice(&s.values, p.N)
		if r.nulls {
			clear(slice(&s.valid, (p.N+7)/8))
		}
		if err := r.decodeTo(w, values, s.valid, 0, block, &fixedColumn{}); err != nil {
			return err
		}
		s.first = p.First
	}
	defer r.spare.Store(s)
	valid := bitmap.All(p.n)
	if r.nulls {
		valid = bitmap.Bits{Data: out.valid.Bytes(), Off: p.at, Len: p.n}
		out.nulls += pickBits(valid.Data, p.at, bitmap.Bits{Data: s.valid, Len: p.N}, p.rows)
	}
	dst := out.values.Bytes()[p.at*r.store.width : (p.at+p.n)*r.store.width]
	if r.store.convert == nil {
		rowset.Pick(arrowutil.As[T](dst), s.values, p.rows)
		return nil
	}
	picked := r.scratch(w, p.n)
	rowset.Pick(picked, s.values, p.rows)
	return r.store.convert(dst, picked, valid)
}

// decodeRows decodes a few values of a block, without the others where its
// encoding allows that.
func (r *primitiveReader[T]) decodeRows(w *worker, p *part, block []byte, out *fixedColumn) error {
	dst := out.values.Bytes()[p.at*r.store.width : (p.at+p.n)*r.store.width]
	values, bits := arrowutil.As[T](dst), []byte(nil)
	if r.store.convert != nil {
		values = r.scratch(w, p.n)
	}
	if out.valid != nil {
		bits = out.valid.Bytes()
	}
	nulls, err := numeric.DecodeRows(values, bits, p.at, block, p.N, p.rows, r.data.options, &w.numeric)
	if err := r.count(nulls, err, out); err != nil || r.store.convert == nil {
		return err
	}
	return r.store.convert(dst, values, bitmap.Bits{Data: bits, Off: p.at, Len: p.n})
}

// fixedColumn is an array of fixed-width values in the making.
type fixedColumn struct {
	values *memory.Buffer
	valid  *memory.Buffer // nil if no value can be null
	nulls  int
}

func newFixedColumn(w *worker, n, width int, nullable bool) *fixedColumn {
	c := &fixedColumn{values: arrowutil.NewBuffer(w.options.Allocator, n*width)}
	if nullable {
		c.valid = arrowutil.NewZeroBuffer(w.options.Allocator, (n+7)/8)
	}
	return c
}

// array makes the array and hands the buffers over to it.
func (c *fixedColumn) array(dt arrow.DataType, n int) arrow.Array {
	return arrowutil.Make(dt, n, []*memory.Buffer{withNulls(c.valid, c.nulls), c.values}, nil, c.nulls)
}

// withNulls is a validity bitmap that has some nulls; others are released.
func withNulls(valid *memory.Buffer, nulls int) *memory.Buffer {
	if nulls == 0 && valid != nil {
		valid.Release()
		return nil
	}
	return valid
}

func (c *fixedColumn) release() {
	c.values.Release()
	if c.valid != nil {
		c.valid.Release()
	}
}
