package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
)

// numbers is a CSV file of n rows.
func numbers(n int) []byte {
	var b bytes.Buffer
	b.WriteString("n,s\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%s\n", i*i%7919, strings.Repeat(string(rune('a'+i%26)), 1+i%40))
	}
	return b.Bytes()
}

// newS3 starts a server, and registers a store on it that hardly waits before it tries again, and sends small parts.
func newS3(t *testing.T) *fakes3.Server {
	server := fakes3.New(t)
	storage.Register("s3", s3.New(s3.Options{Backoff: 1, PartBytes: 5 << 20}))
	return server
}

// Whatever request of a conversion from S3 to S3 fails for a moment, the output is that of files.
func TestS3Faults(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("in.csv", numbers(3000), 0o644))
	for _, output := range []string{"out.amudai.shard", "out.parquet"} {
		convert := func(in, out string) []string {
			args := []string{"convert", "-q", in, out}
			if strings.HasSuffix(out, ".shard") {
				args = append(args, "--created", "2026-01-01T00:00:00Z")
			}
			return args
		}
		ok(t, convert("in.csv", output)...)
		want, err := os.ReadFile(output)
		require.NoError(t, err)
		for k := 1; ; k++ {
			server := newS3(t)
			server.Put("in.csv", numbers(3000))
			server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				switch {
				case n != k:
					return false
				case n%2 == 0:
					panic(http.ErrAbortHandler)
				}
				fakes3.Fail(w, 503, "SlowDown")
				return true
			}
			ok(t, convert("s3://bucket/in.csv", "s3://bucket/"+output)...)
			require.True(t, bytes.Equal(want, server.Object(output)))
			if requests := server.Requests(); len(requests) < k {
				break
			}
		}
	}
}

// A conversion that is interrupted, or fails for good, at any request leaves neither an object nor an upload.
func TestS3Interrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("in.csv", numbers(300_000), 0o644)) // two parts
	for _, output := range []string{"s3://bucket/out.csv", "s3://bucket/out.amudai.shard"} {
		for _, interrupted := range []bool{true, false} {
			for k := 1; ; k++ {
				server := newS3(t)
				ctx, cancel := context.WithCancel(t.Context())
				server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
					switch {
					case n != k:
						return false
					case interrupted:
						cancel()
						return false
					}
					fakes3.Fail(w, 400, "InvalidRequest")
					return true
				}
				r := runContext(ctx, app.Env{Args: []string{"convert", "-q", "in.csv", output}})
				cancel()
				require.Zero(t, server.Uploads())
				requests := server.Requests()
				if len(requests) < k {
					require.Equal(t, app.ExitOK, r.code)
					break
				}
				if r.code == app.ExitOK { // the object was complete
					require.Len(t, server.Keys(), 1)
					continue
				}
				require.Empty(t, server.Keys())
				if interrupted {
					require.Equal(t, app.ExitInterrupted, r.code, r.errout)
				}
			}
		}
	}
}

// An object that changes between two requests is an error, or was read before that.
func TestS3ChangedInput(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"in.csv", "in.amudai.shard", "in.parquet"} {
		var versions [2][]byte
		for i := range versions {
			require.NoError(t, os.WriteFile("v.csv", numbers(200_000+i), 0o644))
			ok(t, "convert", "-q", "-f", "v.csv", name)
			var err error
			versions[i], err = os.ReadFile(name)
			require.NoError(t, err)
		}
		for k := 1; ; k++ {
			server := newS3(t)
			server.Put("in/"+name, versions[0])
			server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == k {
					server.Change("in/"+name, versions[1])
				}
				return false
			}
			r := run(t, "agg", "s3://bucket/in/"+name, "count(*), max(s)")
			requests := server.Requests()
			rows := strings.Split(r.out, "\n")
			switch {
			case r.code != app.ExitOK:
				require.Regexp(t, "no longer the version|has changed since it was opened", r.errout, name)
			default:
				require.Contains(t, []string{"200000", "200001"}, strings.Split(rows[1], ",")[0], r.out)
			}
			if len(requests) < k {
				break
			}
		}
	}
}

