package read

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
)

// Numbers are the wanted values of a column, as in its Arrow array: Ints of signed integers, dates, times and
// durations, in their unit, Uints of unsigned integers, Floats of floats. Ints of decimals are those times 10^scale.
// No interval contains NaN.
type Numbers struct {
	Ints   []numeric.Interval[int64]
	Uints  []numeric.Interval[uint64]
	Floats []numeric.Interval[float64]
}

// ranged is a reader that finds values by intervals without an array of them.
type ranged interface {
	// finds reports whether it can.
	finds() bool
	selectNumbers(ctx context.Context, w *worker, rows rowset.Set, n *Numbers) ([]byte, error)
}

// SelectNumbers returns those of the rows whose value is wanted. It uses the encoded form, without an array of the
// values. ok is false if the reader of the column cannot do this.
func (c *Column) SelectNumbers(ctx context.Context, rows rowset.Set, wanted Numbers) (out rowset.Set, ok bool, err error) {
	defer fault.Recover(&err)
	if err := c.check(rows); err != nil {
		return out, false, err
	}
	r, ok := nodeAs[ranged](c)
	if !ok || !r.finds() {
		return out, false, nil
	}
	out, err = c.selected(rows, func(w *worker) ([]byte, error) { return r.selectNumbers(ctx, w, rows, &wanted) })
	return out, true, err
}

func (r *primitiveReader[T]) finds() bool { return r.stored != nil }

func (r *primitiveReader[T]) selectNumbers(ctx context.Context, w *worker, rows rowset.Set, n *Numbers) ([]byte, error) {
	return selectRanges(ctx, r.data, w, rows, r.stored(n))
}

// selectRanges returns a bit for each of the rows, set if its value is in one of the intervals.
func selectRanges[T numeric.Value](ctx context.Context, data *blocks.Reader, w *worker, rows rowset.Set, in []numeric.Interval[T]) ([]byte, error) {
	return selectEach(ctx, data, w, rows, func(found []uint64, p *blocks.Part, block []byte) error {
		return numeric.SelectRanges(block, p.N, in, data.Options, &w.numeric, found)
	})
}

// selectEach returns a bit for each of the rows. find sets the bits of all rows of a block.
func selectEach(ctx context.Context, data *blocks.Reader, w *worker, rows rowset.Set, find func(found []uint64, p *blocks.Part, block []byte) error) ([]byte, error) {
	bits := scratch.Slice(&w.selected, int(rows.Len()+63)/64*8)
	err := data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		words := scratch.Slice(&w.found, (p.N+63)/64)
		if err := find(words, p, block); err != nil {
			return err
		}
		held := arrowutil.Bytes(words)
		for i, word := range words {
			binary.LittleEndian.PutUint64(held[8*i:], word)
		}
		pickBits(bits, p.At, bitmap.Bits{Data: held, Len: p.N}, p.Rows)
		return nil
	})
	return bits, err
}

// storedOf returns the conversion of wanted numbers to intervals of stored values, or nil if that is not simple.
func storedOf[T numeric.Value](rule arrowmap.Rule, unit convert.Unit) func(n *Numbers) []numeric.Interval[T] {
	var f any
	switch rule {
	case arrowmap.Same:
		return sameNumbers[T]
	case arrowmap.Ticks:
		f = timesOf(convert.TicksBetween, unit)
	case arrowmap.Span:
		f = timesOf(convert.SpanBetween, unit)
	}
	stored, _ := f.(func(n *Numbers) []numeric.Interval[T])
	return stored
}

// timesOf returns the conversion of times in a unit to intervals of stored times.
func timesOf[T uint64 | int64](between func(low, high int64, unit convert.Unit) (T, T, bool), unit convert.Unit) func(n *Numbers) []numeric.Interval[T] {
	return func(n *Numbers) (out []numeric.Interval[T]) {
		for _, i := range n.Ints {
			if low, high, ok := between(i.Low, i.High, unit); ok {
				out = append(out, numeric.Interval[T]{Low: low, High: high})
			}
		}
		return out
	}
}

// sameNumbers limits intervals to the range of T.
func sameNumbers[T numeric.Value](n *Numbers) (out []numeric.Interval[T]) {
	t := numeric.Of[T]()
	bits := 8 * t.Size()
	switch {
	case t.Float():
		for _, i := range n.Floats {
			out = append(out, numeric.Interval[T]{Low: T(i.Low), High: T(i.High)})
		}
	case t.Signed():
		most := int64(math.MaxInt64) >> (64 - bits)
		for _, i := range n.Ints {
			if low, high := max(i.Low, -most-1), min(i.High, most); low <= high {
				out = append(out, numeric.Interval[T]{Low: T(low), High: T(high)})
			}
		}
	default:
		most := uint64(math.MaxUint64) >> (64 - bits)
		for _, i := range n.Uints {
			if i.Low <= min(i.High, most) {
				out = append(out, numeric.Interval[T]{Low: T(i.Low), High: T(min(i.High, most))})
			}
		}
	}
	return out
}
