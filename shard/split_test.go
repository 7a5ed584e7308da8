package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// Parts of any number of rows have the rows one after the other, and refer to the stripes that no other part has rows of.
func TestSplitRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const rows = 1000
		o := shard.WriterOptions{StripeRows: rapid.Int64Range(50, 1200).Draw(r, "stripe"), Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout"))}
		location := editable(t, rows, o)
		_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 90, To: 130}, {From: 700, To: 701}}})
		require.NoError(r, err)
		want := shownIDs(t, location, filter.Expr{})
		n := rapid.Int64Range(60, 1100).Draw(r, "rows")
		pattern := filepath.Join(filepath.Dir(location), "part-{}.amudai.shard")
		parts, err := shard.Split(t.Context(), location, pattern, shard.SplitOptions{Rows: n})
		require.NoError(r, err)
		require.Len(r, parts, int((rows+n-1)/n))
		got := []int64{}
		for i, p := range parts {
			from, to := int64(i)*n, min(int64(i+1)*n, rows)
			whole := 0
			for first := int64(0); first < rows; first += o.StripeRows {
				if first >= from && min(first+o.StripeRows, rows) <= to {
					whole++
				}
			}
			require.Equal(r, shard.SplitPart{Location: filepath.Join(filepath.Dir(location), fmt.Sprintf("part-%04d.amudai.shard", i)), Rows: to - from, Referred: whole}, p)
			got = append(got, shownIDs(t, p.Location, filter.Expr{})...)
			requireClean(r, p.Location, shard.OpenOptions{})
		}
		require.Equal(r, want, got)
		require.Equal(r, want, shownIDs(t, location, filter.Expr{}))
	})
}

// Parts of values have the rows with these, in their order.
func TestSplitValues(t *testing.T) {
	location := editable(t, 1000, shard.WriterOptions{StripeRows: 300})
	_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 0, To: 40}}})
	require.NoError(t, err)
	dir, temp := t.TempDir(), t.TempDir()
	o := shard.SplitOptions{By: "text", EditOptions: shard.EditOptions{MemoryBytes: 64 << 10, TempDir: temp, DryRun: true}}
	planned, err := shard.Split(t.Context(), location, filepath.Join(dir, "{}.amudai.shard"), o)
	require.NoError(t, err)
	o.DryRun = false
	parts, err := shard.Split(t.Context(), location, filepath.Join(dir, "{}.amudai.shard"), o)
	require.NoError(t, err)
	require.ElementsMatch(t, planned, parts)
	var all []int64
	for _, name := range []string{"blue", "green", "null", "red"} {
		where := filter.Eq(filter.Col("text"), name)
		if name == "null" {
			where = filter.IsNull(filter.Col("text"))
		}
		want := shownIDs(t, location, where)
		part := filepath.Join(dir, name+".amudai.shard")
		require.Equal(t, want, shownIDs(t, part, filter.Expr{}), name)
		require.Contains(t, parts, shard.SplitPart{Location: part, Rows: int64(len(want))})
		requireClean(t, part, shard.OpenOptions{})
		all = append(all, want...)
	}
	slices.Sort(all)
	require.Equal(t, shownIDs(t, location, filter.Expr{}), all)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)

	big := editable(t, 1100, shard.WriterOptions{})
	for _, c := range []struct {
		pattern string
		o       shard.SplitOptions
		err     string
	}{
		{"x-{}.shard", shard.SplitOptions{By: "id"}, "more than 1000 values"},
		{"x.shard", shard.SplitOptions{By: "text"}, "needs {} once"},
		{"x-{}.shard", shard.SplitOptions{}, "by a number of rows, or by a value"},
		{"x-{}.shard", shard.SplitOptions{By: "text", Rows: 1}, "by a number of rows, or by a value"},
		{"x-{}.shard", shard.SplitOptions{By: "nothing"}, "nothing"},
	} {
		parts, err := shard.Split(t.Context(), big, filepath.Join(dir, c.pattern), c.o)
		require.ErrorContains(t, err, c.err)
		require.Empty(t, parts)
	}
	_, err = shard.Split(t.Context(), location, filepath.Join(dir, "{}.amudai.shard"), o)
	require.ErrorIs(t, err, os.ErrExist)
}
