package read

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/blocks"
	"github.com/amudai/amudai-go/stripe/internal/rules"
)

func (n *openNode) openPrimitive(ctx context.Context) (nodeReader, error) {
	signed := n.col.Stored.Signed
	switch n.col.Stored.Type {
	case schema.Int8:
		if signed {
			return openNumbers[int8](ctx, n)
		}
		return openNumbers[uint8](ctx, n)
	case schema.Int16:
		if signed {
			return openNumbers[int16](ctx, n)
		}
		return openNumbers[uint16](ctx, n)
	case schema.Int32:
		if signed {
			return openNumbers[int32](ctx, n)
		}
		return openNumbers[uint32](ctx, n)
	case schema.Int64:
		if signed {
			return openNumbers[int64](ctx, n)
		}
		return openNumbers[uint64](ctx, n)
	case schema.Float32:
		return openNumbers[float32](ctx, n)
	case schema.Float64:
		return openNumbers[float64](ctx, n)
	}
	return openNumbers[uint64](ctx, n) // DateTime
}

func openNumbers[T numeric.Value](ctx context.Context, n *openNode) (nodeReader, error) {
	store, err := rules.StorerOf[T](n.col)
	if err != nil {
		return nil, err
	}
	if n.field.DictionarySize != nil {
		return nil, fault.Unsupportedf("value dictionary of numbers")
	}
	if err := n.only(shardpb.BufferKind_DATA); err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	return &primitiveReader[T]{dt: n.col.Plain, data: data, nulls: n.nullable(), store: store, stored: storedOf[T](n.col.Rule, n.col.Unit)}, nil
}

// primitiveReader reads a node of fixed-width numbers.
type primitiveReader[T numeric.Value] struct {
	dt    arrow.DataType
	data  *blocks.Reader
	nulls bool // a value may be null
	store rules.Storer[T]
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
	r.data.Need(&w.Scratch, rows, add)
}

func (r *primitiveReader[T]) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	count := rows.Len()
	if count > w.options.MaxArrayBytes/8 {
		return nil, fault.ErrBatchTooLarge
	}
	n := int(count)
	out := newFixedColumn(w, n, r.store.Width, r.nulls)
	err := r.data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		if p.Whole() {
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
func (r *primitiveReader[T]) decode(w *worker, p *blocks.Part, block []byte, out *fixedColumn) error {
	dst := out.values.Bytes()[p.At*r.store.Width : (p.At+p.N)*r.store.Width]
	var bits []byte
	if out.valid != nil {
		bits = out.valid.Bytes()
	}
	if r.store.Convert == nil {
		return r.decodeTo(w, arrowutil.As[T](dst), bits, p.At, block, out)
	}
	if r.store.Decode != nil {
		nulls, err := r.store.Decode(dst, bits, p.At, block, r.data.Options, &w.numeric)
		if !errors.Is(err, numeric.ErrChange) {
			return r.count(nulls, err, out)
		}
	}
	src := r.scratch(w, p.N)
	if err := r.decodeTo(w, src, bits, p.At, block, out); err != nil {
		return err
	}
	return r.store.Convert(dst, src, bitmap.Bits{Data: bits, Off: p.At, Len: p.N})
}

func (r *primitiveReader[T]) decodeTo(w *worker, dst []T, bits []byte, at int, block []byte, out *fixedColumn) error {
	nulls, err := numeric.DecodeBlock(dst, bits, at, block, r.data.Options, &w.numeric)
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
	return arrowutil.As[T](arrowutil.Bytes(scratch.Slice(&w.words, n)))[:n]
}

// decodePart decodes a block that is needed in part, and copies the rows.
func (r *primitiveReader[T]) decodePart(w *worker, p *blocks.Part, block []byte, out *fixedColumn) error {
	s := r.spare.Swap(nil)
	if s == nil {
		s = &spareBlock[T]{first: ^uint64(0)}
	}
	if s.first != p.First || len(s.values) != p.N {
		if p.Sparse() {
			r.spare.Store(s)
			return r.decodeRows(w, p, block, out)
		}
		s.first = ^uint64(0)
		values := scratch.Slice(&s.values, p.N)
		if r.nulls {
			clear(scratch.Slice(&s.valid, (p.N+7)/8))
		}
		if err := r.decodeTo(w, values, s.valid, 0, block, &fixedColumn{}); err != nil {
			return err
		}
		s.first = p.First
	}
	defer r.spare.Store(s)
	valid := bitmap.All(p.Count)
	if r.nulls {
		valid = bitmap.Bits{Data: out.valid.Bytes(), Off: p.At, Len: p.Count}
		out.nulls += pickBits(valid.Data, p.At, bitmap.Bits{Data: s.valid, Len: p.N}, p.Rows)
	}
	dst := out.values.Bytes()[p.At*r.store.Width : (p.At+p.Count)*r.store.Width]
	if r.store.Convert == nil {
		rowset.Pick(arrowutil.As[T](dst), s.values, p.Rows)
		return nil
	}
	picked := r.scratch(w, p.Count)
	rowset.Pick(picked, s.values, p.Rows)
	return r.store.Convert(dst, picked, valid)
}

// decodeRows decodes a few values of a block, without the others where its
// encoding allows that.
func (r *primitiveReader[T]) decodeRows(w *worker, p *blocks.Part, block []byte, out *fixedColumn) error {
	dst := out.values.Bytes()[p.At*r.store.Width : (p.At+p.Count)*r.store.Width]
	values, bits := arrowutil.As[T](dst), []byte(nil)
	if r.store.Convert != nil {
		values = r.scratch(w, p.Count)
	}
	if out.valid != nil {
		bits = out.valid.Bytes()
	}
	nulls, err := numeric.DecodeRows(values, bits, p.At, block, p.N, p.Rows, r.data.Options, &w.numeric)
	if err := r.count(nulls, err, out); err != nil || r.store.Convert == nil {
		return err
	}
	return r.store.Convert(dst, values, bitmap.Bits{Data: bits, Off: p.At, Len: p.Count})
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
