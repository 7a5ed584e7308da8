package command_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// TestS3Requests counts the requests, and their bytes, for flights in three stripes on S3: docs/performance.md has them as a table.
func TestS3Requests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	in := corpus(t, "flights/flights-3m.parquet")
	t.Chdir(t.TempDir())
	ok(t, "convert", "-q", in, "f.amudai.shard")
	server := newS3(t)
	for key, file := range map[string]string{"f.amudai.shard": "f.amudai.shard", "f.parquet": in} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		server.Put(key, b)
	}
	ctx := t.Context()
	open := func() *shard.Shard {
		s, err := shard.Open(ctx, "s3://bucket/f.amudai.shard", shard.OpenOptions{})
		require.NoError(t, err)
		return s
	}
	scan := func(text string, columns ...string) func(s *shard.Shard) error {
		return func(s *shard.Shard) (err error) {
			o := shard.ScanOptions{Columns: columns, Parallelism: 2}
			if text != "" {
				if o.Filter, err = filter.Parse(text); err != nil {
					return err
				}
			}
			for _, err = range s.Scan(ctx, o) {
			}
			return err
		}
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
		name string
		run  func(s *shard.Shard) error
		most int   // requests
		kib  int64 // of objects in the answers
	}{
		{"open", func(*shard.Shard) error { return nil }, 1, 64},
		{"first stripe of one column", func(s *shard.Shard) (err error) {
			o := shard.ScanOptions{Columns: []string{"origin"}, Rows: []shard.RowRange{{To: 10}}, Parallelism: 2}
			for _, err = range s.Scan(ctx, o) {
			}
			return err
		}, 4, 200},
		{"one column", scan("", "origin"), 9, 1 << 20},
		{"all columns", scan(""), 9, 1 << 20},
		{"few rows", scan("delay > 1200"), 50, 1 << 20},
		{"no rows by Bloom filters", scan("origin = 'NOW'"), 9, 1 << 20},
		{"no rows by statistics", scan("origin = 'nowhere'"), 1, 64},
		{"take 1", take(1), 12, 1 << 20},
		{"take 1000", take(1000), 21, 1 << 20},
	} {
		server.Requests()
		server.Sent()
		s := open()
		require.NoError(t, c.run(s))
		requests, sent := server.Requests(), server.Sent()
		t.Logf("%s: %d requests, %d KiB of %d", c.name, len(requests), sent>>10, s.Size()>>10)
		require.LessOrEqual(t, len(requests), c.most, "%s: %s", c.name, requests)
		require.LessOrEqual(t, sent, c.kib<<10, c.name)
		require.NoError(t, s.Close())
	}
	for _, c := range []struct {
		args []string
		most int
	}{
		{[]string{"schema", "s3://bucket/f.amudai.shard"}, 1},
		{[]string{"count", "s3://bucket/f.amudai.shard"}, 1},
		{[]string{"plan", "--json", "s3://bucket/f.amudai.shard"}, 1},
		{[]string{"plan", "--json", "s3://bucket/f.parquet"}, 1},
		{[]string{"scan", "s3://bucket/f.amudai.shard", "--columns", "origin", "--limit", "5"}, 9},
		{[]string{"head", "-n", "5", "s3://bucket/f.amudai.shard"}, 99},
		{[]string{"convert", "-q", "s3://bucket/f.amudai.shard", "s3://bucket/g.amudai.shard"}, 99},
		{[]string{"verify", "s3://bucket/f.amudai.shard"}, 8},
		{[]string{"count", "s3://bucket/f.parquet"}, 1},
		{[]string{"scan", "s3://bucket/f.parquet", "--columns", "origin", "--limit", "5"}, 2},
	} {
		r := run(t, c.args...)
		require.Equal(t, app.ExitOK, r.code, r.errout)
		requests, sent := server.Requests(), server.Sent()
		t.Logf("%s: %d requests, %d KiB", fmt.Sprint(c.args), len(requests), sent>>10)
		require.LessOrEqual(t, len(requests), c.most, "%s: %s", c.args, requests)
	}
}

// What is known is asked for at once: requests of a round are held back at the door of the server until all others of it have come.
func TestS3Rounds(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	in := corpus(t, "flights/flights-3m.parquet")
	t.Chdir(t.TempDir())
	ok(t, "convert", "-q", "--stripe-rows", "500000", in, "f.amudai.shard")
	server := newS3(t)
	for key, file := range map[string]string{"f.amudai.shard": "f.amudai.shard", "f.parquet": in} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		server.Put(key, b)
	}
	requests := func(args ...string) int {
		server.Requests()
		r := run(t, args...)
		require.Equal(t, app.ExitOK, r.code, r.errout)
		return len(server.Requests())
	}
	const late = "delay > 1200"
	for _, c := range []struct {
		args   []string
		second []string // the question whose requests are those of the first two rounds; nil: there is no third round
	}{
		{args: []string{"head", "-n", "5", "s3://bucket/f.parquet"}},
		{args: []string{"take", "s3://bucket/f.parquet", "1700000"}},
		{args: []string{"tail", "-n", "5", "s3://bucket/f.parquet"}},
		{args: []string{"agg", "s3://bucket/f.parquet", "sum(delay), avg(distance)"}},
		{args: []string{"count", "s3://bucket/f.parquet", "--where", late}},
		{[]string{"scan", "s3://bucket/f.parquet", "--where", late}, []string{"count", "s3://bucket/f.parquet", "--where", late}},
		{args: []string{"agg", "s3://bucket/f.amudai.shard", "sum(delay), avg(distance)"}},
		{args: []string{"count", "s3://bucket/f.amudai.shard", "--where", late}},
		{args: []string{"stats", "s3://bucket/f.amudai.shard", "--columns", "delay"}},
		{args: []string{"stats", "s3://bucket/f.amudai.shard"}},
		{args: []string{"inspect", "-v", "s3://bucket/f.amudai.shard"}},
		{args: []string{"inspect", "-vv", "s3://bucket/f.amudai.shard", "--column", "delay"}},
	} {
		all := requests(c.args...)
		rounds := []int{1, all - 1}
		if c.second != nil {
			n := requests(c.second...)
			rounds = []int{1, n - 1, all - n}
		}
		wait, left := inRounds(t, rounds)
		server.Door = wait
		require.GreaterOrEqual(t, requests(c.args...), all, c.args)
		server.Door = nil
		require.Empty(t, left(), c.args)
		t.Log(c.args, rounds)
	}
}

// inRounds holds requests back until all others of the round have come, too. One that is sent again, as it is late, counts once. left are the rounds that were
// not complete.
func inRounds(t *testing.T, rounds []int) (wait func(r *http.Request), left func() []int) {
	var mu sync.Mutex
	waiting, open, known := 0, make(chan struct{}), map[string]bool{}
	wait = func(r *http.Request) {
		mu.Lock()
		name := r.Method + r.URL.Path + r.Header.Get("Range")
		switch {
		case known[name]:
			mu.Unlock()
			return
		case len(rounds) == 0:
			mu.Unlock()
			t.Error("a request after the last round", name)
			return
		}
		known[name] = true
		door := open
		if waiting++; waiting == rounds[0] {
			close(door)
			rounds, waiting, open = rounds[1:], 0, make(chan struct{})
		}
		mu.Unlock()
		select {
		case <-door:
		case <-time.After(30 * time.Second):
			t.Error("a round of fewer requests")
		}
	}
	return wait, func() []int { return rounds }
}
