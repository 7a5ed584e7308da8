package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// versionIDs are the rows that a version of a shard shows.
func versionIDs(t testing.TB, location string, version int64) []int64 {
	return shownIDsOf(t, location, shard.OpenOptions{Version: version}, filter.Expr{})
}

// Earlier versions are read, listed, restored and forgotten as the shard says, in both layouts, and the collector removes only what none of them needs.
func TestVersions(t *testing.T) {
	for _, layout := range []shard.Layout{shard.SingleFile, shard.TwoLevel} {
		t.Run(layout.String(), func(t *testing.T) {
			ctx, o := t.Context(), shard.EditOptions{}
			location := editable(t, 600, shard.WriterOptions{StripeRows: 250, Layout: layout})
			below := func(n int64) shard.Rows { return shard.Rows{Where: filter.Lt(filter.Col("id"), n)} }
			_, err := shard.Delete(ctx, location, o, below(10)) // of which nothing is kept
			require.NoError(t, err)
			require.NoError(t, shard.KeepVersions(ctx, location, o, 3, 0))
			for i := range int64(3) {
				_, err := shard.Delete(ctx, location, o, below(100*(i+1)))
				require.NoError(t, err)
			}
			require.NoError(t, shard.AddIndex(ctx, location, o, shard.IndexDefinition{Columns: []string{"text"}}))

			s, err := shard.Open(ctx, location, shard.OpenOptions{})
			require.NoError(t, err)
			versions, err := s.Versions(ctx)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			var told []string
			for _, v := range versions {
				require.WithinDuration(t, time.Now(), v.Time, time.Hour)
				told = append(told, fmt.Sprint(v.Number, " ", v.Rows-v.Deleted, " ", v.Change))
			}
			require.Equal(t, []string{"6 300 add index", "5 300 delete 100 rows", "4 400 delete 100 rows", "3 500 delete 90 rows"}, told)
			for version, shown := range map[int64]int{0: 300, 6: 300, 5: 300, 4: 400, 3: 500} {
				require.Len(t, versionIDs(t, location, version), shown)
			}
			_, err = shard.Open(ctx, location, shard.OpenOptions{Version: 2})
			require.ErrorContains(t, err, "it has 3 to 6")
			_, err = shard.Delete(ctx, location, shard.EditOptions{Open: shard.OpenOptions{Version: 4}}, below(600))
			require.ErrorContains(t, err, "earlier version")
			require.Len(t, shownIDsOf(t, location, shard.OpenOptions{AsOf: versions[2].Time}, filter.Expr{}), 400)
			_, err = shard.Open(ctx, location, shard.OpenOptions{AsOf: versions[3].Time.Add(-time.Nanosecond)})
			require.Error(t, err)

			// What no version needs goes; all versions stay.
			old := time.Now().Add(-48 * time.Hour)
			entries, err := os.ReadDir(filepath.Dir(location))
			require.NoError(t, err)
			for _, e := range entries {
				require.NoError(t, os.Chtimes(filepath.Join(filepath.Dir(location), e.Name()), old, old))
			}
			c, err := shard.Collect(ctx, filepath.Dir(location), shard.CollectOptions{Remove: true})
			require.NoError(t, err)
			require.Positive(t, c.Removed)
			for version, shown := range map[int64]int{0: 300, 5: 300, 4: 400, 3: 500} {
				require.Len(t, versionIDs(t, location, version), shown)
			}

			require.NoError(t, shard.Restore(ctx, location, o, 4))
			require.Len(t, versionIDs(t, location, 0), 400)
			require.Len(t, versionIDs(t, location, 6), 300)
			require.NoError(t, shard.Restore(ctx, location, o, 7)) // the present one
			require.Len(t, versionIDs(t, location, 0), 400)
			report, err := shard.Verify(ctx, location, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.Empty(t, report.Problems)

			// Names of changes; parts of a shard have none of its versions, and another root in the place of one is damage.
			_, err = shard.Edit(ctx, location, o, shard.RenameColumn("text", "colour"), shard.DropColumns("parts"))
			require.NoError(t, err)
			s, err = shard.Open(ctx, location, shard.OpenOptions{})
			require.NoError(t, err)
			versions, err = s.Versions(ctx)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.Equal(t, "rename text to colour; drop parts", versions[0].Change)
			parts, err := shard.Split(ctx, location, filepath.Join(filepath.Dir(location), "part-{}.shard"), shard.SplitOptions{Rows: 250})
			require.NoError(t, err)
			s, err = shard.Open(ctx, parts[0].Location, shard.OpenOptions{})
			require.NoError(t, err)
			own, err := s.Versions(ctx)
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.Len(t, own, 1)
			named := func(v shard.Version) string { return filepath.Join(filepath.Dir(location), v.URL) }
			other, err := os.ReadFile(named(versions[2]))
			require.NoError(t, err)
			require.Equal(t, versions[1].Rows-versions[1].Deleted, versions[2].Rows-versions[2].Deleted)
			require.NoError(t, os.Remove(named(versions[1])))
			require.NoError(t, os.WriteFile(named(versions[1]), other, 0o666))
			_, err = shard.Open(ctx, location, shard.OpenOptions{Version: versions[1].Number})
			require.ErrorIs(t, err, shard.ErrCorrupt)

			require.NoError(t, shard.KeepVersions(ctx, location, o, 0, 0))
			_, err = shard.Open(ctx, location, shard.OpenOptions{Version: 4})
			require.Error(t, err)
			require.Len(t, versionIDs(t, location, 0), 400)
		})
	}
}
