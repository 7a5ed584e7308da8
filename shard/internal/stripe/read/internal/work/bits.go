package work

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/storage"
)

// Bits is a buffer of bits, whose values are bytes: Booleans, or the presence of values. A nil one of presence means that nothing is null.
type Bits struct{ Data *blocks.Reader }

// Need calls add with the byte ranges of the bits of rows.
func (b *Bits) Need(w *Worker, rows rowset.Set, add func(storage.ByteRange)) {
	if b != nil {
		b.Data.Need(&w.Scratch, bytesOf(rows), add)
	}
}

// Read copies the bits of rows to the start of dst.
func (b *Bits) Read(ctx context.Context, w *Worker, rows rowset.Set, dst []byte) error {
	at := 0
	return b.Data.Each(ctx, &w.Scratch, bytesOf(rows), func(p *blocks.Part, block []byte) error {
		bytes := scratch.Slice(&w.Bits, p.N)
		if _, err := numeric.DecodeBlock(bytes, nil, 0, block, b.Data.Options, &w.Numeric); err != nil {
			return err
		}
		start, end := int64(p.First)*8, int64(p.First+uint64(p.N))*8
		inside := rows.Clip(start, end).Shift(-start)
		rowset.PickBits(dst, at, bitmap.Bits{Data: bytes, Len: 8 * p.N}, inside)
		at += int(inside.Len())
		return nil
	})
}

// Validity is the validity bitmap of rows, nil without nulls, and the number of nulls.
func (b *Bits) Validity(ctx context.Context, w *Worker, rows rowset.Set) (*memory.Buffer, int, error) {
	if b == nil {
		return nil, 0, nil
	}
	n := int(rows.Len())
	bits := arrowutil.NewZeroBuffer(arrowutil.Reusable(w.Limits.Allocator), (n+7)/8)
	if err := b.Read(ctx, w, rows, bits.Bytes()); err != nil {
		bits.Release()
		return nil, 0, err
	}
	nulls := bitmap.Bits{Data: bits.Bytes(), Len: n}.Nulls()
	return build.OnlyNulls(bits, nulls), nulls, nil
}

// Valid is a bit for each row, set if it is not null.
func (b *Bits) Valid(ctx context.Context, w *Worker, rows rowset.Set) ([]byte, error) {
	out := make([]byte, (rows.Len()+63)/64*8)
	if b == nil {
		bitmap.SetRange(out, 0, int(rows.Len()))
		return out, nil
	}
	return out, b.Read(ctx, w, rows, out)
}

// Offsets is a buffer of offsets: those of row i are values i and i+1.
type Offsets struct {
	Data *blocks.Reader
	Of   *blocks.Reader // what has the items, if that is a buffer: the last offset is their number
}

// Need calls add with the byte ranges of the offsets of rows.
func (o *Offsets) Need(w *Worker, rows rowset.Set, add func(storage.ByteRange)) {
	o.Data.Need(&w.Scratch, offsetsOf(rows), add)
}

// Items are the items of rows, and where those of each row end among them, behind a 0.
func (o *Offsets) Items(ctx context.Context, w *Worker, rows rowset.Set) (items rowset.Set, ends []uint64, err error) {
	positions := offsetsOf(rows)
	bounds := make([]uint64, positions.Len(), positions.Len()+1)
	if err := o.read(ctx, w, bounds, positions); err != nil {
		return items, nil, err
	}
	items, ends = itemsOf(rows, bounds)
	return items, ends, nil
}

