package analysis

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Codes of lengths are in the order of lengths, and at most a sixteenth below them.
func TestLengthCodes(t *testing.T) {
	last := uint8(0)
	for n := range 1 << 20 {
		code := LengthCode(n)
		require.True(t, code == last || code == last+1, n)
		if length := Length(code); code < 255 {
			require.True(t, length <= n && n-length <= n/16, "%d: %d", n, length)
		}
		last = code
	}
	require.EqualValues(t, 255, last)
	require.Equal(t, 507_904, Length(255))
	require.EqualValues(t, 255, LengthCode(math.MaxInt32))
}
