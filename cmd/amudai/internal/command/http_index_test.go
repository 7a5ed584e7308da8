package command_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHTTPNeedle finds lines of a log of two stripes on a web server by its index: the end of the file, a block of terms, the metadata of the stripe, and
// the block of the line are a request each, and nothing is read of the other stripe.
func TestHTTPNeedle(t *testing.T) {
	t.Chdir(t.TempDir())
	var log strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&log, "2026-11-22 20:%02d:%02d INFO request %x took %d ms\n", i/60%60, i%60, 0x10000000+i*7919, i%977)
	}
	require.NoError(t, os.WriteFile("a.log", []byte(log.String()), 0o644))
	ok(t, "convert", "-q", "a.log", "a.amudai.shard", "--stripe-rows", "50000", "--index", "line", "--block-values", "8192")
	var requests, sent atomic.Int64
	location := serveFiles(t, &requests, &sent) + "/a.amudai.shard"
	for _, c := range []struct {
		args     []string
		rows     []int
		requests int64
	}{
		{[]string{fmt.Sprintf("%x", 0x10000000+70_000*7919)}, []int{70_000}, 3},
		{[]string{fmt.Sprintf("%x", 0x10000000+7919)}, []int{1}, 3},
		{[]string{"--columns", "line", fmt.Sprintf("%x", 0x10000000+7919)}, []int{1}, 3},
		{[]string{"ffffffff"}, nil, 2},
		{[]string{fmt.Sprintf("%x OR %x", 0x10000000+10*7919, 0x10000000+60_000*7919)}, []int{10, 60_000}, 7},
	} {
		requests.Store(0)
		sent.Store(0)
		r := run(t, append(append([]string{"search", "-n"}, c.args...), location)...)
		var want strings.Builder
		for _, i := range c.rows {
			fmt.Fprintf(&want, "%d:%s\n", i+1, strings.Split(log.String(), "\n")[i])
		}
		require.Equal(t, want.String(), r.out, "%s %s", c.args, r.errout)
		require.LessOrEqual(t, requests.Load(), c.requests, c.args)
		if c.requests <= 3 { // the last 256 KiB, which have the metadata of the stripe, and a block of terms and of lines
			require.Less(t, sent.Load(), int64(256<<10+75_000), c.args)
		}
		t.Logf("%v: %d requests, %d bytes", c.args, requests.Load(), sent.Load())
	}
}

// serveFiles serves the files of the working folder, and counts requests and bytes.
func serveFiles(t *testing.T, requests, sent *atomic.Int64) (url string) {
	files := http.FileServer(http.Dir("."))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		files.ServeHTTP(countedWriter{w, sent}, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestHTTPRank ranks lines of a log on a web server by an index in a file of its own. Requests are for the ends of the root and of the index; blocks of terms, with their lists, and lengths;
// the end of the data with the descriptors, and blocks of lines. A table that is opened for its schema, its index and its rows is opened once.
func TestHTTPRank(t *testing.T) {
	t.Chdir(t.TempDir())
	words := strings.Fields("disk failed retry network timeout user login cache miss hit slow query")
	var log strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&log, "INFO request %x %s %s took %d ms\n", 0x10000000+i*7919, words[i*7%12], words[i/7%12], i%977)
	}
	require.NoError(t, os.WriteFile("a.log", []byte(log.String()), 0o644))
	ok(t, "convert", "-q", "a.log", "a.amudai.shard", "--columns", "line")
	ok(t, "index", "add", "-q", "a.amudai.shard", "--columns", "line", "--scores")
	var requests, sent atomic.Int64
	location := serveFiles(t, &requests, &sent) + "/a.amudai.shard"
	for _, c := range []struct {
		query    string
		requests int64
	}{
		{"disk", 5},
		{"disk failed", 5},
		{"disk OR failed OR slow", 5},
		{"disk AND failed NOT slow", 7},
		{fmt.Sprintf("disk OR %x", 0x10000000+70_000*7919), 6},
		{"timeout*", 5},
		{"nowhere", 5},
	} {
		requests.Store(0)
		sent.Store(0)
		local, remote := run(t, "search", "-n", "--rank", c.query, "a.amudai.shard"), run(t, "search", "-n", "--rank", c.query, location)
		require.Equal(t, local.out, remote.out, "%s %s", c.query, remote.errout)
		require.Equal(t, c.query == "nowhere", remote.out == "")
		t.Logf("%s: %d requests, %d bytes", c.query, requests.Load(), sent.Load())
		require.LessOrEqual(t, requests.Load(), c.requests, c.query)
	}
}
