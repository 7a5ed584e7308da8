package read

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

func (n *openNode) openDecimal(ctx context.Context) (nodeReader, error) {
	if n.col.Rule == arrowmap.Same { // the 16 bytes as they are
		return openByteStrings[int32](ctx, n)
	}
	if n.field.DictionarySize != nil {
		return n.openDecimalCodes(ctx)
	}
	data, err := n.data(ctx, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return nil, err
	}
	r := &decimalReader{scale: int(n.col.Scale), bytesReader: &bytesReader[int32]{
		dt: n.col.Plain, data: data, fixed: decimal.Width, nulls: n.nullable(),
	}}
	digits := rules.Precision(n.col.Plain)
	r.wide, r.same = rules.NewWidening(digits), rules.NewDigits(digits)
	if n.col.Rule == arrowmap.DecimalText {
		return &decimalTextReader{r}, nil
	}
	r.store, err = rules.DecimalStorer(n.col)
	return r, err
}

// openDecimalCodes opens decimals with a value dictionary.
func (n *openNode) openDecimalCodes(ctx context.Context) (nodeReader, error) {
	if n.col.Rule == arrowmap.DecimalText {
		return openCodes[int64](ctx, n, 0, rules.DecimalTexts)
	}
	store, err := rules.DecimalStorer(n.col)
	if err != nil {
		return nil, err
	}
	r, err := openCodes[int32](ctx, n, store.Width, store.Dictionary(n.col.Plain))
	if err == nil && rules.Precision(n.col.Plain) <= maxPrecision64 {
		r.wanted = func(stored []byte, wanted *rules.Numbers) []byte {
			return decimalsIn(stored, int(n.col.Scale), wanted.Ints)
		}
	}
	return r, err
}

// decimalsIn has a 1 for each of some decimals, back to back, that is in one of the intervals of integers of a scale.
func decimalsIn(stored []byte, scale int, in []numeric.Interval[int64]) []byte {
	keep := make([]byte, len(stored)/decimal.Width)
	for i := range keep {
		hi, lo, ok := decimal.Decimal(stored[i*decimal.Width:]).Rescale(scale)
		if ok && hi == int64(lo)>>63 {
			keep[i] = bitOf(int64(lo), in)
		}
	}
	return keep
}

// decimalReader reads decimals as Arrow decimals of a scale.
type decimalReader struct {
	*bytesReader[int32]
	store rules.Storer[decimal.Decimal]
	scale int // of the Arrow decimals
	wide  numeric.Change[decimal.Int128, int64]
	same  numeric.Change[int64, int64]
}

func (r *decimalReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if rows.Len() > w.Limits.MaxArrayBytes/32 {
		return nil, fault.ErrBatchTooLarge
	}
	out, err := readFixed(ctx, w, r.data, rows, 0, r.store.Width, r.nulls, func(p *blocks.Part, block []byte, out *build.Fixed) error {
		if done, err := r.decodeIntegers(w, p, block, out); done || err != nil {
			return err
		}
		return r.decode(w, p, block, out)
	})
	if err != nil {
		return nil, err
	}
	return out.Array(r.dt), nil
}

// decode decodes the rows of a block by way of their digits.
func (r *decimalReader) decode(w *work.Worker, p *blocks.Part, block []byte, out *build.Fixed) error {
	values, all, err := r.digits(w, p, block)
	if err != nil {
		return err
	}
	valid := r.pickValidity(out, p, all)
	rowset.Pick(values, values, p.Rows) // to the front
	dst := out.Slots(p.At, p.Count)
	return r.store.Convert(dst, values[:p.Count], valid)
}

// pickValidity gives the result the nulls among the rows of a block.
func (r *decimalReader) pickValidity(out *build.Fixed, p *blocks.Part, all bitmap.Bits) bitmap.Bits {
	if out.Bits() == nil {
		return bitmap.All(p.Count)
	}
	valid := bitmap.Bits{Data: out.Bits(), Off: p.At, Len: p.Count}
	out.Nulls += rowset.PickBits(valid.Data, p.At, all, p.Rows)
	return valid
}

