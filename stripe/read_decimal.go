package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/decimal"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/fault"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/rowset"
)

func (n *openNode) openDecimal(ctx context.Context) (nodeReader, error) {
	if n.col.Rule == arrowmap.Same { // the 16 bytes as they are
		return openByteStrings[int32](ctx, n, n.col.Plain)
	}
	if err := n.only(shardpb.BufferKind_DATA); err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA, n.field.GetPositionCount())
	if err != nil {
		return nil, err
	}
	r := &decimalReader{scale: int(n.col.Scale), bytesReader: &bytesReader[int32]{
		dt: n.col.Plain, data: data, fixed: decimalWidth, nulls: n.nullable(),
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
	scale int // of the Arrow decimals
}

func (r *decimalReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	if rows.Len() > w.options.MaxArrayBytes/32 {
		return nil, ErrBatchTooLarge
	}
	n := int(rows.Len())
	out := fixedColumn{values: arrowutil.NewBuffer(w.options.Allocator, n*r.store.width)}
	if r.nulls {
		out.valid = arrowutil.NewZeroBuffer(w.options.Allocator, (n+7)/8)
	}
	err := r.data.each(ctx, w, rows, func(p *part, block []byte) error {
		b, err := r.parse(w, p, block)
		if err != nil {
			return err
		}
		all, err := r.validity(w, b)
		if err != nil {
			return err
		}
		valid := bitmap.All(p.n)
		if out.valid != nil {
			valid = bitmap.Bits{Data: out.valid.Bytes(), Off: p.at, Len: p.n}
			out.nulls += pickBits(valid.Data, p.at, all, p.rows)
		}
		dst := out.values.Bytes()[p.at*r.store.width : (p.at+p.n)*r.store.width]
		if r.fromIntegers(dst, b, p, valid) {
			return nil
		}
		values, err := r.values(w, b)
		if err != nil {
			return err
		}
		pick(values, values, p.rows) // to the front
		return r.store.convert(dst, values[:p.n], valid)
	})
	if err != nil {
		out.release()
		return nil, err
	}
	return out.array(r.dt, n), nil
}

// fromIntegers fills dst from a block that is stored as integers of the
// column's own scale, without going through decimal digits. It reports false
// for other blocks, and if a number has too many digits for the column.
func (r *decimalReader) fromIntegers(dst []byte, b *bytestring.Block, p *part, valid bitmap.Bits) bool {
	exponent, integers, exceptions, ok := b.Integers()
	if !ok || exponent != -r.scale || len(exceptions.Positions) > 0 || r.store.width != 16 {
		return false
	}
	out := arrowutil.As[decimal.Int128](dst)
	at := out
	for _, rows := range p.rows {
		for i, v := range integers[rows.From:rows.To] {
			at[i] = decimal.Int128{Lo: uint64(v), Hi: v >> 63}
		}
		at = at[rows.To-rows.From:]
	}
	return beyondPrecision(r.dt, out, valid) == len(out)
}

// validity is the validity of all values of a block.
func (r *decimalReader) validity(w *worker, b *bytestring.Block) (bitmap.Bits, error) {
	valid := bitmap.All(b.Len())
	if b.Nulls() == 0 {
		return valid, nil
	}
	if !r.nulls {
		return valid, fault.Corruptf("%d nulls in a column whose descriptor counts none", b.Nulls())
	}
	valid.Data = slice(&w.bits, (b.Len()+7)/8)
	clear(valid.Data)
	b.Validity(valid.Data, 0)
	return valid, nil
}

// values decodes all values of a block.
func (r *decimalReader) values(w *worker, b *bytestring.Block) ([]decimal.Decimal, error) {
	values := arrowutil.As[decimal.Decimal](arrowutil.Bytes(slice(&w.words, 2*b.Len())))
	return values, bytestring.Decode(b, arrowutil.Bytes(values), nil, int32(0))
}

// decimalTextReader reads decimals as text.
type decimalTextReader struct{ *decimalReader }

func (r *decimalTextReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	builder := array.NewBuilder(w.options.Allocator, r.dt)
	defer builder.Release()
	text := builder.(array.StringLikeBuilder)
	err := r.data.each(ctx, w, rows, func(p *part, block []byte) error {
		b, err := r.parse(w, p, block)
		if err != nil {
			return err
		}
		valid, err := r.validity(w, b)
		if err != nil {
			return err
		}
		values, err := r.values(w, b)
		if err != nil {
			return err
		}
		for _, rows := range p.rows {
			for i := int(rows.From); i < int(rows.To); i++ {
				if valid.At(i) {
					text.Append(values[i].String())
				} else {
					text.AppendNull()
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return builder.NewArray(), nil
}
