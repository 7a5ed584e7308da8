package shard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// lifeChanges are changes of a shard of editable rows that keeps versions, and the rows that it then shows; a merge makes another shard.
var lifeChanges = map[string]struct {
	change func(t *testing.T, dir string, o shard.EditOptions) error
	merged bool
	shows  func(id int64) bool
}{
	"delete": {func(t *testing.T, dir string, o shard.EditOptions) error {
		_, err := shard.Delete(t.Context(), filepath.Join(dir, "a.shard"), o, shard.Rows{Where: filter.Eq(filter.Col("text"), "green")})
		return err
	}, false, func(id int64) bool { return id >= 50 && (id%3 != 1 || id%11 == 5) }},
	"undelete": {func(t *testing.T, dir string, o shard.EditOptions) error {
		_, err := shard.Undelete(t.Context(), filepath.Join(dir, "a.shard"), o, shard.Rows{Ranges: []shard.RowRange{{From: 20, To: 60}}})
		return err
	}, false, func(id int64) bool { return id >= 20 }},
	"restore": {func(t *testing.T, dir string, o shard.EditOptions) error {
		return shard.Restore(t.Context(), filepath.Join(dir, "a.shard"), o, 2)
	}, false, func(int64) bool { return true }},
	"forget": {func(t *testing.T, dir string, o shard.EditOptions) error {
		return shard.KeepVersions(t.Context(), filepath.Join(dir, "a.shard"), o, 0, 0)
	}, false, func(id int64) bool { return id >= 50 }},
	"merge": {func(t *testing.T, dir string, o shard.EditOptions) error {
		_, err := shard.Merge(t.Context(), filepath.Join(dir, "merged.shard"), []string{filepath.Join(dir, "a.shard")}, shard.MergeOptions{Open: o.Open, Store: o.Open.Store})
		return err
	}, true, func(id int64) bool { return id >= 50 }},
}

// Whatever step of a change fails, or all from one on, there is the old shard or the new one, and no temporary file is left.
func TestLifeFaults(t *testing.T) {
	t.Parallel() // it waits for disks
	const rows = 200
	for _, layout := range []shard.Layout{shard.SingleFile, shard.TwoLevel} {
		before := filepath.Dir(editable(t, rows, shard.WriterOptions{StripeRows: 90, Layout: layout}))
		first := filepath.Join(before, "a.shard")
		require.NoError(t, os.Rename(filepath.Join(before, "editable.amudai.shard"), first))
		require.NoError(t, shard.KeepVersions(t.Context(), first, shard.EditOptions{}, 5, 0))
		_, err := shard.Delete(t.Context(), first, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{To: 50}}})
		require.NoError(t, err)
		old := shownIDs(t, first, filter.Expr{})
		for name, c := range lifeChanges {
			var changed []int64
			for id := range int64(rows) {
				if c.shows(id) {
					changed = append(changed, id)
				}
			}
			require.NoError(t, faultstore.EachStep(17, func(faults *faultstore.Faults, op faultstore.Op, k int) error {
				dir := filepath.Join(t.TempDir(), "x")
				require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
				err := c.change(t, dir, shard.EditOptions{Open: shard.OpenOptions{Store: faults.Local()}, TempDir: dir})
				location, states := filepath.Join(dir, "a.shard"), [][]int64{old, changed}
				if c.merged {
					require.Equal(t, old, shownIDs(t, location, filter.Expr{}))
					location, states = filepath.Join(dir, "merged.shard"), [][]int64{changed}
					if _, serr := os.Stat(location); serr != nil {
						require.Error(t, err)
						states = nil
					}
				} else if err == nil {
					states = states[1:]
				}
				if states != nil {
					got := shownIDs(t, location, filter.Expr{})
					require.True(t, slices.ContainsFunc(states, func(s []int64) bool { return slices.Equal(s, got) }), "%s %v %d: %v", name, op, k, got)
					requireIntact(t, location)
				}
				if op != faultstore.Remove {
					left, err := filepath.Glob(filepath.Join(dir, ".*"))
					require.NoError(t, err)
					require.Empty(t, left, "%s %v %d", name, op, k)
				}
				return err
			}))
		}
	}
}

// Any error of I/O in a change, whatever else it means, leaves the old shard or the new one.
func TestLifeErrors(t *testing.T) {
	dir := filepath.Dir(editable(t, 200, shard.WriterOptions{StripeRows: 90}))
	location := filepath.Join(dir, "a.shard")
	require.NoError(t, os.Rename(filepath.Join(dir, "editable.amudai.shard"), location))
	require.NoError(t, shard.KeepVersions(t.Context(), location, shard.EditOptions{}, 5, 0))
	_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{To: 50}}})
	require.NoError(t, err)
	for name, c := range lifeChanges {
		use := faultstore.Use{Name: name, Run: func(dir string) (string, error) {
			if err := c.change(t, dir, shard.EditOptions{}); err != nil {
				return "", err
			}
			result := location
			if c.merged {
				result = filepath.Join(dir, "merged.shard")
			}
			ids, err := readIDs(t.Context(), result, shard.OpenOptions{}, filter.Expr{})
			return fmt.Sprint(ids), err
		}}
		var changed []int64
		for id := range int64(200) {
			if c.shows(id) {
				changed = append(changed, id)
			}
		}
		old := shownIDs(t, location, filter.Expr{})
		faultstore.SweepThen(t, dir, faultstore.Ops, 60, []faultstore.Use{use}, func() {
			got := shownIDs(t, location, filter.Expr{})
			if !slices.Equal(got, changed) {
				require.Equal(t, old, got)
			}
			requireIntact(t, location)
		})
	}
}

// Of several writers that delete at once by numbers of rows, each succeeds or gets the error that another was faster; by conditions all succeed. The shard
// lacks what those who succeeded deleted.
func TestDeletesAtOnce(t *testing.T) {
	const writers = 6
	for _, byNumber := range []bool{true, false} {
		location := editable(t, 600, shard.WriterOptions{StripeRows: 250})
		failed := make([]chan error, writers)
		for i := range failed {
			failed[i] = make(chan error, 1)
			from := int64(100 * i)
			rows := shard.Rows{Where: filter.And(filter.Ge(filter.Col("id"), from), filter.Lt(filter.Col("id"), from+50))}
			if byNumber {
				rows = shard.Rows{Ranges: []shard.RowRange{{From: from, To: from + 50}}}
			}
			go func() {
				_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, rows)
				failed[i] <- err
			}()
		}
		won := map[int64]bool{}
		for i, f := range failed {
			err := <-f
			if won[int64(i)] = err == nil; err != nil {
				require.True(t, byNumber && errors.Is(err, storage.ErrChanged), fmt.Sprint(err))
			}
		}
		want := []int64{}
		for id := range int64(600) {
			if id%100 >= 50 || !won[id/100] {
				want = append(want, id)
			}
		}
		require.Less(t, len(want), 600)
		require.Equal(t, want, shownIDs(t, location, filter.Expr{}))
		requireIntact(t, location)
	}
}
