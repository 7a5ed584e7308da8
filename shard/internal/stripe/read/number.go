package read

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// openers are the functions for stored numbers.
var openers = stripe.PerNumber[func(context.Context, *openNode) (nodeReader, error)]{
	openNumbers[int8], openNumbers[int16], openNumbers[int32], openNumbers[int64],
	openNumbers[uint8], openNumbers[uint16], openNumbers[uint32], openNumbers[uint64],
	openNumbers[float32], openNumbers[float64],
}

func openNumbers[T numeric.Value](ctx context.Context, n *openNode) (nodeReader, error) {
	store, err := rules.StorerOf[T](n.col)
	if err != nil {
		return nil, err
	}
	if n.field.DictionarySize != nil {
		return openNumberCodes(ctx, n, store)
	}
	data, err := n.data(ctx, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return nil, err
	}
	r := &primitiveReader[T]{dt: n.col.Plain, data: data, nulls: n.nullable(), store: store, stored: rules.StoredOf[T](n.col.Rule, n.col.Unit)}
	if stripe.FindBuffer(n.buffers, shardpb.BufferKind_PRESENCE) == nil {
		return r, nil
	}
	r.dt, r.store = arrow.GetDataType[T](), rules.Storer[T]{Width: numeric.Of[T]().Size()}
	p, err := n.present(ctx, r)
	return &presentNumbers[T]{p, r, n.col.Plain, store}, err
}

// openNumberCodes opens numbers with a value dictionary.
func openNumberCodes[T numeric.Value](ctx context.Context, n *openNode, store rules.Storer[T]) (nodeReader, error) {
	r, err := openCodes[int32](ctx, n, store.Width, store.Dictionary(n.col.Plain))
	if err != nil {
		return nil, err
	}
	if intervals := rules.StoredOf[T](n.col.Rule, n.col.Unit); intervals != nil {
		r.wanted = func(stored []byte, n *rules.Numbers) []byte { return keptIn[T](stored, intervals(n)) }
	}
	if stripe.FindBuffer(n.buffers, shardpb.BufferKind_PRESENCE) == nil {
		return r, nil
	}
	return n.present(ctx, r)
}

// primitiveReader reads a node of fixed-width numbers.
type primitiveReader[T numeric.Value] struct {
	dt    arrow.DataType
	data  *blocks.Reader
	nulls bool // a value may be null
	store rules.Storer[T]
	// stored are the stored values that become some numbers, nil if those cannot
	// be told.
	stored func(n *rules.Numbers) []numeric.Interval[T]
	spare  atomic.Pointer[spareBlock[T]]
}

// spareBlock is a decoded block that straddled the end of the last read: the
// next one usually begins inside it.
type spareBlock[T any] struct {
	first  uint64
	values []T
	valid  []byte
}

func (r *primitiveReader[T]) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.data.Need(&w.Scratch, rows, add)
}

func (r *primitiveReader[T]) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if rows.Len() > w.Limits.MaxArrayBytes/8 {
		return nil, fault.ErrBatchTooLarge
	}
	room := min(rows.Bounds().Len()-rows.Len(), rows.Len()/8) // for rows in between
	out, err := readFixed(ctx, w, r.data, rows, int(room), r.store.Width, r.nulls, func(p *blocks.Part, block []byte, out *build.Fixed) error {
		switch {
		case p.Whole():
			return r.decode(w, p, block, out)
		case p.Dense() && out.Fit(p.At, p.N): // a few rows are not needed, such as deleted ones
			nulls := out.Nulls
			err := r.decode(w, p, block, out)
			if out.Keep(p.At, p.N, p.Rows, nulls); err == nil {
				return nil
			}
			out.Nulls = nulls // the error may be about a row in between
		}
		return r.decodePart(w, p, block, out)
	})
	if err != nil {
		return nil, err
	}
	return out.Array(r.dt), nil
}

// readFixed reads values of a width in bytes: decode puts those of a part of a block into their place. There is room behind them.
func readFixed(ctx context.Context, w *work.Worker, data *blocks.Reader, rows rowset.Set, room, width int, nulls bool, decode func(p *blocks.Part, block []byte, out *build.Fixed) error) (*build.Fixed, error) {
	out := build.NewFixed(w.Limits.Allocator, int(rows.Len()), room, width, nulls)
	err := data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error { return decode(p, block, out) })
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

// decode decodes a whole block to its place.
func (r *primitiveReader[T]) decode(w *work.Worker, p *blocks.Part, block []byte, out *build.Fixed) error {
	dst, bits := out.Slots(p.At, p.N), out.Bits()
	if r.store.Convert == nil {
		return r.decodeTo(w, arrowutil.As[T](dst), bits, p.At, block, out)
	}
	if r.store.Decode != nil {
		nulls, err := r.store.Decode(dst, bits, p.At, block, r.data.Options, &w.Numeric)
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

func (r *primitiveReader[T]) decodeTo(w *work.Worker, dst []T, bits []byte, at int, block []byte, out *build.Fixed) error {
	nulls, err := numeric.DecodeBlock(dst, bits, at, block, r.data.Options, &w.Numeric)
	return r.count(nulls, err, out)
}

// count adds the nulls of a block that was decoded.
func (r *primitiveReader[T]) count(nulls int, err error, out *build.Fixed) error {
	if err != nil {
		return err
	}
	out.Nulls += nulls
	return checkNulls(nulls, r.nulls)
}

// scratch is room for n stored values.
func (r *primitiveReader[T]) scratch(w *work.Worker, n int) []T {
	return arrowutil.As[T](arrowutil.Bytes(scratch.Slice(&w.Words, n)))[:n]
}

// decodePart decodes a block that is needed in part, and copies the rows.
func (r *primitiveReader[T]) decodePart(w *work.Worker, p *blocks.Part, block []byte, out *build.Fixed) error {
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
		if err := r.decodeTo(w, values, s.valid, 0, block, &build.Fixed{}); err != nil {
			return err
		}
		s.first = p.First
	}
	defer r.spare.Store(s)
	valid := bitmap.All(p.Count)
	if r.nulls {
		valid = bitmap.Bits{Data: out.Bits(), Off: p.At, Len: p.Count}
		out.Nulls += rowset.PickBits(valid.Data, p.At, bitmap.Bits{Data: s.valid, Len: p.N}, p.Rows)
	}
	dst := out.Slots(p.At, p.Count)
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
func (r *primitiveReader[T]) decodeRows(w *work.Worker, p *blocks.Part, block []byte, out *build.Fixed) error {
	dst := out.Slots(p.At, p.Count)
	values, bits := arrowutil.As[T](dst), out.Bits()
	if r.store.Convert != nil {
		values = r.scratch(w, p.Count)
	}
	nulls, err := numeric.DecodeRows(values, bits, p.At, block, p.N, p.Rows, r.data.Options, &w.Numeric)
	if err := r.count(nulls, err, out); err != nil || r.store.Convert == nil {
		return err
	}
	return r.store.Convert(dst, values, bitmap.Bits{Data: bits, Off: p.At, Len: p.Count})
}
