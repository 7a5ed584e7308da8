package shardwriter_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/recovery"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// unfinished writes stripes, and returns the bytes of the artifact as a killed process would leave them.
func unfinished(t *testing.T, dir string, stripes int, o shardwriter.Options) []byte {
	t.Helper()
	ctx := context.Background()
	o.CreationTime = created
	w, err := shardwriter.Create(ctx, filepath.Join(dir, "x"), testSchema(t), o)
	require.NoError(t, err)
	for i := range stripes {
		f := testStripe(t, 10*i, fmt.Sprintf("stripe %d ", i))
		require.NoError(t, w.AppendStripe(ctx, f, shardwriter.StripeOptions{Properties: []shardfile.Property{{Name: "number", Value: i}}}))
		f.Release()
	}
	size := w.Size()
	require.NoError(t, w.Close(ctx))
	b, err := os.ReadFile(filepath.Join(dir, "x"))
	require.NoError(t, err)
	return b[:size]
}

func TestOpenUnfinished(t *testing.T) {
	ctx := context.Background()
	for _, layout := range []shardwriter.Layout{shardwriter.SingleFile, shardwriter.TwoLevel} {
		dir := t.TempDir()
		b := unfinished(t, dir, 4, shardwriter.Options{Layout: layout, Properties: []shardfile.Property{{Name: "k", Value: "v"}}})
		store := storage.Store(storage.Local{})
		location := filepath.Join(dir, "cut")
		for cut := 0; cut <= len(b); cut++ {
			if cut < len(b) && cut%7 != 0 {
				continue
			}
			require.NoError(t, os.WriteFile(location, b[:cut], 0o666))
			_, err := shardfile.Open(ctx, location, shardfile.OpenOptions{})
			require.True(t, isFault(err), "%v", err)
			all, found, err := shardfile.OpenUnfinished(ctx, location, shardfile.OpenOptions{Store: store})
			if err != nil {
				require.ErrorIs(t, err, fault.ErrCorrupt)
				continue
			}
			require.Len(t, all, 1)
			f := all[0]
			require.Equal(t, f.NumStripes(), found.Records)
			checkShard(t, f, found.Records)
			p, err := f.Properties(ctx)
			require.NoError(t, err)
			require.Equal(t, []shardfile.Property{{Name: "k", Value: "v"}}, shardfile.PropertiesFromProto(p.CustomProperties))
			if cut == len(b) {
				require.Equal(t, &shardfile.Found{Records: 4}, found)
			}
			require.NoError(t, f.Close())
		}
	}
}

func TestUnfinishedWithDamage(t *testing.T) {
	ctx := context.Background()
	b := unfinished(t, t.TempDir(), 4, shardwriter.Options{})
	at := bytes.Index(b, []byte(recovery.Magic))
	second := at + 1 + bytes.Index(b[at+1:], []byte(recovery.Magic))

	// One record is damaged.
	broken := bytes.Clone(b)
	broken[second+20] ^= 1
	f, found, err := openBytes(ctx, broken)
	require.NoError(t, err)
	require.Equal(t, &shardfile.Found{Records: 3, Damaged: 1, Missing: []int{1}}, found)
	require.EqualValues(t, 10*(0+2+3), f.Rows())

	// The data contain a copy of a record, at another position than the record states.
	f, found, err = openBytes(ctx, append(bytes.Clone(b), b[at-4:second]...))
	require.NoError(t, err)
	require.Equal(t, 4, found.Records)
	require.Equal(t, 1, found.Damaged)
	require.Equal(t, 4, f.NumStripes())

	// The schema is damaged.
	broken = bytes.Clone(b)
	broken[20] ^= 1
	_, _, err = openBytes(ctx, broken)
	require.ErrorIs(t, err, fault.ErrChecksum)
}

func openBytes(ctx context.Context, b []byte) (*shardfile.File, *shardfile.Found, error) {
	store := storage.NewMemory()
	if err := store.Put("mem://x/shard", b); err != nil {
		return nil, nil, err
	}
	all, found, err := shardfile.OpenUnfinished(ctx, "mem://x/shard", shardfile.OpenOptions{Store: store})
	if err != nil {
		return nil, nil, err
	}
	return all[0], found, nil
}