// decodeIntegers decodes the rows of a block that is stored as integers of the
// column's own scale. done is false for other blocks, and if a number, perhaps
// that of a null, has too many digits for the column.
func (r *decimalReader) decodeIntegers(w *work.Worker, p *blocks.Part, block []byte, out *build.Fixed) (done bool, err error) {
	if r.store.Width != 16 && r.store.Width != 8 {
		return false, nil
	}
	t, all, ok, err := r.integers(w, p, block)
	if !ok || err != nil {
		return false, err
	}
	if r.store.Width == 8 {
		err = changeIntegers(w, p, t.Tree, arrowutil.As[int64](out.Slots(p.At, p.Count)), r.same)
	} else {
		err = changeIntegers(w, p, t.Tree, arrowutil.As[decimal.Int128](out.Slots(p.At, p.Count)), r.wide)
	}
	if err != nil {
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
func (r *decimalReader) integers(w *work.Worker, p *blocks.Part, data []byte) (t bytestring.IntegerTree, all bitmap.Bits, ok bool, err error) {
	t, ok, err = bytestring.ParseIntegers(data, p.N, bytestring.BlockOptions{Checksums: r.data.Options.Checksums}, &w.Bytes)
	if !ok || err != nil || t.Exponent != -r.scale || len(t.Exceptions.Positions) > 0 {
		return t, all, false, err
	}
	all = bitmap.All(p.N)
	if len(t.Presence) > 0 {
		all.Data = scratch.Slice(&w.Bits, (p.N+7)/8)
	}
	nulls, err := encoding.DecodePresence(t.Presence, p.N, all.Data, 0)
	if err != nil {
		return t, all, true, fault.In(err, "presence", -1)
	}
	return t, all, true, checkNulls(nulls, r.nulls)
}

// changeIntegers decodes the rows of a tree of integers.
func changeIntegers[D comparable](w *work.Worker, p *blocks.Part, tree []byte, dst []D, c numeric.Change[D, int64]) error {
	if p.Whole() {
		return numeric.DecodeAs(dst, tree, c, &w.Numeric)
	}
	integers := arrowutil.As[int64](arrowutil.Bytes(scratch.Slice(&w.Words, p.N)))
	if p.Sparse() {
		if err := numeric.DecodeTreeRows(integers[:p.Count], tree, p.N, p.Rows, &w.Numeric); err != nil {
			return err
		}
	} else {
		if err := numeric.Decode(integers, tree, &w.Numeric); err != nil {
			return err
		}
		rowset.Pick(integers, integers, p.Rows) // to the front
	}
	if !c.Values(dst, integers[:p.Count]) {
		return numeric.ErrChange
	}
	return nil
}

// digits decodes all values of a block.
func (r *decimalReader) digits(w *work.Worker, p *blocks.Part, block []byte) (values []decimal.Decimal, valid bitmap.Bits, err error) {
	b, err := r.parser(w, nil, p)(block, &w.Bytes)
	if err == nil {
		err = checkNulls(b.Nulls(), r.nulls)
	}
	if err != nil {
		return nil, valid, err
	}
	valid = w.Validity(b)
	values = arrowutil.As[decimal.Decimal](arrowutil.Bytes(scratch.Slice(&w.Words, 2*b.Len())))
	return values, valid, bytestring.Decode(b, arrowutil.Bytes(values), nil, int32(0))
}

// decimalTextReader reads decimals as text.
type decimalTextReader struct{ *decimalReader }

func (r *decimalTextReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	builder := array.NewBuilder(w.Limits.Allocator, r.dt)
	defer builder.Release()
	text := builder.(array.StringLikeBuilder)
	err := r.data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		values, valid, err := r.digits(w, p, block)
		if err != nil {
			return err
		}
		for i := range p.Rows.Rows() {
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

// maxPrecision64 is how many digits any number of 64 bits has for sure.
const maxPrecision64 = 18

// finds reports whether all decimals of the type are numbers of 64 bits.
func (r *decimalReader) finds() bool {
	return r.store.Convert != nil && rules.Precision(r.dt) <= maxPrecision64
}

func (r *decimalReader) selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error) {
	return work.SelectEach(ctx, r.data, w, rows, func(found []uint64, p *blocks.Part, block []byte) error {
		t, all, ok, err := r.integers(w, p, block)
		if err != nil {
			return err
		}
		if ok {
			err = numeric.SelectTreeRanges(t.Tree, p.N, n.Ints, &w.Numeric, found)
		} else {
			all, err = r.selectDecoded(w, p, block, n.Ints, found)
		}
		for i := range found {
			found[i] &= all.Word(64 * i)
		}
		return err
	})
}

// selectDecoded finds numbers in a block that is not stored as integers of the
// column's scale. It returns which of its values are present.
func (r *decimalReader) selectDecoded(w *work.Worker, p *blocks.Part, block []byte, in []numeric.Interval[int64], found []uint64) (bitmap.Bits, error) {
	values, all, err := r.digits(w, p, block)
	if err != nil {
		return all, err
	}
	dst := scratch.Slice(&w.Held, p.N*r.store.Width)
	if err := r.store.Convert(dst, values, all); err != nil {
		return all, err
	}
	clear(found)
	for i := range p.N {
		found[i/64] |= uint64(bitOf(r.number(dst, i), in)) << (i % 64)
	}
	return all, nil
}

// number is the i-th of Arrow's decimals, which is known to fit into 64 bits.
func (r *decimalReader) number(dst []byte, i int) int64 {
	if r.store.Width == 4 {
		return int64(arrowutil.As[int32](dst)[i])
	}
	return arrowutil.As[int64](dst)[i*r.store.Width/8] // the low half comes first
}
