package table_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

type number struct {
	N    int64  `arrow:"n"`
	Text string `arrow:"text"`
}

// writeNumbers writes a shard of numbers from 0, with texts of them.
func writeNumbers(t *testing.T, path string, n int64) {
	t.Helper()
	w, err := shard.CreateOf[number](t.Context(), path, shard.WriterOptions{Overwrite: true})
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, w.Write(t.Context(), number{i, []string{"even", "odd"}[i%2]}))
	}
	require.NoError(t, w.Close(t.Context()))
}

// A table of one file parses it once. Each question finds out whether there is another file at its location.
func TestEachQuestionLooksWhetherTheFileIsAnother(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"replaced": func(t *testing.T, path string) { writeNumbers(t, path, 1000) },
		"equal": func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".old"))
			writeNumbers(t, path, 2000)
		},
		"removed": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"cut":     func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 100)) },
		"longer": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("more")
			require.NoError(t, errors.Join(err, f.Close()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "n.amudai.shard")
			writeNumbers(t, path, 2000)
			tab, err := table.Open(t.Context(), path)
			require.NoError(t, err)
			defer tab.Close()
			questions := map[string]func() error{
				"count": func() error { _, err := tab.Count(t.Context(), table.ScanOptions{}); return err },
				"filter": func() error {
					_, err := tab.Count(t.Context(), table.ScanOptions{Filter: filter.Eq(filter.Col("text"), "odd")})
					return err
				},
				"group": func() error {
					return all(tab.Group(t.Context(), table.GroupOptions{By: "text", Aggregates: "count()"}))
				},
				"statistics": func() error { _, err := tab.Statistics(t.Context(), nil); return err },
				"take":       func() error { return all(tab.Take(t.Context(), table.TakeOptions{Rows: []int64{7, 1999}})) },
			}
			for q, ask := range questions {
				require.NoError(t, ask(), q)
				require.NoError(t, ask(), q)
			}
			change(t, path)
			want := storage.ErrChanged
			if name == "removed" {
				want = fs.ErrNotExist
			}
			for q, ask := range questions {
				require.ErrorIs(t, ask(), want, q)
			}
		})
	}
}

func all[B any](rows func(func(B, error) bool)) (err error) {
	for _, e := range rows {
		err = errors.Join(err, e)
	}
	return err
}

// Questions share what is parsed of a file, at the same time too, and the first of them may be cancelled.
func TestQuestionsShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.amudai.shard")
	writeNumbers(t, path, 100_000)
	tab, err := table.Open(t.Context(), path)
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = tab.Count(cancelled, table.ScanOptions{})
	require.ErrorIs(t, err, context.Canceled)
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			for range 5 {
				n, err := tab.Count(t.Context(), table.ScanOptions{Filter: filter.Eq(filter.Col("text"), "odd")})
				if err != nil || n != 50_000 {
					t.Errorf("%d: %v", n, err)
				}
			}
		})
	}
	together.Wait()
	require.NoError(t, tab.Close())
	n, err := tab.Count(t.Context(), table.ScanOptions{}) // a question to a closed table opens the file, and closes it
	require.NoError(t, err)
	require.EqualValues(t, 100_000, n)
}
