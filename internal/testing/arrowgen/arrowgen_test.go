package arrowgen

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

func TestEveryTypeIsDeterministic(t *testing.T) {
	for _, dt := range Types() {
		for _, n := range []int{0, 1, 300} {
			a, b := New(7).Array(dt, n), New(7).Array(dt, n)
			require.Equal(t, n, a.Len(), dt)
			require.True(t, arrow.TypeEqual(dt, a.DataType()), dt)
			require.Equal(t, -1, arrowutil.Difference(a, b), dt)
			a.Release()
			b.Release()
		}
	}
}
