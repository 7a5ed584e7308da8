package predicate_test

import (
	"cmp"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// TestCompareArrays compares numbers of all types, at the ends of their ranges too, with an order that is told for each row.
func TestCompareArrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 130}).Draw(t, "rows")
		testCompare(t, n, arrow.PrimitiveTypes.Int8, func(v int64) int8 { return int8(v) }, cmp.Compare[int8])
		testCompare(t, n, arrow.PrimitiveTypes.Int16, func(v int64) int16 { return int16(v) }, cmp.Compare[int16])
		testCompare(t, n, arrow.PrimitiveTypes.Date32, func(v int64) int32 { return int32(v) }, cmp.Compare[int32])
		testCompare(t, n, arrow.PrimitiveTypes.Int64, func(v int64) int64 { return v }, cmp.Compare[int64])
		testCompare(t, n, arrow.PrimitiveTypes.Uint8, func(v int64) uint8 { return uint8(v) }, cmp.Compare[uint8])
		testCompare(t, n, arrow.PrimitiveTypes.Uint16, func(v int64) uint16 { return uint16(v) }, cmp.Compare[uint16])
		testCompare(t, n, arrow.PrimitiveTypes.Uint32, func(v int64) uint32 { return uint32(v) }, cmp.Compare[uint32])
		testCompare(t, n, arrow.PrimitiveTypes.Uint64, func(v int64) uint64 { return uint64(v) }, cmp.Compare[uint64])
		testCompare(t, n, arrow.PrimitiveTypes.Float32, func(v int64) float32 { return float32(floatOf(v)) }, compareFloats[float32])
		testCompare(t, n, arrow.PrimitiveTypes.Float64, floatOf, compareFloats[float64])
		testCompare(t, n, &arrow.Decimal128Type{Precision: 38}, func(v int64) [2]uint64 { return [2]uint64{uint64(v), uint64(v >> 3)} }, func(x, y [2]uint64) int {
			return cmp.Or(cmp.Compare(int64(x[1]), int64(y[1])), cmp.Compare(x[0], y[0]))
		})
	})
}

func compareFloats[T float32 | float64](x, y T) int {
	if x != x || y != y {
		return predicate.Unordered
	}
	return cmp.Compare(x, y)
}

// floatOf is a small float, or one that is none.
func floatOf(v int64) float64 {
	if v%5 == 0 {
		return math.NaN()
	}
	return float64(v % 4)
}

func testCompare[T any](t *rapid.T, n int, dt arrow.DataType, value func(int64) T, order func(x, y T) int) {
	var x, y []T
	for range n {
		v := rapid.Int64().Draw(t, "x")
		x, y = append(x, value(v)), append(y, value(v+rapid.SampledFrom([]int64{0, 0, 1, -1, math.MinInt64}).Draw(t, "y")))
	}
	array := func(v []T) arrow.Array {
		return arrowutil.Make(dt, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(v))}, nil, 0)
	}
	for op := range predicate.Comparisons {
		want, got := make([]byte, predicate.BitmapLen(n)), make([]byte, predicate.BitmapLen(n))
		predicate.Comparisons[op].Each(want, n, func(i int) int { return order(x[i], y[i]) })
		require.True(t, predicate.Comparisons[op].Arrays(array(x), array(y), false, got))
		require.Equal(t, want, got, "%s of %s", ast.Words[op], dt)
	}
}