// read reads the offsets at some positions.
func (o *Offsets) read(ctx context.Context, w *Worker, dst []uint64, positions rowset.Set) error {
	last, most := uint64(0), uint64(math.MaxInt64)
	if o.Of != nil {
		most = o.Of.Map.Values()
	}
	err := o.Data.Each(ctx, &w.Scratch, positions, func(p *blocks.Part, block []byte) error {
		values := scratch.Slice(&w.Words, p.N)
		if _, err := numeric.DecodeBlock(values, nil, 0, block, o.Data.Options, &w.Numeric); err != nil {
			return err
		}
		if p.First == 0 && values[0] != 0 {
			return fault.Corruptf("first offset is %d, not 0", values[0])
		}
		got := dst[p.At : p.At+p.Count]
		rowset.Pick(got, values, p.Rows)
		for i, v := range got {
			if v < last || v > math.MaxInt64 {
				return fault.Corruptf("offset %d follows %d at row %d of those asked for", v, last, p.At+i)
			}
			if v > most {
				return fault.Corruptf("offset %d, but there are %d bytes, at row %d of those asked for", v, most, p.At+i)
			}
			last = v
		}
		return nil
	})
	if err == nil && o.Of != nil && positions.Bounds().To == int64(o.Data.Map.Values()) && last != most {
		err = o.Data.Wrap(fault.Corruptf("the last offset is %d, but there are %d bytes", last, most))
	}
	return err
}

// itemsOf returns the items of rows whose offsets are bounds, and the ends of each list among them. ends uses the
// memory of bounds.
func itemsOf(rows rowset.Set, bounds []uint64) (items rowset.Set, ends []uint64) {
	var ranges []rowset.Range
	ends, total := bounds[:1], uint64(0) // an element is read before it is overwritten
	for r := range rows.Ranges() {
		k := int(r.To - r.From)
		first, of := bounds[0], bounds[1:k+1]
		bounds = bounds[k+1:]
		last := first
		for _, last = range of {
			ends = append(ends, total+last-first)
		}
		total += last - first
		ranges = append(ranges, rowset.Range{From: int64(first), To: int64(last)})
	}
	ends[0] = 0
	return rowset.Of(ranges...), ends
}

// mapped is the set of what f makes of each range of rows.
func mapped(rows rowset.Set, f func(r rowset.Range) rowset.Range) rowset.Set {
	var out []rowset.Range
	for r := range rows.Ranges() {
		out = append(out, f(r))
	}
	return rowset.Of(out...)
}

// Scaled are the items of rows that have size items each.
func Scaled(rows rowset.Set, size int64) rowset.Set {
	return mapped(rows, func(r rowset.Range) rowset.Range { return rowset.Range{From: r.From * size, To: r.To * size} })
}

// bytesOf are the bytes that hold the bits of rows.
func bytesOf(rows rowset.Set) rowset.Set {
	return mapped(rows, func(r rowset.Range) rowset.Range { return rowset.Range{From: r.From / 8, To: (r.To-1)/8 + 1} })
}

// offsetsOf are the positions of the offsets of rows: k+1 of them for a range of k rows.
func offsetsOf(rows rowset.Set) rowset.Set {
	return mapped(rows, func(r rowset.Range) rowset.Range { return rowset.Range{From: r.From, To: r.To + 1} })
}

// ArrowOffsets is a buffer of Arrow offsets, of 64 bits if they are wide. They begin at 0.
func ArrowOffsets(w *Worker, ends []uint64, wide bool) (*memory.Buffer, error) {
	if wide {
		return offsetsBuffer[int64](w, ends), nil
	}
	if ends[len(ends)-1] > math.MaxInt32 {
		return nil, fault.ErrBatchTooLarge
	}
	return offsetsBuffer[int32](w, ends), nil
}

func offsetsBuffer[O int32 | int64](w *Worker, ends []uint64) *memory.Buffer {
	b := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), numeric.Of[O]().Size()*len(ends))
	for i, dst := 0, arrowutil.As[O](b.Bytes()); i < len(dst); i++ {
		dst[i] = O(ends[i])
	}
	return b
}

// Octets is a buffer of the bytes of byte strings, which are numbers of 8 bits.
type Octets struct{ Data *blocks.Reader }

