package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// corpus returns the path of a file of the shared corpus.
func corpus(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(testdata.Shared(t), "corpus", filepath.FromSlash(name))
}

// TestRoundTrips converts real tables to a shard, and to every format and back.
func TestRoundTrips(t *testing.T) {
	for _, c := range []struct{ in, format, columns string }{
		{in: "tables/zipcodes.csv", format: "csv"}, {in: "tables/weather.csv", format: "csv"}, {in: "tables/movies.json", format: "json"},
		{"logs/Apache_2k.log", "lines", "line"},
	} {
		t.Run(filepath.Base(c.in), func(t *testing.T) {
			in := corpus(t, c.in)
			t.Chdir(t.TempDir())
			ok(t, "convert", "-q", in, "t.amudai.shard")
			require.Contains(t, ok(t, "verify", "t.amudai.shard"), ": sound; checked ")
			to := []string{"-", "--to", c.format}
			if c.columns != "" {
				to = append(to, "--columns", c.columns)
			}
			back := func(shard string) string { return ok(t, append([]string{"convert", "-q", shard}, to...)...) }
			direct := ok(t, "convert", "-q", in, "-", "--to", c.format)
			require.True(t, direct == back("t.amudai.shard"))
			schema := ok(t, "schema", "t.amudai.shard")
			for _, via := range []string{"t.parquet", "t.arrow", "t.arrows", "t.jsonl", "t.csv"} {
				ok(t, "convert", "-q", "t.amudai.shard", via)
				require.NoError(t, os.WriteFile("schema", []byte(schema), 0o644))
				args := []string{"convert", "-q", "-f", via, "back.amudai.shard"}
				if strings.HasSuffix(via, ".jsonl") || strings.HasSuffix(via, ".csv") {
					args = append(args, "--schema", "@schema")
				}
				ok(t, args...)
				require.True(t, direct == back("back.amudai.shard"), via)
				require.Equal(t, schema, ok(t, "schema", "back.amudai.shard"), via)
			}
		})
	}
}

// TestFlights converts flights with both layouts and all profiles, and compares the result with the original.
func TestFlights(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	in := corpus(t, "flights/flights-3m.parquet")
	t.Chdir(t.TempDir())
	ok(t, "convert", "-q", in, "f.amudai.shard", "--stripe-rows", "700000", "--layout", "two-level", "--profile", "minimal-compression")
	require.Contains(t, ok(t, "verify", "f.amudai.shard"), "sound; checked 5 stripes, 5 columns")
	ok(t, "convert", "-q", "f.amudai.shard", "back.parquet")
	requireSameFiles(t, in, "back.parquet")
}

// requireSameFiles compares two Parquet files batch by batch.
func requireSameFiles(t *testing.T, a, b string) {
	t.Helper()
	open := func(path string) provider.Source {
		f, err := os.Open(path)
		require.NoError(t, err)
		info, err := f.Stat()
		require.NoError(t, err)
		src, err := parquet.New(parquet.Options{}).Open(t.Context(), provider.Input{Name: path, Reader: f, At: f, Size: info.Size(), Closer: f}, provider.ReadOptions{BatchRows: 1 << 20})
		require.NoError(t, err)
		return src
	}
	tables := make([]arrow.Table, 2)
	for i, path := range []string{a, b} {
		src := open(path)
		var batches []arrow.RecordBatch
		for {
			batch, err := src.Next(t.Context())
			require.NoError(t, err)
			if batch == nil {
				break
			}
			batches = append(batches, batch)
		}
		tables[i] = array.NewTableFromRecords(src.Schema(), batches)
		require.NoError(t, src.Close())
	}
	arrowtest.RequireSameTable(t, tables[0], tables[1])
}

