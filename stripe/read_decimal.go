package stripe

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/encoding/presence"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

func (n *openNode) openDecimal(ctx context.Context) (nodeReader, error) {
	if n.col.Rule == arrowmap.Same { // the 16 bytes as they are
		return openByteStrings[int32](ctx, n, n.col.Plain)
	}
	if err := n.only(shardpb.BufferKind_DATA); err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	r := &decimalReader{scale: int(n.col.Scale), wide: newWidening(precisionOf(n.col.Plain)), bytesReader: &bytesReader[int32]{
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
	wide  numeric.Change[decimal.Int128, int64]
}

func (r *decimalReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	count := rows.Len()
	if count > w.options.MaxArrayBytes/32 {
		return nil, ErrBatchTooLarge
	}
	n := int(count)
	out := newFixedColumn(w, n, r.store.width, r.nulls)
	err := r.data.each(ctx, w, rows, func(p *part, block []byte) error {
		if done, err := r.decodeIntegers(w, p, block, out); done || err != nil {
			return err
		}
		return r.decode(w, p, block, out)
	})
	if err != nil {
		out.release()
		return nil, err
	}
	return out.array(r.dt, n), nil
}

// decode decodes the rows of a block by way of their digits.
func (r *decimalReader) decode(w *worker, p *part, block []byte, out *fixedColumn) error {
	b, err := r.parse(w, p, block)
	if err != nil {
		return err
	}
	all, err := r.validity(w, b)
	if err != nil {
		return err
	}
	valid := r.pickValidity(out, p, all)
	values, err := r.values(w, b)
	if err != nil {
		return err
	}
	rowset.Pick(values, values, p.rows) // to the front
	dst := out.values.Bytes()[p.at*r.store.width : (p.at+p.n)*r.store.width]
	return r.store.convert(dst, values[:p.n], valid)
}

// pickValidity gives the result the nulls among the rows of a block.
func (r *decimalReader) pickValidity(out *fixedColumn, p *part, all bitmap.Bits) bitmap.Bits {
	if out.valid == nil {
		return bitmap.All(p.n)
	}
	valid := bitmap.Bits{Data: out.valid.Bytes(), Off: p.at, Len: p.n}
	out.nulls += pickBits(valid.Data, p.at, all, p.rows)
	return valid
}

// decodeIntegers decodes the rows of a block that is stored as integers of the
// column's own scale. done is false for other blocks, and if a number, perhaps
// that of a null, has too many digits for the column.
func (r *decimalReader) decodeIntegers(w *worker, p *part, block []byte, out *fixedColumn) (done bool, err error) {
	if r.store.width != 16 {
		return false, nil
	}
	t, all, ok, err := r.integers(w, p, block)
	if !ok || err != nil {
		return false, err
	}
	if err := r.widen(w, p, t.Tree, out); err != nil {
		if errors.Is(err, numeric.ErrChange) {
			return false, nil
		}
		return true, err
	}
	r.pickValidity(out, p, all)
	return true, nil
}

// integers parses a block that is stored as integers of the column's own scale, and
// reads which values are present. ok is false for other blocks.
func (r *decimalReader) integers(w *worker, p *part, block []byte) (t bytestring.IntegerTree, all bitmap.Bits, ok bool, err error) {
	t, ok, err = bytestring.ParseIntegers(block, p.N, bytestring.BlockOptions{Checksums: r.data.options.Checksums}, &w.bytes)
	if !ok || err != nil || t.Exponent != -r.scale || len(t.Exceptions.Positions) > 0 {
		return t, all, false, err
	}
	all = bitmap.All(p.N)
	if len(t.Presence) > 0 {
		all.Data = slice(&w.bits, (p.N+7)/8)
	}
	nulls, err := presence.Decode(t.Presence, p.N, all.Data, 0)
	if err != nil {
		return t, all, true, fault.In(err, "presence", -1)
	}
	return t, all, true, checkNulls(nulls, r.nulls)
}

// widen decodes the rows of a tree of integers.
func (r *decimalReader) widen(w *worker, p *part, tree []byte, out *fixedColumn) error {
	dst := arrowutil.As[decimal.Int128](out.values.Bytes())[p.at : p.at+p.n]
	if p.whole() {
		return numeric.DecodeAs(dst, tree, r.wide, &w.numeric)
	}
	integers := arrowutil.As[int64](arrowutil.Bytes(slice(&w.words, p.N)))
	if p.sparse() {
		if err := numeric.DecodeTreeRows(integers[:p.n], tree, p.N, p.rows, &w.numeric); err != nil {
			return err
		}
	} else {
		if err := numeric.Decode(integers, tree, &w.numeric); err != nil {
			return err
		}
		rowset.Pick(integers, integers, p.rows) // to the front
	}
	if !r.wide.Values(dst, integers[:p.n]) {
		return numeric.ErrChange
	}
	return nil
}

// validity is the validity of all values of a block.
func (r *decimalReader) validity(w *worker, b *bytestring.Block) (bitmap.Bits, error) {
	valid := bitmap.All(b.Len())
	if b.Nulls() == 0 {
		return valid, nil
	}
	if err := checkNulls(b.Nulls(), r.nulls); err != nil {
		return valid, err
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
		for i := range p.rows.Rows() {
			if valid.At(int(i)) {
				text.Append(values[i].String())
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
