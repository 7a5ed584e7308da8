package shard_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/shard/internal/shardtest"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// A field with an encoding in a Parquet file that cannot be read, and two native ones, is read, verified and copied with all of them.
func TestAlternativesAreCopied(t *testing.T) {
	ctx := context.Background()
	p := liesShard(t)
	p.Stripes[0].Fields[colInt].Edit = func(d *shardpb.StripeFieldDescriptor) {
		parquet := &shardpb.DataEncoding{Kind: &shardpb.DataEncoding_Parquet{Parquet: &shardpb.ExternalParquetDataEncoding{}}}
		d.Encodings = append([]*shardpb.DataEncoding{parquet}, d.Encodings[0], proto.CloneOf(d.Encodings[0]))
	}
	root := p.Join()
	shardtest.Mend(root)
	s, err := shard.Open(ctx, shardtest.Location, shard.OpenOptions{Store: shardtest.OneFile(root)})
	require.NoError(t, err)
	defer s.Close()
	store := storage.NewMemory()
	require.NoError(t, shard.Pack(ctx, "mem://x/packed", shard.PackOptions{Store: store}, s))
	c, err := shard.Open(ctx, "mem://x/packed", shard.OpenOptions{Store: store})
	require.NoError(t, err)
	defer c.Close()
	for _, s := range []*shard.Shard{s, c} {
		rows := int64(0)
		for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"int"}}) {
			require.NoError(t, err)
			rows += batch.NumRows()
		}
		require.EqualValues(t, liesRows, rows)
	}
	r, err := store.Open(ctx, "mem://x/packed")
	require.NoError(t, err)
	raw, _, err := r.ReadSuffix(ctx, 1<<30)
	require.NoError(t, err)
	most := 0
	for _, d := range rawShard(raw).fields(t) {
		most = max(most, len(d.Encodings))
	}
	require.Equal(t, 3, most)
	report, err := shard.Verify(ctx, "mem://x/packed", shard.OpenOptions{Store: store}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.NotZero(t, report.Unchecked)
}