// TestShardPipes writes a shard to stdout and reads one from stdin.
func TestShardPipes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,s\n1,a\n2,b\n"), 0o644))
	shard := ok(t, "convert", "a.csv", "--to", "shard", "-")
	require.True(t, strings.HasPrefix(shard, "amud"))
	for _, args := range [][]string{{"cat", "-"}, {"convert", "-", "--to", "csv", "-"}, {"cat", "--from", "shard", "-"}} {
		r := runEnv(t, app.Env{Args: args, Stdin: io.MultiReader(strings.NewReader(shard))})
		require.Equal(t, result{0, "n,s\n1,a\n2,b\n", ""}, r, args)
	}
	for _, format := range []string{"parquet", "arrow", "arrows", "json", "jsonl"} {
		text := ok(t, "convert", "a.csv", "--to", format, "-")
		r := runEnv(t, app.Env{Args: []string{"convert", "-", "--to", "csv", "-"}, Stdin: io.MultiReader(strings.NewReader(text))})
		require.Equal(t, result{0, "n,s\n1,a\n2,b\n", ""}, r, format)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// endless returns rows without end, and closes begun after some of them.
type endless struct {
	begun chan struct{}
	at, n int
}

func (e *endless) Read(p []byte) (int, error) {
	const row = "{\"n\":1,\"s\":\"some text\"}\n"
	if e.n++; e.n == 30 { // 8 MB
		close(e.begun)
	}
	for i := range p {
		p[i] = row[e.at]
		e.at = (e.at + 1) % len(row)
	}
	return len(p), nil
}

// TestInterrupted stops a conversion in the middle. No file is left behind.
func TestInterrupted(t *testing.T) {
	for _, out := range []string{"out.amudai.shard", "out.parquet", "out.csv", "out.arrow", "two.amudai.shard"} {
		t.Run(out, func(t *testing.T) {
			t.Chdir(t.TempDir())
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			ctx, cancel := context.WithCancel(t.Context())
			in := &endless{begun: make(chan struct{})}
			args := []string{"convert", "--from", "jsonl", "--sample-bytes", "1MiB", "-", out}
			if strings.HasPrefix(out, "two") {
				args = append(args, "--layout", "two-level", "--stripe-rows", "100000")
			}
			go func() {
				<-in.begun
				cancel()
			}()
			done := make(chan result)
			go func() { done <- runContext(ctx, app.Env{Args: args, Stdin: in}) }()
			select {
			case r := <-done:
				require.Equal(t, app.ExitInterrupted, r.code, r.errout)
				require.Equal(t, "amudai: interrupted\n", r.errout)
			case <-time.After(time.Minute):
				require.Fail(t, "did not stop")
			}
			for _, dir := range []string{".", temp} {
				left, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Empty(t, left)
			}
		})
	}
}

// TestCancelledBefore is interrupted before the start.
func TestCancelledBefore(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n\n1\n"), 0o644))
	ok(t, "convert", "a.csv", "a.amudai.shard")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"convert", "a.csv", "b.jsonl"}, {"cat", "a.amudai.shard"}, {"verify", "a.amudai.shard"}, {"demo"}} {
		require.Equal(t, app.ExitInterrupted, runContext(ctx, app.Env{Args: args}).code, args)
	}
	require.NoFileExists(t, "b.jsonl")
}

// TestTerminal checks output that depends on a terminal: colours unless NO_COLOR is set, widths, a table by default.
func TestTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("name,long text,third\nx,"+strings.Repeat("y", 100)+",z\n\x1b[31mred,1,2\n"), 0o644))
	plain := runEnv(t, app.Env{Args: []string{"cat", "a.csv"}, Width: 60, Getenv: func(name string) string {
		return map[string]string{"NO_COLOR": "1"}[name]
	}})
	require.NotContains(t, plain.out, "\x1b")
	require.Contains(t, plain.out, "…")
	require.Contains(t, plain.out, `\x1b[31mred`)
	for _, line := range strings.Split(plain.out, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 60)
	}
	coloured := runEnv(t, app.Env{Args: []string{"cat", "a.csv"}, Width: 60})
	require.Contains(t, coloured.out, "\x1b[1mname")
	narrow := runEnv(t, app.Env{Args: []string{"cat", "a.csv"}, Width: 50})
	require.Contains(t, narrow.out, "and 2 more columns: --columns chooses")
	progress := runEnv(t, app.Env{Args: []string{"convert", "a.csv", "a.amudai.shard"}, Progress: true})
	require.Contains(t, progress.errout, "2 rows in ")
	require.Contains(t, progress.errout, " → a.amudai.shard, edition 2026, ")
	progress = runEnv(t, app.Env{Args: []string{"convert", "a.csv", "a.parquet"}, Progress: true})
	require.Contains(t, progress.errout, " → a.parquet, ")
	require.NotContains(t, progress.errout, "edition")
	silent := runEnv(t, app.Env{Args: []string{"convert", "-q", "-f", "a.csv", "a.amudai.shard"}, Progress: true})
	require.Empty(t, silent.errout)
}

