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
	var buf []int64
	if integers, ok := arrowutil.Int64s(arr, &buf); ok {
		if arrow.IsUnsignedInteger(arr.DataType().ID()) {
			return limits(arr, func(i int) Limit { return UintLimit(uint64(integers[i])) })
		}
		return limits(arr, func(i int) Limit { return IntLimit(integers[i]) })
	}
	if floats := arrowutil.Floats(arr); floats != nil {
		return limits(arr, func(i int) Limit { return FloatLimit(floats(i)) })
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return limits(a, func(i int) Limit { return BoolLimit(a.Value(i)) })
	case *array.Decimal128:
		return limits(a, func(i int) Limit { return Decimal128Limit(a.Value(i).HighBits(), a.Value(i).LowBits()) })
	case *array.Decimal256:
		return limits(a, func(i int) Limit { return Decimal256Limit(valueset.Int256(a.Value(i).Array())) })
	}
	return nil
}

// limits returns the bounds of the values that are not null.
func limits(arr arrow.Array, limit func(i int) Limit) func(i int) Limit {
	valid := arrowutil.Validity(arr)
	return func(i int) Limit {
		if !valid.At(i) {
			return Limit{}
		}
		return limit(i)
	}
}
