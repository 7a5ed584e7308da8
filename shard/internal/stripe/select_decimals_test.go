package stripe_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// coefficient returns a decimal times 10^scale.
func coefficient(arr arrow.Array, i int) int64 {
	switch a := arr.(type) {
	case *array.Decimal32:
		return int64(a.Value(i))
	case *array.Decimal64:
		return int64(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).BigInt().Int64()
	}
	return arr.(*array.Decimal256).Value(i).BigInt().Int64()
}

// FindNumbers returns the rows of decimals within intervals, with and without nulls, for blocks of integers and of
// other encodings.
func TestSelectDecimals(t *testing.T) {
	ctx := context.Background()
	for k, dt := range []arrow.DataType{
		&arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 18, Scale: -3}, &arrow.Decimal64Type{Precision: 12, Scale: 4},
		&arrow.Decimal32Type{Precision: 7, Scale: 2}, &arrow.Decimal256Type{Precision: 10, Scale: 5},
	} {
		eachNullable(t, dt, uint64(k), func(c *testColumn, all arrow.Array, r *rand.Rand) {
			for _, chance := range []float64{0, 0.05, 1} {
				set, rows := randomRows(r, 6000, chance, 40)
				pivot := coefficient(all, r.IntN(6000))
				in := valueset.Ints{{Lo: pivot, Hi: pivot}, {Lo: pivot / 3, Hi: pivot / 2}, {Lo: 1 << 62, Hi: 1<<63 - 1}}
				var want []int64
				for _, i := range rows {
					v := coefficient(all, int(i))
					if all.IsValid(int(i)) && (v == pivot || v >= pivot/3 && v <= pivot/2 || v >= 1<<62) {
						want = append(want, i)
					}
				}
				got, ok, err := c.FindNumbers(ctx, set, in)
				require.NoError(t, err)
				require.True(t, ok)
				requireSet(t, want, got)
			}
		})
	}
}

// FindNumbers refuses decimals of more digits than 64 bits hold.
func TestSelectDecimalsRefuses(t *testing.T) {
	ctx := context.Background()
	for _, dt := range []arrow.DataType{&arrow.Decimal128Type{Precision: 19, Scale: 2}, &arrow.Decimal256Type{Precision: 30, Scale: 0}} {
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt}}, nil)
		a, columns := writeStripe(t, s, []arrow.RecordBatch{arrowgen.New(1).Batch(s, 100)}, write.Options{})
		c, err := openColumn(ctx, a, columns[0], nil)
		require.NoError(t, err)
		_, ok, err := c.FindNumbers(ctx, rowset.All(100), valueset.Ints{{Lo: 1, Hi: 2}})
		require.NoError(t, err)
		require.False(t, ok)
	}
}