// TestNanos stores nanoseconds as ticks only if they are multiples of 100.
func TestNanos(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("ticks.csv", []byte("t\n2012-12-31T01:02:03.1234567\n"), 0o644))
	require.NoError(t, os.WriteFile("odd.csv", []byte("t\n2012-12-31T01:02:03.123456789\n"), 0o644))
	r := run(t, "convert", "ticks.csv", "ticks.amudai.shard")
	require.Equal(t, result{0, "", "note: nanosecond column t: all multiples of 100 ns, stored as ticks\n"}, r)
	require.Contains(t, ok(t, "schema", "--stored", "ticks.amudai.shard"), "DateTime")
	r = run(t, "convert", "odd.csv", "odd.amudai.shard")
	require.Equal(t, result{0, "", "note: nanosecond column t: not all multiples of 100 ns, stored as int64\n"}, r)
	require.Contains(t, ok(t, "schema", "--stored", "odd.amudai.shard"), "Int64")
	for _, name := range []string{"ticks", "odd"} {
		require.Equal(t, "t: timestamp[ns]\n", ok(t, "schema", name+".amudai.shard"))
		want, err := os.ReadFile(name + ".csv")
		require.NoError(t, err)
		require.Equal(t, strings.Replace(string(want), ".1234567\n", ".123456700\n", 1), ok(t, "cat", name+".amudai.shard"))
	}
	r = run(t, "convert", "--nanos", "ticks", "odd.csv", "x.amudai.shard")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, `"t"`)
	require.NoFileExists(t, "x.amudai.shard")
	in, err := os.ReadFile("ticks.csv")
	require.NoError(t, err)
	r = runEnv(t, app.Env{Args: []string{"convert", "--from", "csv", "-", "s.amudai.shard"}, Stdin: strings.NewReader(string(in))})
	require.Equal(t, 0, r.code)
	require.Contains(t, r.errout, "nanoseconds from a stream (t) are stored as int64")
}

// outlineJSON is what inspect --json prints.
type outlineJSON struct {
	Facts []struct {
		Name  string
		Value any
	}
	Lists map[string][]map[string]any
}

func outlineOf(t *testing.T, args ...string) (o outlineJSON) {
	require.NoError(t, json.Unmarshal([]byte(ok(t, args...)), &o))
	return o
}

// column are the values of a property of all parts in a list.
func (o outlineJSON) column(list, name string) (values []any) {
	for _, row := range o.Lists[list] {
		values = append(values, row[name])
	}
	return values
}

// TestInspect compares inspect at every depth with the shard.
func TestInspect(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	rows.WriteString("id,kind,when,list\n")
	for i := range 5000 {
		rows.WriteString(strings.Join([]string{string(rune('0' + i%10)), []string{"a", "b", ""}[i%3], "2020-01-01T00:00:00", `"[1,2]"`}, ",") + "\n")
	}
	require.NoError(t, os.WriteFile("a.csv", []byte(rows.String()), 0o644))
	ok(t, "convert", "a.csv", "a.amudai.shard", "--schema", "list:list<int32>", "--stripe-rows", "3000", "--created", "2020-01-01T00:00:00Z")
	info := outlineOf(t, "inspect", "-vvv", "--json", "a.amudai.shard")
	file, err := os.Stat("a.amudai.shard")
	require.NoError(t, err)
	facts := map[string]any{}
	for _, f := range info.Facts {
		facts[f.Name] = f.Value
	}
	for name, want := range map[string]any{"bytes": float64(file.Size()), "rows": 5000., "columns": 4., "schema nodes": 5., "stripes": 2., "created": "2020-01-01T00:00:00Z"} {
		require.Equal(t, want, facts[name], name)
	}
	require.Equal(t, []any{3000., 2000.}, info.column("stripes", "rows"))
	require.Equal(t, []any{"id", "kind", "when", "list", "list.item"}, info.column("columns", "column")[:5])
	sizes := map[any]float64{} // of columns, less those of their buffers
	for _, c := range info.Lists["columns"] {
		sizes[c["column"]] += c["bytes"].(float64)
		if c["column"] == "when" {
			require.Equal(t, []any{"2020-01-01T00:00:00", "one value of all rows"}, []any{c["min"], c["stored"]})
		}
	}
	require.Equal(t, 1000., info.Lists["columns"][1]["nulls"])
	for _, b := range info.Lists["buffers"] {
		sizes[b["column"]] -= b["bytes"].(float64)
	}
	for name, rest := range sizes {
		require.Zero(t, rest, name)
	}
	for _, b := range info.Lists["blocks"] {
		require.NotEmpty(t, b["tree"])
		require.Empty(t, b["error"])
	}
	for _, args := range [][]string{{"inspect"}, {"inspect", "-v"}, {"inspect", "-vv"}, {"inspect", "-vvv"}, {"inspect", "--hex"}, {"stats"}, {"stats", "--details"}, {"stats", "--json"}} {
		out := ok(t, append(args, "a.amudai.shard")...)
		require.NotRegexp(t, `(?m)^\s*! `, out, args)
		require.NotContains(t, out, "%!", args)
	}
	require.NotContains(t, ok(t, "inspect", "-v", "--column", "list", "--stripe", "1", "a.amudai.shard"), "kind")
	require.Contains(t, run(t, "inspect", "--stripe", "2", "a.amudai.shard").errout, "the shard has 2 stripes")
	require.Contains(t, run(t, "inspect", "--column", "zz", "a.amudai.shard").errout, "lists the columns")
}

