package read

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// present makes the reader of a node of flat values that has a PRESENCE buffer beside those that values reads.
func (n *openNode) present(ctx context.Context, values nodeReader) (*presentReader, error) {
	bits, err := n.presence(ctx)
	if err != nil {
		return nil, err
	}
	r := &presentReader{values: values, presence: bits, nullable: n.nullable()}
	if n.field.DictionarySize != nil || stripe.FindBuffer(n.buffers, shardpb.BufferKind_DATA).GetEmbeddedPresence() {
		r.own, _ = values.(validity)
	}
	return r, nil
}

// presentReader reads a node of flat values with a PRESENCE buffer. The values may have nulls of their own: what is null in either is null.
type presentReader struct {
	values   nodeReader
	presence *work.Bits
	nullable bool
	own      validity // nil if only the buffer has nulls
}

func (r *presentReader) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.presence.Need(w, rows, add)
	r.values.Need(w, rows, add)
}

func (r *presentReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	values, err := r.values.Read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return r.masked(ctx, w, rows, values)
}

// masked are values of rows, which are null where the buffer says so, too.
func (r *presentReader) masked(ctx context.Context, w *work.Worker, rows rowset.Set, values arrow.Array) (arrow.Array, error) {
	if n := values.NullN(); n > 0 && r.own == nil {
		return nil, fault.Corruptf("%d nulls in blocks of values, whose descriptor says that they have none", n)
	}
	valid, nulls, err := r.presence.Validity(ctx, w, rows)
	if err == nil {
		err = r.presence.Data.Wrap(checkNulls(nulls, r.nullable))
	}
	defer build.Release(valid)
	if err != nil {
		return nil, err
	}
	if valid == nil {
		values.Retain()
		return values, nil
	}
	return arrowutil.Mask(w.Limits.Allocator, values, bitmap.Bits{Data: valid.Bytes(), Len: values.Len()})
}

// presentNumbers reads numbers with a PRESENCE buffer. They are converted when their nulls are known, as anything may be stored for a null.
type presentNumbers[T numeric.Value] struct {
	*presentReader
	numbers *primitiveReader[T] // the stored ones
	dt      arrow.DataType
	store   rules.Storer[T]
}

func (r *presentNumbers[T]) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	stored, err := r.presentReader.Read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer stored.Release()
	n := stored.Len()
	valid, values := stored.Data().Buffers()[0], stored.Data().Buffers()[1]
	if valid != nil {
		valid.Retain()
	}
	if r.store.Convert == nil {
		values.Retain()
		return arrowutil.Make(r.dt, n, []*memory.Buffer{valid, values}, nil, stored.NullN()), nil
	}
	out := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), n*r.store.Width)
	if err := r.store.Convert(out.Bytes(), arrowutil.As[T](values.Bytes())[:n], arrowutil.Validity(stored)); err != nil {
		build.Release(valid, out)
		return nil, err
	}
	return arrowutil.Make(r.dt, n, []*memory.Buffer{valid, out}, nil, stored.NullN()), nil
}

func (r *presentNumbers[T]) finds() bool { return r.numbers.finds() }

func (r *presentNumbers[T]) selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error) {
	return r.and(ctx, w, rows, func() ([]byte, error) { return r.numbers.selectNumbers(ctx, w, rows, n) })
}

// validity is a reader that tells which rows are not null without their values.
type validity interface {
	// Valid is a bit for each row, set if it is not null.
	Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error)
}

// FindNulls returns those of the rows whose value is null, or with not those whose value is not. It decodes no values, and reads none where nulls
// are apart from them. ok is false if the reader of the column cannot do this.
func (c *Column) FindNulls(ctx context.Context, rows rowset.Set, not bool, o *table.ReadOptions) (out rowset.Set, ok bool, err error) {
	r, ok := nodeAs[validity](c)
	if !ok {
		return out, false, nil
	}
	out, err = c.selected(rows, o, func(w *work.Worker) ([]byte, error) {
		bits, err := r.Valid(ctx, w, rows)
		for i := range bits {
			if !not {
				bits[i] = ^bits[i]
			}
		}
		return bits, err
	})
	return out, true, err
}

func (r *primitiveReader[T]) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return validOf(ctx, r.data, w, rows, r.nulls)
}

func (r *bytesReader[O]) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return validOf(ctx, r.data, w, rows, r.nulls)
}

// Valid asks for all codes but that of null.
func (r *codesReader[O]) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	dict, _, err := r.dict.Load(ctx)
	if err != nil {
		return nil, err
	}
	keep := bytes.Repeat([]byte{1}, dict.Len())
	if null, ok := dict.NullID(); ok && int(null) < len(keep) {
		keep[null] = 0
	}
	return r.selectCodes(ctx, w, rows, keep)
}

// validOf reads the nulls in the blocks of a buffer.
func validOf(ctx context.Context, data *blocks.Reader, w *work.Worker, rows rowset.Set, nullable bool) ([]byte, error) {
	return work.SelectRows(ctx, data, w, rows, nil, func(p *blocks.Part, block []byte) ([]byte, error) {
		b, err := encoding.ParseBlock(block, data.Options.Checksums)
		if err != nil {
			return nil, err
		}
		bits := scratch.Slice(&w.Bits, (p.N+7)/8)
		nulls, err := encoding.DecodePresence(b.Presence, p.N, bits, 0)
		if err != nil {
			return nil, fault.In(err, "presence", encoding.BlockHeaderLen)
		}
		return bits, checkNulls(nulls, nullable)
	})
}

// Valid reads the buffer alone, unless the values may have nulls of their own.
func (r *presentReader) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return r.and(ctx, w, rows, func() ([]byte, error) {
		if r.own == nil {
			return nil, nil
		}
		return r.own.Valid(ctx, w, rows)
	})
}

// and is a bit for each row, set if the buffer has it, and find, unless that gives no bits.
func (r *presentReader) and(ctx context.Context, w *work.Worker, rows rowset.Set, find func() ([]byte, error)) ([]byte, error) {
	out, err := r.presence.Valid(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	found, err := find()
	for i := range found {
		out[i] &= found[i]
	}
	return out, err
}
