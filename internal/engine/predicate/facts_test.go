package predicate_test

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// factsOf are true facts about an array, but not always the tightest: some are missing, bounds
// are wider than necessary, strings are cut.
func factsOf(arr arrow.Array, r *rand.Rand) (f predicate.Facts) {
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		panic(err)
	}
	defer plain.Release()
	nulls, nans := arrowutil.NullN(plain), 0
	if plain.DataType().ID() == arrow.NULL {
		nulls = plain.Len()
	}
	if float := arrowutil.Floats(plain); float != nil {
		for i := range plain.Len() {
			if plain.IsValid(i) && math.IsNaN(float(i)) {
				nans++
			}
		}
	}
	certain := func(b bool) bool { return b && r.IntN(5) > 0 }
	f.NoNulls, f.NoNaNs, f.NoValues = certain(nulls == 0), certain(nans == 0), certain(nulls+nans == plain.Len())
	lo, hi := limits(plain, r)
	if r.IntN(5) > 0 {
		f.Min = lo
	}
	if r.IntN(5) > 0 {
		f.Max = hi
	}
	if text := arrowutil.BytesOf(plain); text != nil {
		f.MayHold = mayHold(plain, text, r)
	}
	return f
}

// mayHold is a Bloom filter with some false positives.
func mayHold(arr arrow.Array, text func(int) []byte, r *rand.Rand) func([]byte) bool {
	if r.IntN(3) == 0 {
		return nil
	}
	there := map[string]bool{}
	for i := range arr.Len() {
		if arr.IsValid(i) {
			there[string(text(i))] = true
		}
	}
	return func(v []byte) bool { return there[string(v)] || len(v)%7 == 3 }
}

// limits returns the bounds of the values of a plain array, in the form of this array.
func limits(arr arrow.Array, r *rand.Rand) (lo, hi predicate.Limit) {
	switch a := arr.(type) {
	case *array.Boolean:
		rank := map[bool]int{true: 1}
		return bounds(arr, a.Value, func(a, b bool) int { return rank[a] - rank[b] }, predicate.BoolLimit)
	case *array.Decimal128:
		return bounds(arr, func(i int) int { return i }, func(i, j int) int { return a.Value(i).Cmp(a.Value(j)) },
			func(i int) predicate.Limit {
				return predicate.Decimal128Limit(a.Value(i).HighBits(), a.Value(i).LowBits())
			})
	case *array.Decimal256:
		return bounds(arr, func(i int) int { return i }, func(i, j int) int { return a.Value(i).Cmp(a.Value(j)) },
			func(i int) predicate.Limit { return predicate.Decimal256Limit(a.Value(i).Array()) })
	}
	number := arrowutil.Integers(arr)
	switch {
	case number != nil && arrow.IsUnsignedInteger(arr.DataType().ID()):
		return bounds(arr, func(i int) uint64 { return uint64(number(i)) }, cmp.Compare, predicate.UintLimit)
	case number != nil:
		lo, hi = bounds(arr, number, cmp.Compare, predicate.IntLimit)
		if r.IntN(2) == 0 {
			lo, _ = bounds(arr, number, cmp.Compare, func(v int64) predicate.Limit { return predicate.IntLimit(v - min(3, v-math.MinInt64)) })
		}
		return lo, hi
	}
	if float := arrowutil.Floats(arr); float != nil {
		return bounds(arr, float, cmp.Compare, predicate.FloatLimit)
	}
	if text := arrowutil.BytesOf(arr); text != nil {
		return texts(arr, text, r)
	}
	return lo, hi
}

// bounds returns the minimum and maximum of the values that are neither null nor NaN.
func bounds[T comparable](arr arrow.Array, at func(int) T, compare func(a, b T) int, limit func(T) predicate.Limit) (lo, hi predicate.Limit) {
	var least, greatest T
	found := false
	for i := range arr.Len() {
		if arr.IsNull(i) {
			continue
		}
		v := at(i)
		if v != v {
			continue // NaN
		}
		if !found || compare(v, least) < 0 {
			least = v
		}
		if !found || compare(v, greatest) > 0 {
			greatest = v
		}
		found = true
	}
	if !found {
		return lo, hi
	}
	return limit(least), limit(greatest)
}

// texts cuts bounds, as statistics do: the minimum to a prefix, the maximum to a prefix that is increased.
func texts(arr arrow.Array, text func(int) []byte, r *rand.Rand) (lo, hi predicate.Limit) {
	length := []int{1, 4, 1000}[r.IntN(3)]
	at := func(i int) string { return string(text(i)) }
	lo, _ = bounds(arr, at, cmp.Compare, func(s string) predicate.Limit { return predicate.BytesLimit([]byte(s[:min(length, len(s))])) })
	_, hi = bounds(arr, at, cmp.Compare, func(s string) predicate.Limit {
		if len(s) <= length {
			return predicate.BytesLimit([]byte(s))
		}
		cut := []byte(s[:length])
		if cut[length-1] == 0xff {
			return predicate.Limit{}
		}
		cut[length-1]++
		return predicate.BytesLimit(cut)
	})
	return lo, hi
}