// TestDamaged verifies, reads and recovers a shard with a damaged stripe, and a truncated one.
func TestDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,s\n"+strings.Repeat("1,a\n2,bcd\n3,ef\n", 1000)), 0o644))
	ok(t, "convert", "a.csv", "a.amudai.shard", "--stripe-rows", "1000")
	whole, err := os.ReadFile("a.amudai.shard")
	require.NoError(t, err)
	buffers := outlineOf(t, "inspect", "-vv", "--json", "--stripe", "1", "a.amudai.shard").column("buffers", "offset")
	bad := append([]byte{}, whole...)
	bad[int(buffers[0].(float64))+20] ^= 4
	require.NoError(t, os.WriteFile("bad.amudai.shard", bad, 0o644))
	r := run(t, "verify", "bad.amudai.shard")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.out, "problem: checksum mismatch")
	require.Contains(t, r.out, "stripe 1/column \"n\"/DATA/block 0")
	require.Contains(t, r.out, "bad.amudai.shard: 1 problem; checked 3 stripes")
	r = run(t, "cat", "bad.amudai.shard")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "amudai recover saves the undamaged stripes")
	r = run(t, "recover", "bad.amudai.shard", "saved.amudai.shard")
	require.Equal(t, app.ExitFailure, r.code, r.errout)
	require.Contains(t, r.out, "lost: stripe 1 with 1,000 rows")
	require.Contains(t, r.out, "saved 2 stripes of 3 found, 2,000 rows, in saved.amudai.shard")
	require.Contains(t, ok(t, "verify", "saved.amudai.shard"), "sound; checked 2 stripes")
	require.Contains(t, run(t, "recover", "bad.amudai.shard", "saved.amudai.shard").errout, "--force replaces it")

	require.NoError(t, os.WriteFile("cut.amudai.shard", whole[:len(whole)-100], 0o644))
	require.Equal(t, app.ExitFailure, run(t, "verify", "cut.amudai.shard").code)
	r = run(t, "recover", "cut.amudai.shard", "whole.amudai.shard")
	require.Equal(t, app.ExitOK, r.code, r.errout)
	require.Contains(t, r.out, "the end of the shard is damaged: ")
	require.Contains(t, r.out, "saved 3 stripes of 3 found, 3,000 rows")
	require.Equal(t, ok(t, "cat", "a.amudai.shard"), ok(t, "cat", "whole.amudai.shard"))
	require.NotContains(t, r.out, "left over")

	require.NoError(t, os.WriteFile("half.amudai.shard", whole[:len(whole)/2], 0o644))
	r = run(t, "recover", "half.amudai.shard", "part.amudai.shard")
	require.Equal(t, app.ExitFailure, r.code, r.errout)
	require.Regexp(t, `left over: [\d,]+ bytes behind the last stripe that was found: probably of an incomplete stripe`, r.out)
	require.Contains(t, r.out, "saved 1 stripe of 1 found, 1,000 rows")
	require.Equal(t, app.ExitFailure, run(t, "recover", "a.csv", "x.amudai.shard").code)
	require.NoFileExists(t, "x.amudai.shard")
}

