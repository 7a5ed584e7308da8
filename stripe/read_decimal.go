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
	if err := n.only(shardpb.BufferKind_DATA); err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA, n.field.GetPositionCount())
	if err != nil {
		return nil, err
	}
	r := &decimalReader{scale: int(n.col.Scale), bytesReader: &bytesReader[int32]{
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
	scale int // of the Arrow decimals
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
	err := r.data.each(ctx, w, uint64(from), uint64(to), func(e blockmap.Entry, block []byte) error {
		b, err := r.parse(w, e, block)
		if err != nil {
			return err
		}
		p := partOf(e, from, to)
		valid, err := r.validity(w, b)
		if err != nil {
			return err
		}
		valid = valid.Slice(p.lo, p.hi)
		if out.valid != nil {
			valid.CopyTo(out.valid.Bytes(), p.at)
		}
		out.nulls += valid.Nulls()
		dst := out.values.Bytes()[p.at*r.store.width : (p.at+p.hi-p.lo)*r.store.width]
		if r.fromIntegers(dst, b, p) {
			return nil
		}
		values, err := r.values(w, b)
		if err != nil {
			return err
		}
		return shiftRows(r.store.convert(dst, values[p.lo:p.hi], valid), p.at)
	})
	if err != nil {
		out.release()
		return nil, err
	}
	return out.array(r.dt, n), nil
}

// part is what a read needs of a block: its values from lo up to hi, for the
// rows from at on.
type part struct{ lo, hi, at int }

func partOf(e blockmap.Entry, from, to int64) part {
	lo, hi := max(uint64(from), e.First), min(uint64(to), e.First+uint64(e.N))
	return part{lo: int(lo - e.First), hi: int(hi - e.First), at: int(lo - uint64(from))}
}

// fromIntegers fills dst from a block that is stored as integers of the
// column's own scale, without going through decimal digits. It reports false
// for other blocks.
func (r *decimalReader) fromIntegers(dst []byte, b *bytestring.Block, p part) bool {
	exponent, integers, exceptions, ok := b.Integers()
	if !ok || exponent != -r.scale || len(exceptions.Positions) > 0 || r.store.width != 16 {
		return false
	}
	out := arrowutil.As[decimal.Int128](dst)
	for i, v := range integers[p.lo:p.hi] {
		out[i] = decimal.Int128{Lo: uint64(v), Hi: v >> 63}
	}
	return true
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

func (r *decimalTextReader) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	builder := array.NewBuilder(r.options.Allocator, r.dt)
	defer builder.Release()
	text := builder.(array.StringLikeBuilder)
	err := r.data.each(ctx, w, uint64(from), uint64(to), func(e blockmap.Entry, block []byte) error {
		b, err := r.parse(w, e, block)
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
		for p := partOf(e, from, to); p.lo < p.hi; p.lo++ {
			if valid.At(p.lo) {
				text.Append(values[p.lo].String())
			} else {
				text.AppendNull()
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return builder.NewArray(), nil
}
