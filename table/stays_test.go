package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	_ "github.com/amudai/amudai-go/storage/http"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/parquet"
)

type number struct {
	N    int64  `arrow:"n"`
	Text string `arrow:"text"`
}

// writeNumbers writes a shard or a Parquet file of numbers from 0, with texts of them.
func writeNumbers(t *testing.T, path string, n int64) {
	t.Helper()
	if to, ok := strings.CutSuffix(path, ".parquet"); ok {
		writeNumbers(t, to+".amudai.shard", n)
		copyTable(t, to+".amudai.shard", to+".new.parquet")
		require.NoError(t, os.Rename(to+".new.parquet", path))
		return
	}
	w, err := shard.CreateOf[number](t.Context(), path, shard.WriterOptions{Overwrite: true})
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, w.Write(t.Context(), number{i, []string{"even", "odd"}[i%2]}))
	}
	require.NoError(t, w.Close(t.Context()))
}

// A table of one file parses it once. Each question finds out whether there is another file at its location.
func TestEachQuestionLooksWhetherTheFileIsAnother(t *testing.T) {
	changes := map[string]func(t *testing.T, path string){
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
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		change := changes[name]
		for _, file := range []string{"n.amudai.shard", "n.parquet"} {
			t.Run(name+" "+file, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), file)
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
}

func all[B any](rows func(func(B, error) bool)) (err error) {
	for _, e := range rows {
		err = errors.Join(err, e)
	}
	return err
}

// A table of one object asks once a question whether it is the same, and reads its metadata once.
func TestEachQuestionLooksWhetherTheObjectIsAnother(t *testing.T) {
	for _, file := range []string{"n.amudai.shard", "n.parquet"} {
		t.Run(file, func(t *testing.T) { askObject(t, file) })
	}
}

func askObject(t *testing.T, file string) {
	path := filepath.Join(t.TempDir(), file)
	writeNumbers(t, path, 2000)
	var lock sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		asked = append(asked, r.Method+" "+r.Header.Get("Range"))
		lock.Unlock()
		content, err := os.ReadFile(path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", strconv.FormatUint(xxhash.Sum64(content), 16)))
		http.ServeContent(w, r, path, time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	requests := func() (all []string) {
		lock.Lock()
		defer lock.Unlock()
		all, asked = asked, nil
		return all
	}
	location := server.URL + "/" + file
	tab, err := table.Open(t.Context(), location)
	require.NoError(t, err)
	defer tab.Close()
	questions := []func(tab *table.Table) error{
		func(tab *table.Table) error { _, err := tab.Count(t.Context(), table.ScanOptions{}); return err },
		func(tab *table.Table) error {
			return all(tab.Group(t.Context(), table.GroupOptions{By: "text", Aggregates: "count()"}))
		},
		func(tab *table.Table) error {
			return all(tab.Take(t.Context(), table.TakeOptions{Rows: []int64{7, 1999}}))
		},
		func(tab *table.Table) error { _, err := tab.Plan(t.Context(), table.ScanOptions{}); return err },
		func(tab *table.Table) error { _, err := tab.Statistics(t.Context(), []string{"text"}); return err },
		func(tab *table.Table) error { return all(tab.Search(t.Context(), table.SearchOptions{Query: "odd"})) },
	}
	for i, ask := range questions {
		require.NoError(t, ask(tab))
		first := requests()
		require.NoError(t, ask(tab))
		again := requests()
		t.Log(i, first, again)
		require.Equal(t, i == 0, slices.ContainsFunc(first, func(r string) bool { return strings.HasPrefix(r, "GET bytes=-") }), "the metadata are read by the first question alone")
		heads := 0
		for _, r := range again {
			if strings.HasPrefix(r, "HEAD") {
				heads++
			} else {
				require.NotContains(t, r, "bytes=-")
			}
		}
		require.Equal(t, 1, heads, "question %d: %s", i, again)
		require.LessOrEqual(t, len(again), 2)
	}

	session := new(inputs.Kept)
	defer session.Close()
	ctx := inputs.WithKept(t.Context(), session)
	rows := func(wants int64) {
		other, err := table.Open(ctx, location)
		require.NoError(t, err)
		defer other.Close()
		n, err := other.Count(ctx, table.ScanOptions{Filter: filter.Eq(filter.Col("text"), "odd")})
		require.NoError(t, err)
		require.Equal(t, wants, n)
	}
	rows(1000)
	requests()
	rows(1000)
	require.Equal(t, "HEAD ", requests()[0], "tables of a session share what is open")
	writeNumbers(t, path, 3000)
	rows(1500)
	for i, ask := range questions {
		require.ErrorIs(t, ask(tab), storage.ErrChanged, i)
	}
	require.NoError(t, os.Remove(path))
	for i, ask := range questions {
		require.ErrorIs(t, ask(tab), fs.ErrNotExist, i)
	}
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

// The footer of a Parquet file that stays open is parsed once, for statistics, too.
func TestStatisticsOfOpenParquet(t *testing.T) {
	var fields []arrow.Field
	for i := range 1000 {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Int32})
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range fields {
		builder.Field(i).(*array.Int32Builder).Append(7)
	}
	path := filepath.Join(t.TempDir(), "wide.parquet")
	b := tabletest.Write(t, parquet.New(parquet.Options{}), tabletest.Table(builder.NewRecordBatch()))
	require.NoError(t, os.WriteFile(path, []byte(b), 0o600))
	tab, err := table.Open(t.Context(), path)
	require.NoError(t, err)
	defer tab.Close()
	allocated := testing.AllocsPerRun(2, func() {
		s, err := tab.Statistics(t.Context(), []string{"c999"})
		require.NoError(t, err)
		require.EqualValues(t, "7", s[0].Columns[0].Max.ValueStr(0))
	})
	require.Less(t, allocated, float64(10*len(fields)), "parsing takes 50 for each column")
}
