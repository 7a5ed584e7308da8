package command_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// TestHTTPRequests counts the requests, and their bytes, for flights in three stripes on a web server.
func TestHTTPRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	in := corpus(t, "flights/flights-3m.parquet")
	t.Chdir(t.TempDir())
	ok(t, "convert", "-q", in, "f.amudai.shard", "--edition", "2026")
	files := http.FileServer(http.Dir("."))
	var requests, sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		files.ServeHTTP(countedWriter{w, &sent}, r)
	}))
	defer server.Close()
	ctx := context.Background()
	scan := func(o shard.ScanOptions) func(s *shard.Shard) error {
		return func(s *shard.Shard) (err error) {
			for _, err = range s.Scan(ctx, o) {
			}
			return err
		}
	}
	where := func(text string, parallelism int) func(s *shard.Shard) error {
		e, err := filter.Parse(text)
		require.NoError(t, err)
		return scan(shard.ScanOptions{Filter: e, Parallelism: parallelism})
	}
	take := func(n int64) func(s *shard.Shard) error {
		return func(s *shard.Shard) error {
			var rows []int64
			for i := range n {
				rows = append(rows, i*s.NumRows()/n)
			}
			b, err := s.Take(ctx, rows, shard.TakeOptions{})
			if err == nil {
				b.Release()
			}
			return err
		}
	}
	for _, c := range []struct {
		name  string
		run   func(s *shard.Shard) error
		most  int64   // requests after the first
		share float64 // part of the file, with the first request
	}{
		{"scan", scan(shard.ScanOptions{}), 6, 1.02},
		{"five columns", scan(shard.ScanOptions{Columns: []string{"date", "delay", "distance", "origin", "destination"}, Parallelism: 1}), 6, 1.02},
		{"one column", scan(shard.ScanOptions{Columns: []string{"origin"}}), 6, 0.25},
		{"ten rows", scan(shard.ScanOptions{Limit: 10}), 11, 0.05},
		{"rows everywhere", where("origin = 'SFO'", 3), 26, 1.02},
		{"few rows", where("delay > 1200", 1), 50, 0.9},
		{"no rows by Bloom filters", where("origin = 'NOW'", 3), 8, 0.05},
		{"no rows by the shard's statistics", where("origin = 'nowhere'", 3), 0, 0.05},
		{"take 1", take(1), 11, 0.05},
		{"take 1000", take(1000), 20, 1.02},
	} {
		requests.Store(0)
		sent.Store(0)
		s, err := shard.Open(ctx, server.URL+"/f.amudai.shard", shard.OpenOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 1, requests.Load(), "opening")
		require.NoError(t, c.run(s))
		share := float64(sent.Load()) / float64(s.Size())
		t.Logf("%s: %d requests for %.3f of the bytes", c.name, requests.Load()-1, share)
		require.LessOrEqual(t, requests.Load()-1, c.most, c.name)
		require.LessOrEqual(t, share, c.share, c.name)
		require.NoError(t, s.Close())
	}
}

// countedWriter counts the bytes of responses.
type countedWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (w countedWriter) Write(p []byte) (int, error) {
	w.n.Add(int64(len(p)))
	return w.ResponseWriter.Write(p)
}

// A server without ranges is read from the start where a format needs no more, and else is refused in plain words.
func TestServerWithoutRanges(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b\n1,x\n2,y\n"), 0o600))
	for _, name := range []string{"t.jsonl", "t.json", "t.csv.gz", "t.arrows"} {
		ok(t, "convert", "-q", "t.csv", name)
	}
	large, random := []byte("a\n"), rand.New(rand.NewPCG(1, 2))
	for range 30_000 {
		large = strconv.AppendUint(large, random.Uint64()>>1, 10)
		large = append(large, '\n')
	}
	require.NoError(t, os.WriteFile("large.csv", large, 0o600))
	for _, name := range []string{"t.amudai.shard", "t.parquet"} { // larger than what is read first
		ok(t, "convert", "-q", "large.csv", name)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := os.ReadFile(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			w.WriteHeader(404)
			return
		}
		_, _ = w.Write(b)
	}))
	defer server.Close()
	for _, name := range []string{"t.csv", "t.jsonl", "t.json", "t.csv.gz", "t.arrows"} {
		require.Equal(t, "a,b\n1,x\n2,y\n", ok(t, "cat", server.URL+"/"+name, "--format", "csv"), name)
		require.Equal(t, "2\n", ok(t, "count", server.URL+"/"+name), name)
	}
	ok(t, "convert", "-q", server.URL+"/t.csv", "u.amudai.shard")
	for _, name := range []string{"t.amudai.shard", "t.parquet"} {
		r := run(t, "cat", server.URL+"/"+name)
		require.Equal(t, app.ExitFailure, r.code, name)
		require.Contains(t, r.errout, "the server has no ranges", name)
		require.Contains(t, r.errout, "download the file first", name)
	}
	require.Contains(t, run(t, "cat", server.URL+"/none.csv").errout, "/none.csv does not exist")
}
