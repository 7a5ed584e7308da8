package shard_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// liveShards makes shards in a folder that were deleted from, edited and merged.
func liveShards(t *testing.T, dir string) {
	ctx, o := t.Context(), shard.EditOptions{}
	var locations []string
	for i, rows := range []int{300, 80} {
		w := shard.WriterOptions{StripeRows: 200, CreationTime: Created, Program: "TestFrozenLife", Layout: shard.Layout(i)}
		from := editable(t, rows, w)
		entries, err := os.ReadDir(filepath.Dir(from))
		require.NoError(t, err)
		for _, e := range entries {
			name := e.Name()
			if name == filepath.Base(from) {
				name = []string{"deleted.amudai.shard", "edited.amudai.shard"}[i]
				locations = append(locations, filepath.Join(dir, name))
			}
			require.NoError(t, os.Rename(filepath.Join(filepath.Dir(from), e.Name()), filepath.Join(dir, name)))
		}
	}
	_, err := shard.Delete(ctx, locations[0], o, shard.Rows{Where: filter.Eq(filter.Col("text"), "green")})
	require.NoError(t, err)
	_, err = shard.Edit(ctx, locations[1], o, shard.AddColumn("double", "id * 2"), shard.RenameColumn("text", "colour"), shard.DropColumns("parts"))
	require.NoError(t, err)
	_, err = shard.Merge(ctx, filepath.Join(dir, "merged.amudai.shard"), locations, shard.MergeOptions{})
	require.NoError(t, err)
}

// TestFrozenLife holds later versions to the bytes of shards that were changed, as [TestFrozen] does for others. They are written with -freeze.
func TestFrozenLife(t *testing.T) {
	frozen := filepath.Join("testdata", "frozen", "life")
	if *freeze {
		require.NoError(t, os.RemoveAll(frozen))
		require.NoError(t, os.MkdirAll(frozen, 0o777))
		liveShards(t, frozen)
	}
	dir := t.TempDir()
	liveShards(t, dir)
	files := map[string][]string{}
	for _, d := range []string{frozen, dir} {
		entries, err := os.ReadDir(d)
		require.NoError(t, err)
		for _, e := range entries {
			files[d] = append(files[d], e.Name())
		}
	}
	require.Equal(t, files[frozen], files[dir])
	for _, name := range files[frozen] {
		want, err := os.ReadFile(filepath.Join(frozen, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.True(t, slices.Equal(want, got), "%s: the same changes give other bytes than in version 0.1.0", name)
	}
	var shown []int64
	for i := range int64(300) {
		if i%3 != 1 || i%11 == 5 {
			shown = append(shown, i)
		}
	}
	require.Equal(t, shown, shownIDs(t, filepath.Join(frozen, "deleted.amudai.shard"), filter.Expr{}))
	require.Equal(t, []int64{21}, shownIDs(t, filepath.Join(frozen, "edited.amudai.shard"), filter.And(filter.Eq(filter.Col("double"), 42), filter.Eq(filter.Col("colour"), "red"))))
	require.Len(t, shownIDs(t, filepath.Join(frozen, "merged.amudai.shard"), filter.Expr{}), len(shown)+80)
	require.Equal(t, []int64{21}, shownIDs(t, filepath.Join(frozen, "merged.amudai.shard"), filter.Eq(filter.Col("double"), 42)))
	for _, name := range []string{"deleted", "edited", "merged"} {
		requireIntact(t, filepath.Join(frozen, name+".amudai.shard"))
	}
}
