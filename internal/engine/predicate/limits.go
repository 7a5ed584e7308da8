package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// LimitsOf returns the values of an array as bounds, none for a null. It returns nil if the type has no bounds, or is one of
// byte strings.
func LimitsOf(arr arrow.Array) func(i int) Limit {
	switch a := arr.(type) {
	case *array.Boolean:
		return limits(a, a.Value, BoolLimit)
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Date32, *array.Date64, *array.Time32, *array.Time64,
		*array.Timestamp, *array.Duration, *array.Decimal32, *array.Decimal64:
		return signedLimits(arr)
	case *array.Uint8:
		return limits(a, a.Value, func(v uint8) Limit { return UintLimit(uint64(v)) })
	case *array.Uint16:
		return limits(a, a.Value, func(v uint16) Limit { return UintLimit(uint64(v)) })
	case *array.Uint32:
		return limits(a, a.Value, func(v uint32) Limit { return UintLimit(uint64(v)) })
	case *array.Uint64:
		return limits(a, a.Value, UintLimit)
	case *array.Float16:
		return limits(a, func(i int) float64 { return float64(a.Value(i).Float32()) }, FloatLimit)
	case *array.Float32:
		return limits(a, func(i int) float64 { return float64(a.Value(i)) }, FloatLimit)
	case *array.Float64:
		return limits(a, a.Value, FloatLimit)
	case *array.Decimal128:
		return limits(a, func(i int) Limit {
			v := a.Value(i)
			return Decimal128Limit(v.HighBits(), v.LowBits())
		}, same)
	case *array.Decimal256:
		return limits(a, func(i int) Limit { return Decimal256Limit(valueset.Int256(a.Value(i).Array())) }, same)
	}
	return nil
}

func same(l Limit) Limit { return l }

// limits returns the bounds of the values that are not null.
func limits[T any](arr arrow.Array, value func(i int) T, limit func(T) Limit) func(i int) Limit {
	return func(i int) Limit {
		if arr.IsNull(i) {
			return Limit{}
		}
		return limit(value(i))
	}
}

// signedLimits returns the bounds of integers, and of types stored as integers.
func signedLimits(arr arrow.Array) func(i int) Limit {
	switch arr.DataType().(arrow.FixedWidthDataType).Bytes() {
	case 1:
		v := arrowutil.Values[int8](arr)
		return limits(arr, func(i int) int64 { return int64(v[i]) }, IntLimit)
	case 2:
		v := arrowutil.Values[int16](arr)
		return limits(arr, func(i int) int64 { return int64(v[i]) }, IntLimit)
	case 4:
		v := arrowutil.Values[int32](arr)
		return limits(arr, func(i int) int64 { return int64(v[i]) }, IntLimit)
	}
	v := arrowutil.Values[int64](arr)
	return limits(arr, func(i int) int64 { return v[i] }, IntLimit)
}