// TestDemo runs the demo, which compares the values that it reads.
func TestDemo(t *testing.T) {
	if !sweep.All() {
		t.Skip("the demo measures for seconds: it runs in sweeps")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	demo := func(args ...string) string {
		process := exec.Command(os.Args[0])
		process.Args, process.Stderr = append([]string{"amudai", "demo"}, args...), os.Stderr
		out, err := process.Output()
		require.NoError(t, err)
		return string(out)
	}
	keep := filepath.Join(t.TempDir(), "kept")
	out := demo("--keep", keep)
	require.Contains(t, demo(), "amudai demo --keep flights ")
	for _, want := range []string{"100,000 US flights", "edition 2026", "edition reference", "size", "write", "scan", "project 2 columns", "open, 1 column", "filter", "count", "origin = 'SFO'",
		"take 1,000 rows", "same values"} {
		require.Contains(t, out, want)
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
	// The commands that the demo proposes work on the files that it kept.
	_, lines, found := strings.Cut(out, "\nTry next:\n")
	require.True(t, found)
	require.Contains(t, lines, "  amudai scan "+keep)
	for _, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		line, _, _ = strings.Cut(line, "    #")
		args := quoted(line)
		if args[0] == "bench" {
			require.FileExists(t, args[1])
			continue
		}
		ok(t, args...)
	}
}

// quoted splits the arguments of a command line with quotes as in a shell.
func quoted(line string) (args []string) {
	for i, part := range strings.Split(strings.TrimPrefix(line, "  amudai "), "\"") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

func TestVersion(t *testing.T) {
	require.Regexp(t, `^amudai 0\.1\.0 \(go1\.\d+.*\), editions reference and 2026\n$`, ok(t, "version"))
	require.Equal(t, ok(t, "version"), ok(t, "--version"))
	require.Contains(t, ok(t, "completion", "bash"), "bash completion")
	require.Contains(t, ok(t), "Usage:")
	require.Contains(t, ok(t, "help", "convert"), "amudai convert IN... OUT")
}

// TestCompressed reads inputs compressed with gzip and zstd.
func TestCompressed(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "n,s\n1,a\n2,b\n"
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, err := g.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, g.Close())
	z, err := zstd.NewWriter(&zs)
	require.NoError(t, err)
	_, err = z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile("a.csv.gz", gz.Bytes(), 0o644))
	require.NoError(t, os.WriteFile("a.csv.zst", zs.Bytes(), 0o644))
	require.NoError(t, os.WriteFile("bad.csv.gz", []byte(text), 0o644))
	require.NoError(t, os.WriteFile("cut.csv.gz", gz.Bytes()[:gz.Len()-12], 0o644))
	for _, name := range []string{"a.csv.gz", "a.csv.zst"} {
		require.Equal(t, text, ok(t, "cat", name))
		ok(t, "convert", "-f", name, "a.amudai.shard")
		require.Equal(t, text, ok(t, "cat", "a.amudai.shard"))
	}
	require.Equal(t, result{app.ExitFailure, "", "amudai: bad.csv.gz is no gzip file: gzip: invalid header\n"}, run(t, "cat", "bad.csv.gz"))
	require.Equal(t, app.ExitFailure, run(t, "cat", "cut.csv.gz").code)
}

// TestTypesOfOthers reads shards of the reference, which record no Arrow types.
func TestTypesOfOthers(t *testing.T) {
	decimals := testdata.UnpackGolden(t, "types/decimals-r255.amudai.shard")
	r := run(t, "cat", decimals)
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "does not fit decimal(38, 16)")
	require.Contains(t, r.errout, "(hint: --decimals text can read all decimals)")
	require.Contains(t, ok(t, "cat", "--decimals", "text", decimals), "875211644940100276880431.1043857643")
	require.Contains(t, ok(t, "schema", "--decimals", "text", decimals), ": large_utf8\n")
	require.Contains(t, ok(t, "schema", "--decimals", "decimal256(76,30)", decimals), ": decimal256(76, 30)\n")
	require.Contains(t, ok(t, "schema", "--decimals", "raw", decimals), ": fixed_size_binary[16]\n")
	times := testdata.UnpackGolden(t, "types/times-r255.amudai.shard")
	require.Contains(t, run(t, "cat", times).errout, "(hint: --ticks raw can read all times)")
	ok(t, "cat", "--ticks", "raw", times)
	require.Contains(t, ok(t, "schema", "--ticks", "us", times), ": timestamp[us")
	for _, args := range [][]string{{"--ticks", "x"}, {"--dynamics", "x"}, {"--decimals", "x"}, {"--decimals", "decimal32(3,1)"}, {"--decimals", "int64"}} {
		require.Equal(t, app.ExitUsage, run(t, append([]string{"schema", times}, args...)...).code, args)
	}
}

