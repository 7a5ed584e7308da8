package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/decimal"
	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/fault"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
)

func (n *openNode) openDecimal(ctx context.Context) (nodeReader, error) {
	if n.col.Rule == arrowmap.Same { // the 16 bytes as they are
		return openByteStrings[int32](ctx, n, n.col.Plain)
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA, n.field.GetPositionCount())
	if err != nil {
		return nil, err
	}
	r := &decimalReader{bytesReader: &bytesReader[int32]{
		dt: n.col.Plain, options: n.options, data: data, fixed: decimalWidth, nulls: n.nullable(),
	}}
	if n.col.Rule == arrowmap.DecimalText {
		return &decimalTextReader{r}, nil
	}
	r.store, err = decimalStorerOf(n.col)
	return r, err
}

// decimalReader reads decimals as Arrow decimals of a scale.
type decimalReader struct {
	*bytesReader[int32]
	store storer[decimal.Decimal]
}

func (r *decimalReader) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	if to-from > r.options.MaxArrayBytes/32 {
		return nil, ErrBatchTooLarge
	}
	n := int(to - from)
	out := fixedColumn{values: arrowutil.NewBuffer(r.options.Allocator, n*r.store.width)}
	if r.nulls {
		out.valid = arrowutil.NewZeroBuffer(r.options.Allocator, (n+7)/8)
	}
	err := r.each(ctx, w, from, to, func(at int, values []decimal.Decimal, valid bitmap.Bits) error {
		if out.valid != nil {
			valid.CopyTo(out.valid.Bytes(), at)
		}
		out.nulls += valid.Nulls()
		dst := out.values.Bytes()[at*r.store.width : (at+len(values))*r.store.width]
		return shiftRows(r.store.convert(dst, values, valid), at)
	})
	if err != nil {
		out.release()
		return nil, err
	}
	return out.array(r.dt, n), nil
}

// each calls f for the part of each block that lies in the range, with its
// place in the range.
func (r *decimalReader) each(ctx context.Context, w *worker, from, to int64, f func(at int, values []decimal.Decimal, valid bitmap.Bits) error) error {
	return r.data.each(ctx, w, uint64(from), uint64(to), func(e blockmap.Entry, block []byte) error {
		b, err := r.parse(w, e, block)
		if err != nil {
			return err
		}
		values := arrowutil.As[decimal.Decimal](arrowutil.Bytes(slice(&w.words, 2*e.N)))
		if err := bytestring.Decode(b, arrowutil.Bytes(values), nil, int32(0)); err != nil {
			return err
		}
		valid := bitmap.All(e.N)
		if b.Nulls() > 0 {
			bits := slice(&w.bits, (e.N+7)/8)
			clear(bits)
			if b.Validity(bits, 0); !r.nulls {
				return fault.Corruptf("%d nulls in a column whose descriptor counts none", b.Nulls())
			}
			valid.Data = bits
		}
		lo, hi := max(uint64(from), e.First), min(uint64(to), e.First+uint64(e.N))
		i, j := int(lo-e.First), int(hi-e.First)
		return f(int(lo-uint64(from)), values[i:j], valid.Slice(i, j))
	})
}

// decimalTextReader reads decimals as text.
type decimalTextReader struct{ *decimalReader }

func (r *decimalTextReader) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	b := array.NewBuilder(r.options.Allocator, r.dt)
	defer b.Release()
	text := b.(array.StringLikeBuilder)
	err := r.each(ctx, w, from, to, func(_ int, values []decimal.Decimal, valid bitmap.Bits) error {
		for i, d := range values {
			if valid.At(i) {
				text.Append(d.String())
			} else {
				text.AppendNull()
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.NewArray(), nil
}
