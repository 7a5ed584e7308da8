package filtertest

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// Facts are true facts about an array, but not always the tightest: some are missing, bounds
// are wider than necessary, strings are cut.
func Facts(arr arrow.Array, r *rand.Rand) predicate.Facts {
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		panic(err)
	}
	defer plain.Release()
	var f predicate.Facts
	rows, nans := 0, 0
	for i := range plain.Len() {
		if v := value(plain, i); v != nil {
			rows++
			if x, ok := v.(float64); ok && x != x {
				nans++
			}
		}
	}
	certain := func(b bool) bool { return b && r.IntN(5) > 0 }
	f.NoNulls, f.NoNaNs, f.NoValues = certain(rows == plain.Len()), certain(nans == 0), certain(rows == nans)
	lo, hi := limits(plain, r)
	if r.IntN(5) > 0 {
		f.Min = lo
	}
	if r.IntN(5) > 0 {
		f.Max = hi
	}
	if _, kind := kindOf(plain.DataType()); kind == "text" || kind == "bytes" {
		f.MayHold = mayHold(plain, r)
	}
	return f
}

// mayHold is a Bloom filter with some false positives.
func mayHold(arr arrow.Array, r *rand.Rand) func([]byte) bool {
	if r.IntN(3) == 0 {
		return nil
	}
	there := map[string]bool{}
	for i := range arr.Len() {
		if s, ok := value(arr, i).(string); ok {
			there[s] = true
		}
	}
	return func(v []byte) bool { return there[string(v)] || len(v)%7 == 3 }
}

// limits returns the bounds of the values of a plain array, in the form of this array.
func limits(arr arrow.Array, r *rand.Rand) (lo, hi predicate.Limit) {
	switch arr.DataType().ID() {
	case arrow.BOOL:
		b := arr.(*array.Boolean)
		return bounds(arr, b.Value, func(a, b bool) int { return truth(a).order() - truth(b).order() }, predicate.BoolLimit)
	case arrow.INT8:
		return signed[int8](arr, r)
	case arrow.INT16:
		return signed[int16](arr, r)
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32:
		return signed[int32](arr, r)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return signed[int64](arr, r)
	case arrow.UINT8:
		return unsigned[uint8](arr)
	case arrow.UINT16:
		return unsigned[uint16](arr)
	case arrow.UINT32:
		return unsigned[uint32](arr)
	case arrow.UINT64:
		return unsigned[uint64](arr)
	case arrow.FLOAT16:
		v := arrowutil.Values[float16.Num](arr)
		return floats(arr, func(i int) float64 { return float64(v[i].Float32()) })
	case arrow.FLOAT32:
		v := arrowutil.Values[float32](arr)
		return floats(arr, func(i int) float64 { return float64(v[i]) })
	case arrow.FLOAT64:
		v := arrowutil.Values[float64](arr)
		return floats(arr, func(i int) float64 { return v[i] })
	case arrow.DECIMAL128:
		v := arr.(*array.Decimal128)
		return bounds(arr, func(i int) int { return i }, func(a, b int) int { return v.Value(a).Cmp(v.Value(b)) },
			func(i int) predicate.Limit {
				return predicate.Decimal128Limit(v.Value(i).HighBits(), v.Value(i).LowBits())
			})
	case arrow.DECIMAL256:
		v := arr.(*array.Decimal256)
		return bounds(arr, func(i int) int { return i }, func(a, b int) int { return v.Value(a).Cmp(v.Value(b)) },
			func(i int) predicate.Limit { return predicate.Decimal256Limit(v.Value(i).Array()) })
	}
	if _, kind := kindOf(arr.DataType()); kind == "text" || kind == "bytes" {
		return texts(arr, r)
	}
	return lo, hi
}

// bounds returns the minimum and maximum of the values that are not null.
func bounds[T any](arr arrow.Array, at func(int) T, compare func(a, b T) int, limit func(T) predicate.Limit) (lo, hi predicate.Limit) {
	var least, greatest T
	found := false
	for i := range arr.Len() {
		if arr.IsNull(i) {
			continue
		}
		v := at(i)
		if compare(v, v) != 0 {
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

func signed[T int8 | int16 | int32 | int64](arr arrow.Array, r *rand.Rand) (lo, hi predicate.Limit) {
	v := arrowutil.Values[T](arr)
	slack := r.Int64N(2)
	lo, hi = bounds(arr, func(i int) int64 { return int64(v[i]) }, cmp.Compare, predicate.IntLimit)
	if slack == 1 {
		lo, _ = bounds(arr, func(i int) int64 { return int64(v[i]) }, cmp.Compare, func(v int64) predicate.Limit { return predicate.IntLimit(v - min(3, v-math.MinInt64)) })
	}
	return lo, hi
}

func unsigned[T uint8 | uint16 | uint32 | uint64](arr arrow.Array) (lo, hi predicate.Limit) {
	v := arrowutil.Values[T](arr)
	return bounds(arr, func(i int) uint64 { return uint64(v[i]) }, cmp.Compare, predicate.UintLimit)
}

func floats(arr arrow.Array, at func(int) float64) (lo, hi predicate.Limit) {
	return bounds(arr, at, func(a, b float64) int {
		if a != a || b != b {
			return 1
		}
		return cmp.Compare(a, b)
	}, predicate.FloatLimit)
}

// texts cuts bounds, as statistics do: the minimum to a prefix, the maximum to a prefix that is increased.
func texts(arr arrow.Array, r *rand.Rand) (lo, hi predicate.Limit) {
	length := []int{1, 4, 1000}[r.IntN(3)]
	at := func(i int) string { return value(arr, i).(string) }
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
