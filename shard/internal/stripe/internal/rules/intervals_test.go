package rules

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
)

// Intervals are limited to the range of the stored type, in its unit.
func TestStoredNumbers(t *testing.T) {
	all := &Numbers{
		Ints:   []numeric.Interval[int64]{{Low: math.MinInt64, High: -200}, {Low: 5, High: 5}, {Low: 100, High: math.MaxInt64}},
		Uints:  []numeric.Interval[uint64]{{Low: 3, High: 4}, {Low: 200, High: math.MaxUint64}, {Low: 1 << 40, High: 1 << 41}},
		Floats: []numeric.Interval[float64]{{Low: math.Inf(-1), High: 1.5}},
	}
	require.Equal(t, []numeric.Interval[int8]{{Low: 5, High: 5}, {Low: 100, High: 127}}, StoredOf[int8](arrowmap.Same, 0)(all))
	require.Equal(t, []numeric.Interval[int64]{{Low: math.MinInt64, High: -200}, {Low: 5, High: 5}, {Low: 100, High: math.MaxInt64}},
		StoredOf[int64](arrowmap.Same, 0)(all))
	require.Equal(t, []numeric.Interval[uint8]{{Low: 3, High: 4}, {Low: 200, High: 255}}, StoredOf[uint8](arrowmap.Same, 0)(all))
	require.Equal(t, []numeric.Interval[float32]{{Low: float32(math.Inf(-1)), High: 1.5}}, StoredOf[float32](arrowmap.Same, 0)(all))
	const day = 864_000_000_000
	require.Equal(t, numeric.Interval[uint64]{Low: convert.Epoch + 5*day, High: convert.Epoch + 5*day}, StoredOf[uint64](arrowmap.Ticks, convert.Day)(all)[1])
	require.Equal(t, numeric.Interval[int64]{Low: 50, High: 50}, StoredOf[int64](arrowmap.Span, convert.Microsecond)(all)[1])
	require.Len(t, StoredOf[int64](arrowmap.Span, convert.Nanosecond)(all), 2, "5 ns lie between two ticks")
	require.Nil(t, StoredOf[float32](arrowmap.Float16, 0))
}
