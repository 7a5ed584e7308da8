package blockpack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// whole reads all rows of a file as one batch.
func whole(t testing.TB, f spans) arrow.RecordBatch {
	t.Helper()
	require.NoError(t, f.Load(t.Context()))
	rows := make([]int64, f.NumRows())
	for i := range rows {
		rows[i] = int64(i)
	}
	b, err := f.take(t.Context(), rows)
	require.NoError(t, err)
	t.Cleanup(b.Release)
	return b
}

// matches are the numbers of the rows that a scan with a filter returns.
func matches(t testing.TB, f spans, o scan.Options) []int64 {
	t.Helper()
	out := []int64{}
	for b, err := range f.scan(t.Context(), o) {
		require.NoError(t, err)
		for _, r := range b.RowRanges() {
			for row := r.From; row < r.To; row++ {
				out = append(out, row)
			}
		}
	}
	return out
}

// checkConditions compares scans with random conditions to the values.
func checkConditions(t *testing.T, f spans, seed uint64, n int) {
	batch := whole(t, f)
	g := filtertest.New(seed, batch)
	for range n {
		e, oracle := g.Condition()
		want := oracle.Rows(int(batch.NumRows()))
		o := scan.Options{Filter: e.Node()}
		require.Equal(t, want, matches(t, f, o), "%s", e)
		o.Disable = ^o.Disable // what statistics and indexes tell
		require.Equal(t, want, matches(t, f, o), "%s", e)
		count, err := f.count(t.Context(), e)
		require.NoError(t, err)
		require.EqualValues(t, len(want), count, "%s", e)
	}
}

// Filters find the same rows with and without the help of indexes, in files of this module and of others.
func TestFilters(t *testing.T) {
	zipkin := otlpgen.Corpus(t, "zipkin_lens.otlp")
	hotrod := otlpgen.Corpus(t, "hotrod.otlp.zst")[:3]
	own := write(t, zipkin, blockpack.WriterOptions{BlockSpans: 100})
	files := map[string][]byte{
		"zipkin": own, "foreign": foreign(t, own),
		"hotrod":    write(t, hotrod, blockpack.WriterOptions{BlockSpans: 200}),
		"by start":  write(t, zipkin, blockpack.WriterOptions{BlockSpans: 50, Order: blockpack.OrderStart}),
		"reference": golden(t, "ref_kinds.blockpack"), "probe": golden(t, "ref_probe.blockpack"),
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			for _, o := range []read.Options{{}, {RawTimes: true, Binary: true, CacheBytes: 1}} {
				checkConditions(t, openFile(t, file, o), 1, sweep.Count(12, 1000))
			}
		})
	}
}

// Random spans, in blocks of few of them.
func TestFiltersOfRandomSpans(t *testing.T) {
	for seed := range sweep.Count(7, 200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var messages [][]byte
			for k := range 8 {
				messages = append(messages, marshal(t, proto.Message(otlpgen.Traces().Example(100*seed+k))))
			}
			file := write(t, messages, blockpack.WriterOptions{BlockSpans: 5, PadIDs: true})
			require.Empty(t, verifyBytes(t, file).Problems)
			if whole(t, openFile(t, file, read.Options{})).NumRows() == 0 {
				return // there is nothing to ask for
			}
			checkConditions(t, openFile(t, file, read.Options{Binary: true}), uint64(seed), 40)
		})
	}
}

// A condition on an id leads to its rows without a look at blocks.
func TestFilterByTrace(t *testing.T) {
	file := write(t, otlpgen.Corpus(t, "zipkin_lens.otlp"), blockpack.WriterOptions{BlockSpans: 64})
	f := openFile(t, file, read.Options{})
	rows := scanRows(t, f, scan.Options{})
	ids, _ := idsOf(t, file)
	for k, id := range ids {
		e := filter.Eq(filter.Col(`trace:id`), id)
		if k > 0 {
			e = filter.In(filter.Col(`trace:id`), id, ids[k-1])
		}
		want := []int64{}
		for i, r := range rows {
			if got := idOf(t, r["trace:id bytes"]); string(got) == string(id) || k > 0 && string(got) == string(ids[k-1]) {
				want = append(want, int64(i))
			}
		}
		require.Equal(t, want, matches(t, f, scan.Options{Filter: e.Node()}))
		x, err := scan.Analyze(t.Context(), f.Table, scan.Options{Filter: e.Node(), Columns: []string{"span:name"}})
		require.NoError(t, err)
		require.Zero(t, x.Run.Evaluated, "the trace index has the rows")
	}
}

// What statistics and indexes exclude is not read.
func TestPruning(t *testing.T) {
	messages := otlpgen.Corpus(t, "hotrod.otlp.zst")[:20]
	f := openFile(t, write(t, messages, blockpack.WriterOptions{BlockSpans: 500}), read.Options{CacheBytes: 1})
	require.NoError(t, f.Load(t.Context()))
	require.Greater(t, f.NumStripes(), 5)
	for _, e := range []filter.Expr{
		filter.Eq(filter.Col(`resource\.service\.name`), "!nobody"),
		filter.Eq(filter.Col("span:name"), "!nothing"),
		filter.Lt(filter.Col("span:start"), time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)),
		filter.Gt(filter.Col("span:duration"), 10*time.Hour),
		filter.Eq(filter.Col("trace:id"), make([]byte, 16)),
		filter.StartsWith(filter.Col("span:name"), "!nothing"),
	} {
		text := e.String()
		x, err := scan.Analyze(t.Context(), f.Table, scan.Options{Filter: e.Node()})
		require.NoError(t, err, text)
		require.Zero(t, x.Run.Rows, text)
		require.Zero(t, x.Run.Evaluated, text)
		require.LessOrEqual(t, x.Run.Requests, int64(1), "%s: %s: one head of a block shows how long rows are", text, x)
	}
}
