package word

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSortBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint64{0, 1, 255, 256, 1 << 16, 1<<24 - 1, 1 << 24, 1 << 63}).Draw(t, "most")
		values := rapid.SliceOfN(rapid.Uint64Range(0, most), 0, 600).Draw(t, "values")
		checkSortBits(t, values, bits.Len64(most))
		small := make([]uint8, len(values))
		for i, v := range values {
			small[i] = uint8(v)
		}
		checkSortBits(t, small, 8)
	})
}

func checkSortBits[U Uint](t *rapid.T, values []U, width int) {
	want := slices.Sorted(slices.Values(values))
	SortBits(&Arena{}, values, width)
	require.Equal(t, want, slices.AppendSeq([]U(nil), slices.Values(values)))
}
