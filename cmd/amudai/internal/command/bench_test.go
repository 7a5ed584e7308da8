package command_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

// TestMain lets this program be the command, because bench starts itself as a process, and measurements of demo collect garbage each time, which
// takes long beside the memory of other tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "bench-peak" || os.Args[1] == "demo") {
		os.Exit(command.Main(context.Background(), app.OSEnv()))
	}
	os.Exit(m.Run())
}

// benchTable writes a CSV file of 1,000 rows. It also returns an empty folder for temporary files.
func benchTable(t *testing.T) (in, temp string) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("TMPDIR", temp)
	in = filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(in, []byte("id,name,price\n"+strings.Repeat("7,seven,1.5\n8,,2.5\n", 499)+"9,nine,3.5\n10,,1.5\n"), 0o644))
	return in, temp
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestBench(t *testing.T) {
	in, temp := benchTable(t)
	out := ok(t, "bench", in, "--rounds", "1", "--edition", "2026")
	for _, want := range []string{
		"1,000 rows, 3 columns", "amudai 2026 Balanced", "size", "write", "scan", "project 2 columns", "take", "take 500 rows *", "filter *", "count *",
		"write peak", "scan peak", "parquet zstd", "parquet snappy", "arrow ipc zstd", "amudai 2026 Balanced", "Marked *: arrow-go's Parquet has no such operation",
		"project reads id, name.", "filter and count use the condition id = 9: 1 row.",
	} {
		require.Contains(t, out, want)
	}
	require.Regexp(t, regexp.MustCompile(`(?m)^take 500 rows \* +[0-9.]+ [mµ]?s +- +- +[0-9.]+`), out, "only the base and shards look up rows")
	requireEmpty(t, temp)
	require.Contains(t, run(t, "bench", in, "--project", "none").errout, "amudai schema")
	require.Equal(t, app.ExitUsage, run(t, "bench", in, "--rounds", "0").code)
	requireEmpty(t, temp)
	require.NotContains(t, ok(t, "help"), "bench-peak")
}

func TestBenchWritesFigures(t *testing.T) {
	in, _ := benchTable(t)
	figures := filepath.Join(t.TempDir(), "f.json")
	require.Contains(t, ok(t, "bench", in, "--rounds", "1", "--limit", "10", "--project", "price", "--json", figures), "10 rows")
	results, err := measure.Load[measure.Result](figures)
	require.NoError(t, err)
	require.Equal(t, "t.csv", results[0].Set)
	require.Equal(t, []string{measure.OpWrite, measure.OpScan, measure.OpReuse, measure.OpProject}, results[0].Ops[:4], "as bench calls them")
	require.EqualValues(t, 10, results[0].Rows)
	require.Len(t, results[0].Runs, 4)
	for _, f := range results[0].Runs {
		require.Positive(t, f.Size, f.Name)
		require.Positive(t, f.Median(measure.OpPeakWrite), f.Name)
		require.Positive(t, f.Median(measure.OpPeakScan), f.Name)
	}
}

func TestBenchAsksAQuestion(t *testing.T) {
	in, temp := benchTable(t)
	out := ok(t, "bench", in, "--rounds", "1", "--where", "name is null and price > 2")
	require.Contains(t, out, "filter and count use the condition name is null and price > 2: 499 rows.")
	require.Contains(t, ok(t, "bench", in, "--rounds", "1", "--where", "id > 100"), "0 rows.", "nobody answers, and all agree")
	for text, want := range map[string]string{
		"nothing = 1": `there is no column "nothing"`,
		"id = ":       "--where",
		"name > 3":    "--where",
	} {
		r := run(t, "bench", in, "--where", text)
		require.Equal(t, app.ExitUsage, r.code, text)
		require.Contains(t, r.errout, want, text)
	}
	requireEmpty(t, temp)
}

// TestBenchWithoutCondition runs with a table without a column for a condition.
func TestBenchWithoutCondition(t *testing.T) {
	benchTable(t)
	in := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(in, []byte(strings.Repeat(`{"l":[1,2]}`+"\n", 100)), 0o644))
	r := run(t, "bench", in, "--rounds", "1")
	require.Equal(t, app.ExitOK, r.code, r.errout)
	require.Contains(t, r.errout, "--where gives one")
	require.NotContains(t, r.out, "filter")
}

// TestBenchTypesThatParquetLacks runs with a table of types that Parquet lacks.
func TestBenchTypesThatParquetLacks(t *testing.T) {
	_, temp := benchTable(t)
	dir := t.TempDir()
	csv, arrow := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.arrow")
	require.NoError(t, os.WriteFile(csv, []byte("d,s,l\n"+strings.Repeat("PT1H,a,\"[1,2]\"\n", 50)+strings.Repeat("PT2H,b,\n", 50)), 0o644))
	ok(t, "convert", csv, arrow, "--schema", "d:duration[us],s:dictionary<int8,string>,l:list<int32>", "--quiet")
	out := ok(t, "bench", arrow, "--rounds", "1", "--where", "d > '90m'")
	require.Contains(t, out, "50 rows")
	requireEmpty(t, temp)
}

// stopper cancels a context as soon as a given text is written.
type stopper struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

// Write implements io.Writer.
func (s *stopper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.text) {
		s.cancel()
	}
	return s.Buffer.Write(p)
}

// TestBenchInterrupted interrupts bench at the start, between operations in this process, and before another process.
func TestBenchInterrupted(t *testing.T) {
	in, temp := benchTable(t)
	for _, at := range []string{"", "write: arrow", "scan: parquet", "take: ", "write peak: parquet zstd"} {
		ctx, cancel := context.WithCancel(t.Context())
		if at == "" {
			cancel()
		}
		var out bytes.Buffer
		errs := &stopper{text: at, cancel: cancel}
		code := command.Main(ctx, app.Env{Args: []string{"bench", in}, Stdout: &out, Stderr: errs, Progress: true})
		require.Equal(t, app.ExitInterrupted, code, "%s: %s", at, errs)
		require.Contains(t, errs.String(), "interrupted")
		require.Empty(t, out.String(), "half a table is none")
		requireEmpty(t, temp)
		cancel()
	}
}
