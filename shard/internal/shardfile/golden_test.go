package shardfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/golden"
)

// TestGoldenMetadata compares the metadata of every golden shard with the recorded metadata.
func TestGoldenMetadata(t *testing.T) {
	stats := golden.AllStats(t)
	descriptors := 0
	shards := golden.Shards(t)
	for _, g := range shards {
		t.Run(g.File, func(t *testing.T) {
			f, err := Open(context.Background(), g.Path(t), OpenOptions{})
			require.NoError(t, err)
			defer f.Close()
			compareShard(t, f, stats[g.File])
			descriptors += compareFields(t, f, stats[g.File])
		})
	}
	t.Logf("metadata of %d shards equal, %d descriptors", len(shards), descriptors)
}

func compareShard(t *testing.T, f *File, want golden.Stats) {
	ctx := context.Background()
	require.Equal(t, want.Rows, float64(f.Rows()))
	require.Equal(t, want.StripeCount, f.NumStripes())
	require.Equal(t, want.RawDataSize, float64(f.Directory().GetRawDataSize()))
	p, err := f.Properties(ctx)
	require.NoError(t, err)
	require.Equal(t, want.CreationMin, fmt.Sprint(p.GetCreationMin().GetTicks()))
	require.Equal(t, want.CreationMax, fmt.Sprint(p.GetCreationMax().GetTicks()))
	for i := range want.Properties {
		withoutText(want.Properties[i][1])
	}
	require.Equal(t, want.Properties, recordedProperties(p.CustomProperties))
	s, err := f.Schema(ctx)
	require.NoError(t, err)
	require.EqualValues(t, want.SchemaNodes, s.IDCount())
	indexes, err := f.Indexes(ctx)
	require.NoError(t, err)
	require.Empty(t, indexes.IndexDescriptors)
	urls, err := f.URLs(ctx)
	require.NoError(t, err)
	for _, u := range urls {
		require.FileExists(t, filepath.Join(filepath.Dir(f.Location()), u))
	}
}

func compareFields(t *testing.T, f *File, want golden.Stats) (n int) {
	ctx := context.Background()
	for id, w := range want.ShardFields {
		d, err := f.FieldDescriptor(ctx, uint32(id))
		require.NoError(t, err)
		withoutText(w)
		require.Equal(t, w, recordedDescriptor(d), "schema id %d", id)
	}
	for i, w := range want.Stripes {
		s := f.Stripe(i)
		require.Equal(t, w.Records, float64(s.Rows()))
		require.Equal(t, w.ShardPosition, float64(s.Position()))
		require.Equal(t, w.RawDataSize, float64(s.Directory().GetRawDataSize()))
		p, err := s.Properties(ctx)
		require.NoError(t, err)
		require.Equal(t, w.Properties, recordedProperties(p.CustomProperties))
		ids := []uint32{}
		for _, field := range w.Fields {
			ids = append(ids, field.SchemaID)
			n++
			d, err := s.Descriptor(ctx, field.SchemaID)
			require.NoError(t, err)
			withoutText(field.Descriptor)
			require.Equal(t, field.Descriptor, recordedDescriptor(d.Field), "%s", field.Path)
			buffers := d.Encodings[0].GetNative().Buffers
			require.Len(t, buffers, len(field.Buffers))
			for k, b := range buffers {
				require.Equal(t, field.Buffers[k].Kind, b.Kind.String())
				require.Equal(t, field.Buffers[k].Size, float64(b.Buffer.Range.End-b.Buffer.Range.Start))
				if field.Buffers[k].Blocks != nil {
					require.Equal(t, *field.Buffers[k].Blocks, float64(b.GetBlockCount()))
				}
				r, err := s.Artifact(ctx, field.SchemaID, b.Buffer)
				require.NoError(t, err)
				require.NoError(t, r.ReadAt(ctx, make([]byte, 8), int64(b.Buffer.Range.Start)))
			}
		}
		require.NoError(t, s.Prefetch(ctx, ids))
	}
	return n
}

// TestMovedShard opens copies under another name and in another folder. The descriptors of the shard are found,
// although the reference refers to them by the first location.
func TestMovedShard(t *testing.T) {
	stats := golden.AllStats(t)
	for _, g := range golden.Shards(t) {
		if g.File != "properties/props.amudai.shard" && g.File != "layouts/mixed-twolevel/mixed-twolevel.amudai.shard" {
			continue
		}
		dir := filepath.Join(t.TempDir(), "50% öff #1")
		require.NoError(t, os.Mkdir(dir, 0o777))
		from := g.Path(t)
		stripes, err := filepath.Glob(filepath.Join(filepath.Dir(from), "*.amudai.stripe"))
		require.NoError(t, err)
		for _, name := range stripes {
			copyFile(t, name, filepath.Join(dir, filepath.Base(name)))
		}
		moved := filepath.Join(dir, "other name.shard")
		copyFile(t, from, moved)
		f, err := Open(context.Background(), moved, OpenOptions{})
		require.NoError(t, err)
		require.NotZero(t, compareFields(t, f, stats[g.File]))
		require.NoError(t, f.Close())
	}
}

func copyFile(t *testing.T, from, to string) {
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o666))
}

// TestWideOpen checks that one of 2,000 columns costs one descriptor.
func TestWideOpen(t *testing.T) {
	ctx := context.Background()
	for _, g := range golden.Shards(t) {
		if g.File != "wide/wide-2000.amudai.shard" {
			continue
		}
		f, err := Open(ctx, g.Path(t), OpenOptions{})
		require.NoError(t, err)
		defer f.Close()
		s, err := f.Schema(ctx)
		require.NoError(t, err)
		first, err := s.Field(1000)
		require.NoError(t, err)
		d, err := f.Stripe(0).Descriptor(ctx, first.ID())
		require.NoError(t, err)
		require.EqualValues(t, 3, d.Field.PositionCount)
		require.Equal(t, 2, f.cache.Len()) // field list and descriptor
	}
}

// TestFieldListWindow checks that a field list keeps only descriptors of the bytes that were read with it.
func TestFieldListWindow(t *testing.T) {
	ctx := context.Background()
	for _, g := range golden.Shards(t) {
		f, err := Open(ctx, g.Path(t), OpenOptions{SuffixBytes: 64})
		require.NoError(t, err)
		for i := range f.NumStripes() {
			l, err := f.Stripe(i).fieldList(ctx)
			require.NoError(t, err)
			require.Equal(t, l.firstDescriptor(), l.windowOff, g.File)
			require.LessOrEqual(t, cap(l.window), 2*(len(l.window)+l.Size()+64), g.File)
		}
		require.NoError(t, f.Close())
	}
}
