package read

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// ranged is a reader that finds values by intervals without an array of them.
type ranged interface {
	// finds reports whether it can.
	finds() bool
	selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error)
}

// FindNumbers returns those of the rows whose value passes a test. It uses the encoded form, without an array of the
// values. ok is false if the reader of the column cannot do this.
func (c *Column) FindNumbers(ctx context.Context, rows rowset.Set, test predicate.Test, o *table.ReadOptions) (out rowset.Set, ok bool, err error) {
	r, ok := nodeAs[ranged](c)
	wanted, isNumbers := numbersOf(test)
	if !ok || !isNumbers || !r.finds() {
		return out, false, nil
	}
	out, err = c.selected(rows, o, func(w *work.Worker) ([]byte, error) { return r.selectNumbers(ctx, w, rows, wanted) })
	return out, true, err
}

// numbersOf are the values that pass a test, if it is one of numbers.
func numbersOf(test predicate.Test) (n *rules.Numbers, ok bool) {
	switch t := test.(type) {
	case valueset.Ints:
		return &rules.Numbers{Ints: intervals(t)}, true
	case valueset.Decimals:
		return &rules.Numbers{Ints: intervals(t.Int64())}, true
	case valueset.Uints:
		return &rules.Numbers{Uints: intervals(t)}, true
	case valueset.Floats:
		return &rules.Numbers{Floats: intervals(t.Intervals)}, true
	}
	return nil, false
}

func intervals[T numeric.Value](in []valueset.Interval[T]) []numeric.Interval[T] {
	out := make([]numeric.Interval[T], len(in))
	for i, v := range in {
		out[i] = numeric.Interval[T]{Low: v.Lo, High: v.Hi}
	}
	return out
}

func (r *codesReader[O]) finds() bool { return r.wanted != nil }

func (r *codesReader[O]) selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error) {
	dict, _, err := r.dict.Load(ctx)
	if err != nil {
		return nil, err
	}
	keep := r.wanted(dict.Data(), n)
	if null, ok := dict.NullID(); ok {
		keep[null] = 0
	}
	return r.selectCodes(ctx, w, rows, keep)
}

// keptIn has a 1 for each of some values, back to back, that is in one of the intervals.
func keptIn[T numeric.Value](stored []byte, in []numeric.Interval[T]) []byte {
	values := make([]T, len(stored)/numeric.Of[T]().Size())
	copy(arrowutil.Bytes(values), stored)
	keep := make([]byte, len(values))
	for i, v := range values {
		keep[i] = bitOf(v, in)
	}
	return keep
}

// bitOf is 1 for a value in one of the intervals.
func bitOf[T numeric.Value](v T, in []numeric.Interval[T]) byte {
	return byte(bitmap.Bit(slices.ContainsFunc(in, func(k numeric.Interval[T]) bool { return k.Low <= v && v <= k.High })))
}

func (r *primitiveReader[T]) finds() bool { return r.stored != nil }

func (r *primitiveReader[T]) selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error) {
	return work.SelectRanges(ctx, r.data, w, rows, r.stored(n))
}
