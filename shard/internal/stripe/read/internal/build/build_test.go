package build

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// TestNullBytes requires that sizes of nulls stay positive, however large the lists are that a file names.
func TestNullBytes(t *testing.T) {
	require.EqualValues(t, 9, NullBytes(arrow.PrimitiveTypes.Int64))
	require.EqualValues(t, 1+3*9, NullBytes(arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int64)))
	require.EqualValues(t, 1+9+17, NullBytes(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String})))
	dt := arrow.DataType(arrow.PrimitiveTypes.Int64)
	for range 4 {
		before := NullBytes(dt)
		dt = arrow.FixedSizeListOf(math.MaxInt32, dt)
		require.Greater(t, NullBytes(dt), before-1)
	}
}
