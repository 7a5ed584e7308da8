package shardwriter_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// TestOneRequest reads all data of a small shard with a single request.
func TestOneRequest(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x")
	writeShard(t, location, shardwriter.Options{}, 3)
	faults := faultstore.New()
	f := openShard(t, location, shardfile.OpenOptions{Store: faults.Wrap(storage.Local{})})
	checkShard(t, f, 3)
	compareRootCounts(t, f)
	require.Equal(t, 1, faults.Count(faultstore.Read))
}

func compareRootCounts(t *testing.T, f *shardfile.File) {
	for id := range uint32(3) {
		d, err := f.FieldDescriptor(context.Background(), id)
		require.NoError(t, err)
		require.EqualValues(t, f.Rows(), d.PositionCount)
	}
}

// TestFewRequests counts the requests for one column, and for all descriptors, of a shard with 2,000 columns whose
// metadata are much larger than the first read.
func TestFewRequests(t *testing.T) {
	ctx := context.Background()
	for _, g := range golden.Shards(t) {
		if g.File != "wide/wide-2000.amudai.shard" {
			continue
		}
		path := g.Path(t)
		faults := faultstore.New()
		f := openShard(t, path, shardfile.OpenOptions{Store: faults.Wrap(storage.Local{}), SuffixBytes: 4096})
		_, err := f.Stripe(0).Descriptor(ctx, 1000)
		require.NoError(t, err)
		// The end, stripe list, schema, field list, descriptor.
		require.LessOrEqual(t, faults.Count(faultstore.Read), 5)

		faults.Reset()
		f = openShard(t, path, shardfile.OpenOptions{Store: faults.Wrap(storage.Local{}), SuffixBytes: 4096})
		ids := make([]uint32, 2000)
		for i := range ids {
			ids[i] = uint32(i)
		}
		require.NoError(t, f.Stripe(0).Prefetch(ctx, ids))
		for _, id := range ids {
			_, err := f.Stripe(0).Descriptor(ctx, id)
			require.NoError(t, err)
		}
		require.LessOrEqual(t, faults.Count(faultstore.Read), 5)
	}
}

// TestOneRequestPerStripe reads the field list and the descriptors of a stripe with one request.
func TestOneRequestPerStripe(t *testing.T) {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "x")
	const stripes = 100
	writeShard(t, location, shardwriter.Options{}, stripes)
	faults := faultstore.New()
	f := openShard(t, location, shardfile.OpenOptions{Store: faults.Wrap(storage.Local{}), SuffixBytes: 64})
	_, err := f.Schema(ctx)
	require.NoError(t, err)
	for i := range stripes {
		faults.Reset()
		s := f.Stripe(i)
		for id := range uint32(3) {
			_, err := s.Descriptor(ctx, id)
			require.NoError(t, err)
		}
		require.Equal(t, 1, faults.Count(faultstore.Read))
	}
}
