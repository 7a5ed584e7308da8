package profile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// maxInt64Digits is the number of decimal digits that every int64 of that many has.
const maxInt64Digits = 18

// The functions read* return the values of an array as numbers of 64 bits, those of nulls included, in its own memory or in dst,
// which they grow.

func readInts(arr arrow.Array, dst *[]int64) ([]int64, error) {
	switch arr := arr.(type) {
	case *array.Decimal128:
		return readNarrow(arr, dst, narrow128)
	case *array.Decimal256:
		return readNarrow(arr, dst, narrow256)
	}
	if v, ok := arrowutil.Int64s(arr, dst); ok {
		return v, nil
	}
	return nil, fmt.Errorf("an array of %s instead of integers", arr.DataType())
}

func readUints(arr arrow.Array, _ *[]uint64) ([]uint64, error) {
	if arr.DataType().ID() != arrow.UINT64 {
		return nil, fmt.Errorf("an array of %s instead of uint64", arr.DataType())
	}
	return arrowutil.Values[uint64](arr), nil
}

func readFloats(arr arrow.Array, dst *[]float64) ([]float64, error) {
	if v, ok := arrowutil.Float64s(arr, dst); ok {
		return v, nil
	}
	return nil, fmt.Errorf("an array of %s instead of floats", arr.DataType())
}

// readNarrow returns the integers of decimals whose precision says that these have at most 64 bits.
func readNarrow[N any](a decimals[N], dst *[]int64, narrow func(N) (n int64, ok bool)) ([]int64, error) {
	out := (*dst)[:0]
	for i, v := range a.Values() {
		n, ok := narrow(v)
		if !ok && !a.IsNull(i) {
			return nil, fmt.Errorf("a value exceeds the precision of %s", a.DataType())
		}
		out = append(out, n)
	}
	*dst = out
	return out, nil
}

// decimals is an array of decimals of one width.
type decimals[N any] interface {
	arrow.Array
	Values() []N
}

func narrow128(v decimal128.Num) (int64, bool) {
	n := int64(v.LowBits())
	return n, v.HighBits() == n>>63
}

func narrow256(v decimal256.Num) (int64, bool) {
	n := int64(v.LowBits())
	return n, v == decimal256.FromI64(n)
}

// readDecimals returns decimals as the nearest floats.
func readDecimals(arr arrow.Array, dst *[]float64) ([]float64, error) {
	switch a := arr.(type) {
	case *array.Decimal128:
		return readReals(a, dst), nil
	case *array.Decimal256:
		return readReals(a, dst), nil
	}
	return nil, fmt.Errorf("an array of %s instead of decimals", arr.DataType())
}

func readReals[N interface{ ToFloat64(scale int32) float64 }](a decimals[N], dst *[]float64) []float64 {
	out := (*dst)[:0]
	scale := a.DataType().(arrow.DecimalType).GetScale()
	for _, v := range a.Values() {
		out = append(out, v.ToFloat64(scale))
	}
	*dst = out
	return out
}