// Writing to S3 needs no file: what is staged lies in memory, up to --memory.
func TestS3NeedsNoFolder(t *testing.T) {
	server := newS3(t)
	server.Put("in.csv", numbers(100_000))
	t.Setenv("TMPDIR", "/nowhere")
	t.Setenv("TMP", `Z:\nowhere`)
	for _, output := range []string{"out.amudai.shard", "out.parquet", "out.root", "out.arrow", "out.jsonl.gz"} {
		ok(t, "convert", "-q", "s3://bucket/in.csv", "s3://bucket/"+output)
		require.Equal(t, "100000\n", ok(t, "count", "s3://bucket/"+output))
	}
}

// Many requests are few: of a stream, and of a shard.
func TestS3CommandRequests(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("in.csv", numbers(600_000), 0o644))
	ok(t, "convert", "-q", "in.csv", "in.amudai.shard")
	server := newS3(t)
	for _, name := range []string{"in.csv", "in.amudai.shard"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		server.Put(name, b)
	}
	for _, c := range []struct {
		most int
		args []string
	}{
		{2, []string{"scan", "s3://bucket/in.amudai.shard", "--columns", "n", "--limit", "5"}},
		{2, []string{"scan", "s3://bucket/in.amudai.shard", "--columns", "n"}},
		{1, []string{"count", "s3://bucket/in.amudai.shard"}},
		{10, []string{"count", "s3://bucket/in.csv"}},
	} {
		ok(t, c.args...)
		requests := server.Requests()
		require.LessOrEqual(t, len(requests), c.most, "%s: %s", c.args, requests)
	}
	s, err := shard.Open(t.Context(), "s3://bucket/in.amudai.shard", shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	for _, err := range s.Scan(t.Context(), shard.ScanOptions{Columns: []string{"n"}}) {
		require.NoError(t, err)
	}
	requests := server.Requests()
	require.LessOrEqual(t, len(requests), 2, requests)
}

// TestS3SessionRequests counts the requests of a session, as those of Python are: a table is opened once, and each request asks once whether it is the same.
// One that is read in another way, or that was replaced, is opened anew.
func TestS3SessionRequests(t *testing.T) {
	t.Chdir(t.TempDir())
	server := newS3(t)
	put := func(rows int) {
		var text strings.Builder
		for i := range rows {
			fmt.Fprintf(&text, "%d,%x\n", i*7919%600_011, i)
		}
		require.NoError(t, os.WriteFile("in.csv", []byte("n,s\n"+text.String()), 0o644))
		ok(t, "convert", "-q", "--force", "in.csv", "in.amudai.shard")
		b, err := os.ReadFile("in.amudai.shard")
		require.NoError(t, err)
		server.Put("in.amudai.shard", b)
	}
	put(600_000)
	steps := []struct {
		before func()
		args   []string
		out    string
		first  string // request
		most   int
	}{
		{nil, []string{"count", "--where", "n < 10"}, "10", "GET", 2},
		{nil, []string{"count", "--where", "n < 20"}, "20", "HEAD", 3},
		{nil, []string{"cat", "--limit", "2", "--columns", "n"}, "n\n0\n7919", "HEAD", 2},
		{nil, []string{"count"}, "600000", "HEAD", 1},
		{nil, []string{"count", "--decimals", "text"}, "600000", "GET", 1},
		{func() { put(500_000) }, []string{"count"}, "500000", "HEAD", 2},
		{nil, []string{"count", "--where", "n < 3000"}, "2501", "HEAD", 2},
	}
	at := 0
	var stdout bytes.Buffer
	check := func() {
		if at > 0 {
			c, requests := steps[at-1], server.Requests()
			if !strings.Contains(stdout.String(), c.out) || len(requests) > c.most || !strings.HasPrefix(strings.Join(requests, " "), c.first) {
				t.Errorf("%s: %q after %s", c.args, stdout.String(), requests)
			}
		}
		stdout.Reset()
	}
	lines := readerFunc(func(p []byte) (int, error) {
		check()
		if at == len(steps) {
			return 0, io.EOF
		}
		c := steps[at]
		at++
		if c.before != nil {
			c.before()
			server.Requests()
		}
		line, err := json.Marshal(map[string]any{"arguments": append(c.args, "s3://bucket/in.amudai.shard")})
		return copy(p, append(line, '\n')), err
	})
	env := app.Env{Args: []string{"session"}, Stdin: lines, Stdout: &stdout, Stderr: io.Discard, Getenv: os.Getenv}
	require.Equal(t, app.ExitOK, command.Main(t.Context(), env), stdout.String())
	require.Equal(t, len(steps), at)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
