package shard_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// TestSplitAndJoin splits shards and joins the parts to shards of the same content. Mend changes nothing in a
// valid shard, and repairs a damaged one.
func TestSplitAndJoin(t *testing.T) {
	for _, k := range Kinds(t, 60) {
		want := contentsIn(t, Files(k.Files))
		mended := bytes.Clone(k.Root)
		Mend(mended)
		require.True(t, bytes.Equal(k.Root, mended), k.Name)
		regions := Regions(k.Root)
		require.NotEmpty(t, regions)
		for _, r := range regions {
			require.LessOrEqual(t, r.Start, r.End)
			if r.Sum >= 0 {
				mended[r.Sum] ^= 0x10
			}
		}
		Mend(mended)
		require.True(t, bytes.Equal(k.Root, mended), k.Name)
		if len(k.Files) > 1 {
			continue
		}
		p, err := Split(k.Root)
		require.NoError(t, err, k.Name)
		joined := p.Join()
		require.True(t, same(want, contentsIn(t, OneFile(joined))), k.Name)
		again, err := Split(joined)
		require.NoError(t, err)
		require.True(t, bytes.Equal(joined, again.Join()))
		r, err := shard.Verify(context.Background(), Location, shard.OpenOptions{Store: OneFile(joined)}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, r.Problems, k.Name)
	}
}

func contentsIn(t *testing.T, store *Store) []arrow.RecordBatch {
	batches, err := Read(Location, shard.OpenOptions{Store: store}, shard.ScanOptions{})
	require.NoError(t, err)
	require.Zero(t, store.OpenReaders())
	return batches
}

// same reports whether two lists of batches have the same columns and values, with batches of
// the same lengths.
func same(a, b []arrow.RecordBatch) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Schema().Equal(b[i].Schema()) || a[i].NumRows() != b[i].NumRows() {
			return false
		}
		for c := range a[i].Columns() {
			if arrowutil.Difference(a[i].Column(c), b[i].Column(c)) >= 0 {
				return false
			}
		}
	}
	return true
}