// TestGoldens inspects every shard of the reference with all commands.
func TestGoldens(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	root := filepath.Join(testdata.Shared(t), "golden", "amudai")
	looked := 0
	for _, kind := range []string{"types", "layouts", "stripes", "properties", "real"} {
		shards, err := filepath.Glob(filepath.Join(root, kind, "*.amudai.shard"))
		require.NoError(t, err)
		nested, err := filepath.Glob(filepath.Join(root, kind, "*", "*.amudai.shard"))
		require.NoError(t, err)
		for _, path := range append(shards, nested...) {
			if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
				continue
			}
			looked++
			for _, args := range [][]string{{"verify"}, {"inspect", "-v"}, {"inspect", "-vvv", "--json"}, {"inspect", "--hex"}, {"stats"}, {"schema", "--stored"}, {"head", "--ticks", "raw", "--decimals", "raw", "--dynamics", "raw"}} {
				out := ok(t, append(args, path)...)
				require.NotContains(t, out, "%!", path)
			}
		}
	}
	t.Logf("looked into %d shards", looked)
	require.Greater(t, looked, 20)
}

// TestHTTP reads inputs through range requests.
func TestHTTP(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,s\n1,a\n2,b\n"), 0o644))
	for _, out := range []string{"a.amudai.shard", "a.parquet", "a.arrow", "a.jsonl"} {
		ok(t, "convert", "a.csv", out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(".")))
	defer server.Close()
	for _, name := range []string{"a.csv", "a.amudai.shard", "a.parquet", "a.arrow", "a.jsonl"} {
		require.Equal(t, "n,s\n1,a\n2,b\n", ok(t, "cat", server.URL+"/"+name), name)
	}
	require.Regexp(t, `rows +2\nstripes +1\n`, ok(t, "inspect", "-vv", server.URL+"/a.amudai.shard"))
	require.Contains(t, ok(t, "verify", server.URL+"/a.amudai.shard"), ": sound; ")
	r := run(t, "cat", server.URL+"/missing.csv")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "missing.csv does not exist")
	require.Equal(t, app.ExitFailure, run(t, "convert", "a.csv", server.URL+"/b.csv").code)
}

// TestStatsCountsExactly counts distinct values by the dictionaries and constants of several stripes.
func TestStatsCountsExactly(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	rows.WriteString("code,kind,free\n")
	for i := range 60_000 {
		code, kind := "", "a single value"
		if i%7 > 0 {
			code = fmt.Sprintf("a code of some length with the number %d", i*i%229+i/20_000)
		}
		if i >= 20_000 {
			kind = fmt.Sprintf("a kind of %d", i%5)
		}
		fmt.Fprintf(&rows, "%s,%s,text %d\n", code, kind, i)
	}
	require.NoError(t, os.WriteFile("a.csv", []byte(rows.String()), 0o644))
	ok(t, "convert", "-q", "a.csv", "a.amudai.shard", "--stripe-rows", "20000")
	codes := map[string]bool{}
	for i := range 60_000 {
		if i%7 > 0 {
			codes[fmt.Sprintf("a code of some length with the number %d", i*i%229+i/20_000)] = true
		}
	}
	stats := outlineOf(t, "stats", "--json", "a.amudai.shard").Lists["columns"]
	require.Contains(t, fmt.Sprint(stats[0]["encodings"]), "value dictionary")
	require.EqualValues(t, len(codes), stats[0]["distinct"])
	require.EqualValues(t, 6, stats[1]["distinct"], "five of dictionaries, and the constant of the first stripe")
	for i, estimate := range []any{nil, nil, true} {
		require.Equal(t, estimate, stats[i]["distinct_is_estimate"])
	}
	require.InEpsilon(t, 60_000, stats[2]["distinct"], 0.05)
	require.LessOrEqual(t, stats[2]["distinct"], 60_000.)
	require.Contains(t, ok(t, "stats", "a.amudai.shard"), "≈")
}

// TestInterruptedPipe cancels conversions that wait for a pipe: they end, and leave no file.
func TestInterruptedPipe(t *testing.T) {
	for _, from := range []string{"arrows", "csv", "parquet"} {
		t.Run(from, func(t *testing.T) {
			t.Chdir(t.TempDir())
			r, w := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_, err := w.Write([]byte("\xff\xff\xff\xff")) // is taken when the command reads
				if err == nil {
					cancel()
				}
			}()
			var stderr bytes.Buffer
			code := command.Main(ctx, app.Env{Args: []string{"convert", "-", "--from", from, "t.amudai.shard"}, Stdin: r, Stdout: io.Discard, Stderr: &stderr})
			require.Equal(t, app.ExitInterrupted, code, stderr.String())
			left, err := os.ReadDir(".")
			require.NoError(t, err)
			require.Empty(t, left)
			require.NoError(t, w.Close())
		})
	}
}
