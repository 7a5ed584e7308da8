package shard_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// TestVerifyNamesTheBitOfIndexes flips bits of range indexes, which scans do not read. Verify names the bits.
func TestVerifyNamesTheBitOfIndexes(t *testing.T) {
	root := liesShard(t).Join()
	Mend(root)
	flipped := 0
	for _, r := range Regions(root) {
		if r.Check != RangeIndex {
			continue
		}
		for i := r.Start; i < r.End; i += 3 {
			bit := i % 8
			root[i] ^= 1 << bit
			report, err := shard.Verify(context.Background(), Location, shard.OpenOptions{Store: OneFile(root)}, provider.VerifyOptions{})
			root[i] ^= 1 << bit
			require.NoError(t, err)
			require.Len(t, report.Problems, 1)
			f := report.Problems[0]
			require.ErrorIs(t, f, shard.ErrChecksum)
			var bitOf *shard.FlippedBit
			require.ErrorAs(t, f, &bitOf)
			require.Equal(t, shard.FlippedBit{Artifact: Location, Offset: int64(i), Bit: bit, Err: bitOf.Err}, *bitOf)
			flipped++
		}
	}
	require.Greater(t, flipped, 20)
}
