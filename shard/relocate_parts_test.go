package shard_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
)

// allowing are options of a reader that allows a folder.
func allowing(t require.TestingT, folder string) shard.OpenOptions {
	url, err := storage.URL(folder)
	require.NoError(t, err)
	return shard.OpenOptions{Policy: shard.Policy{}.With(url + "/")}
}

// Columns and stripes go to other folders and back: the shard shows the same, is sound, and its old files go once no version needs them.
func TestRelocateParts(t *testing.T) {
	t.Parallel() // it waits for disks
	rapid.Check(t, func(r *rapid.T) {
		ctx := t.Context()
		const rows = 300
		location := editable(t, rows, shard.WriterOptions{StripeRows: rapid.SampledFrom([]int64{70, 130, 1000}).Draw(r, "stripe"), Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout")),
			Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"id"}, PerStripe: true}, {Columns: []string{"text"}}}})
		hot := filepath.Dir(location)
		keep := rapid.SampledFrom([]int{0, 5}).Draw(r, "keep")
		if keep > 0 {
			require.NoError(r, shard.KeepVersions(ctx, location, shard.EditOptions{}, keep, 0))
		}
		if rapid.Bool().Draw(r, "deleted") {
			_, err := shard.Delete(ctx, location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 20, To: 90}}})
			require.NoError(r, err)
		}
		cold := filepath.Join(hot, "cold")
		open := shard.OpenOptions{}
		if rapid.Bool().Draw(r, "outside") {
			cold = t.TempDir()
			open = allowing(r, cold)
		}
		want := shownIDs(t, location, filter.Expr{})
		red := shownIDs(t, location, filter.Eq(filter.Col("text"), "red"))
		s, err := shard.Open(ctx, location, shard.OpenOptions{})
		require.NoError(r, err)
		stripes := s.NumStripes()
		require.NoError(r, s.Close())
		for range rapid.IntRange(1, 2).Draw(r, "times") {
			o := shard.RelocateOptions{Open: open, Move: rapid.Bool().Draw(r, "move"), DryRun: true}
			switch rapid.IntRange(0, 3).Draw(r, "parts") {
			case 0:
				o.Columns = []string{"text"}
			case 1:
				o.Columns = []string{"parts", "id"}
			case 2:
				o.Stripes = []int{rapid.IntRange(0, stripes-1).Draw(r, "number")}
			case 3:
				o.Where = filter.Lt(filter.Col("id"), 140)
			}
			to := rapid.SampledFrom([]string{cold, hot}).Draw(r, "to")
			files := func() []string { return append(dirNames(r, hot), dirNames(r, cold)...) }
			before := files()
			planned, err := shard.Relocate(ctx, location, to, o)
			require.NoError(r, err)
			require.Equal(r, before, files(), "a dry run")
			o.DryRun = false
			done, err := shard.Relocate(ctx, location, to, o)
			require.NoError(r, err)
			require.Len(r, done, len(planned))
			for i, f := range done {
				require.Equal(r, planned[i].Moved, f.Moved)
				require.Equal(r, planned[i].Removed, f.Removed, "%v, kept %d", f, keep)
			}
			require.Equal(r, want, shownIDsOf(t, location, open, filter.Expr{}))
			require.Equal(r, red, shownIDsOf(t, location, open, filter.Eq(filter.Col("text"), "red")))
			requireClean(r, location, open)
			again, err := shard.Relocate(ctx, location, to, o)
			require.NoError(r, err)
			for _, f := range again {
				require.Zero(r, f.Moved, "they are there")
			}
			if keep > 0 {
				o := open
				o.Version = 1
				_, err := readIDs(ctx, location, o, filter.Expr{})
				require.NoError(r, err)
			}
		}
		_, err = shard.Relocate(ctx, location, hot, shard.RelocateOptions{Open: open, Columns: []string{"id", "text", "parts"}, Move: true})
		require.NoError(r, err)
		requireClean(r, location, shard.OpenOptions{})
		require.Equal(r, want, shownIDs(t, location, filter.Expr{}))
		if keep == 0 {
			require.NoError(r, os.MkdirAll(cold, 0o777))
			for _, dir := range []string{hot, cold} {
				_, err = shard.Collect(ctx, dir, shard.CollectOptions{OlderThan: time.Nanosecond, Roots: []string{hot}, Remove: true})
				require.NoError(r, err)
			}
			require.Empty(r, dirNames(r, cold))
			requireClean(r, location, shard.OpenOptions{})
		}
	})
}