// Read returns some of the bytes, one after the other.
func (o *Octets) Read(ctx context.Context, w *Worker, which rowset.Set) (*memory.Buffer, error) {
	if which.Len() > w.Limits.MaxArrayBytes {
		return nil, fault.ErrBatchTooLarge
	}
	out := arrowutil.NewBuffer(w.Limits.Allocator, int(which.Len()))
	err := o.Data.Each(ctx, &w.Scratch, which, func(p *blocks.Part, block []byte) (err error) {
		dst := out.Bytes()[p.At : p.At+p.Count]
		switch {
		case p.Whole():
			_, err = numeric.DecodeBlock(dst, nil, 0, block, o.Data.Options, &w.Numeric)
		case p.Sparse():
			_, err = numeric.DecodeRows(dst, nil, 0, block, p.N, p.Rows, o.Data.Options, &w.Numeric)
		default:
			all := scratch.Slice(&w.Bits, p.N)
			_, err = numeric.DecodeBlock(all, nil, 0, block, o.Data.Options, &w.Numeric)
			rowset.Pick(dst, all, p.Rows)
		}
		return err
	})
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

// Lengths are the numbers of items of rows, of 64 bits.
func (o *Offsets) Lengths(ctx context.Context, w *Worker, rows rowset.Set) (*memory.Buffer, error) {
	positions := offsetsOf(rows)
	out := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), 8*int(positions.Len()))
	lengths := arrowutil.As[uint64](out.Bytes())
	if err := o.read(ctx, w, lengths, positions); err != nil {
		out.Release()
		return nil, err
	}
	at, bounds := 0, lengths // of which an element is read before it is overwritten
	for r := range rows.Ranges() {
		last, ends := bounds[0], bounds[1:r.Len()+1]
		for _, end := range ends {
			lengths[at] = end - last
			last = end
			at++
		}
		bounds = bounds[r.Len()+1:]
	}
	out.ResizeNoShrink(8 * at)
	return out, nil
}

// SelectRanges returns a bit for each of the rows, set if its value is in one of the intervals.
func SelectRanges[T numeric.Value](ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, in []numeric.Interval[T]) ([]byte, error) {
	return SelectEach(ctx, data, w, rows, func(found []uint64, p *blocks.Part, block []byte) error {
		return numeric.SelectRanges(block, p.N, in, data.Options, &w.Numeric, found)
	})
}

// SelectEach is [SelectRows] for bits in words.
func SelectEach(ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, find func(found []uint64, p *blocks.Part, block []byte) error) ([]byte, error) {
	return SelectRows(ctx, data, w, rows, nil, func(p *blocks.Part, block []byte) ([]byte, error) {
		words := scratch.Slice(&w.Found, (p.N+63)/64)
		if err := find(words, p, block); err != nil {
			return nil, err
		}
		held := arrowutil.Bytes(words)
		for i, word := range words {
			binary.LittleEndian.PutUint64(held[8*i:], word)
		}
		return held, nil
	})
}

// Validity is a bit for each value of a block, 0 for null, in memory of the worker.
func (w *Worker) Validity(b *bytestring.Block) bitmap.Bits {
	valid := bitmap.All(b.Len())
	if b.Nulls() > 0 {
		valid.Data = scratch.Slice(&w.Bits, (b.Len()+7)/8)
		clear(valid.Data)
		b.Validity(valid.Data, 0)
	}
	return valid
}

// SelectRows returns a bit for each of the rows. find returns the bits of all rows of a block, and gets no bytes of one that is known, as EachBut of the reader says.
func SelectRows(ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, known func(*blocks.Part) bool, find func(p *blocks.Part, block []byte) ([]byte, error)) ([]byte, error) {
	bits := scratch.Slice(&w.Selected, int(rows.Len()+63)/64*8)
	err := data.EachBut(ctx, &w.Scratch, rows, known, func(p *blocks.Part, block []byte) error {
		found, err := find(p, block)
		if err != nil {
			return err
		}
		rowset.PickBits(bits, p.At, bitmap.Bits{Data: found, Len: p.N}, p.Rows)
		return nil
	})
	return bits, err
}
