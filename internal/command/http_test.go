package command_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

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