func dirNames(t require.TestingT, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A folder elsewhere has to be allowed by readers of what is there, and by them only.
func TestRelocatePartsPermission(t *testing.T) {
	location, cold := editable(t, 300, shard.WriterOptions{StripeRows: 100, Layout: shard.TwoLevel}), t.TempDir()
	all, err := shard.Relocate(t.Context(), location, cold, shard.RelocateOptions{Columns: []string{"text"}, Move: true})
	require.NoError(t, err)
	moved := int64(0)
	for _, f := range all {
		moved += f.Moved
	}
	require.Positive(t, moved)
	require.Len(t, dirNames(t, filepath.Dir(location)), 4, "the root, and new files in the place of the old ones")
	require.Len(t, dirNames(t, cold), 3)
	require.Len(t, shownIDs(t, location, filter.Expr{}), 300)
	_, err = readIDs(t.Context(), location, shard.OpenOptions{}, filter.HasPrefix(filter.Col("text"), "re"))
	require.ErrorIs(t, err, shard.ErrUnsupported)
	require.ErrorContains(t, err, "not allowed")
	require.NotEmpty(t, shownIDsOf(t, location, allowing(t, cold), filter.HasPrefix(filter.Col("text"), "re")))
	single, layout := filepath.Join(t.TempDir(), "x.shard"), shard.SingleFile
	_, err = shard.Relocate(t.Context(), location, single, shard.RelocateOptions{Open: allowing(t, cold), Layout: &layout})
	require.NoError(t, err)
	requireClean(t, single, shard.OpenOptions{})

	for text, o := range map[string]shard.RelocateOptions{
		"no stripe 3":  {Stripes: []int{3}},
		"nothing":      {Columns: []string{"nothing"}},
		"whole shards": {Columns: []string{"id"}, Layout: &layout},
		"both say":     {Stripes: []int{1}, Where: filter.Eq(filter.Col("id"), 1)},
	} {
		o.Open = allowing(t, cold)
		_, err := shard.Relocate(t.Context(), location, cold, o)
		require.ErrorContains(t, err, text)
	}
}

// Whole files are copied by the store; a shard on disk has columns in a store of a cloud.
func TestRelocatePartsInStores(t *testing.T) {
	server := fakes3.New(t)
	store := s3.New(s3.Options{Backoff: 1})
	storage.Register("s3", store)
	location := editable(t, 300_000, shard.WriterOptions{StripeRows: 100_000, Layout: shard.TwoLevel, Profile: encoding.ProfilePlain})
	up := "s3://bucket/hot/x.shard"
	_, err := shard.Relocate(t.Context(), location, up, shard.RelocateOptions{})
	require.NoError(t, err)
	_ = server.Sent()
	all, err := shard.Relocate(t.Context(), up, "s3://bucket/hot/cold/", shard.RelocateOptions{Stripes: []int{0, 2}, Move: true})
	require.NoError(t, err)
	size := int64(0)
	for _, f := range all {
		if size += f.Size; f.Moved > 0 {
			require.Equal(t, shard.RelocatedByStore, f.How)
			require.True(t, f.Removed)
		}
	}
	require.Less(t, server.Sent(), size/2, "metadata only")
	requireClean(t, up, shard.OpenOptions{})
	require.Len(t, slices.DeleteFunc(server.Keys(), func(key string) bool { return !strings.HasPrefix(key, "hot/cold/") }), 2)

	allow := shard.OpenOptions{Policy: shard.Policy{}.With("s3://bucket/")}
	for _, to := range []string{"s3://bucket/far", filepath.Dir(location)} {
		_, err = shard.Relocate(t.Context(), location, to, shard.RelocateOptions{Open: allow, Columns: []string{"text", "parts"}, Move: true})
		require.NoError(t, err)
		requireClean(t, location, allow)
		require.Len(t, shownIDsOf(t, location, allow, filter.Expr{}), 300_000)
	}
	requireClean(t, location, shard.OpenOptions{})
	require.Empty(t, slices.DeleteFunc(server.Keys(), func(key string) bool { return !strings.HasPrefix(key, "far/") }))
}
