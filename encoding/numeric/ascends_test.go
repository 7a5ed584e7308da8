package numeric

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Ascends is true only of trees whose values ascend and are less than 2^63, and is true of the usual trees of
// offsets.
func TestAscends(t *testing.T) {
	var s Scratch
	r := rand.New(rand.NewPCG(3, 4))
	for _, first := range []uint64{0, 5, 1 << 62, 1<<62 + 1, 1<<63 - 10, ^uint64(0)} {
		for _, low := range []uint64{0, 7, 1 << 30, 1<<30 + 1, 1 << 62, ^uint64(0) - 3} {
			for _, width := range []int{1, 10, 30, 31, 62, 64} {
				for _, form := range []string{"Delta(FLBitPack)", "Delta(FFOR)", "Delta(PatchedPack)", "Delta(TightPack)", "FFOR", "Plain"} {
					values := []uint64{first}
					for range 3000 {
						first += low + r.Uint64()>>(64-width)
						values = append(values, first)
					}
					tree, err := AppendTreeAs(nil, values, bitmap.All(len(values)), form)
					if err != nil {
						continue
					}
					got := Ascends(tree, len(values), &s)
					if got {
						require.True(t, slices.IsSorted(values) && values[len(values)-1] < 1<<63, "%s from %d on by %d and %d bits", form, values[0], low, width)
					}
					if values[0] == 0 && low < 8 && width <= 10 && (form == "Delta(FLBitPack)" || form == "Delta(FFOR)") {
						require.True(t, got, form)
					}
					first = values[0]
				}
			}
		}
	}
	for _, bad := range [][]byte{nil, {5}, {5, 0}, {5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 40)} {
		require.False(t, Ascends(bad, 0, &s))
		require.False(t, Ascends(bad, 100, &s))
	}
}
