package blockpack_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
	"github.com/amudai/amudai-go/table"
)

// million is a file of a million spans of HotROD, and the ids of its traces by time.
var million struct {
	once     sync.Once
	location string
	ids      [][]byte
}

func openMillion(b *testing.B) *blockpack.File {
	b.Helper()
	million.once.Do(func() {
		messages, err := tracegen.Load(filepath.Join(testdata.Shared(b), "corpus", "traces", "hotrod.otlp.zst"))
		require.NoError(b, err)
		dir, err := os.MkdirTemp("", "blockpack")
		require.NoError(b, err)
		million.location = filepath.Join(dir, "a.blockpack")
		w, err := blockpack.Create(b.Context(), million.location, blockpack.WriterOptions{})
		require.NoError(b, err)
		for m := range tracegen.Repeat(messages, 7) {
			require.NoError(b, w.WriteOTLP(b.Context(), m))
		}
		require.NoError(b, w.Close(b.Context()))
	})
	f, err := blockpack.Open(b.Context(), million.location, blockpack.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	if million.ids == nil {
		seen := map[string]bool{}
		for batch, err := range f.Scan(b.Context(), []string{"trace:id"}, filter.Expr{}) {
			require.NoError(b, err)
			for i := range int(batch.NumRows()) {
				id := valueOf(b, batch.Column(0), i).([]byte)
				if !seen[string(id)] {
					seen[string(id)] = true
					million.ids = append(million.ids, slices.Clone(id))
				}
			}
		}
	}
	return f
}

// BenchmarkTrace finds one trace after the other, with all columns of its spans. It reports the median and the 99th percentile.
func BenchmarkTrace(b *testing.B) {
	f := openMillion(b)
	for _, name := range []string{"random", "in order"} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var took []time.Duration
			spans := int64(0)
			for i := 0; b.Loop(); i++ {
				id := million.ids[i%len(million.ids)]
				if name == "random" {
					id = million.ids[r.IntN(len(million.ids))]
				}
				begin := time.Now()
				for batch, err := range f.Scan(b.Context(), nil, ofTraces([][]byte{id})) {
					require.NoError(b, err)
					spans += batch.NumRows()
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(spans)/float64(len(took)), "spans/trace")
		})
	}
}

// BenchmarkTraces1000 finds a thousand traces at once: of a time window, and from all over the file.
func BenchmarkTraces1000(b *testing.B) {
	f := openMillion(b)
	for _, name := range []string{"random", "window"} {
		b.Run(name, func(b *testing.B) {
			ids := million.ids[len(million.ids)/2:][:1000]
			if name == "random" {
				r := rand.New(rand.NewPCG(1, 2))
				ids = nil
				for range 1000 {
					ids = append(ids, million.ids[r.IntN(len(million.ids))])
				}
			}
			spans := int64(0)
			for b.Loop() {
				for batch, err := range f.Scan(b.Context(), nil, ofTraces(ids)) {
					require.NoError(b, err)
					spans += batch.NumRows()
				}
			}
			b.ReportMetric(float64(spans)/float64(b.N), "spans")
		})
	}
}

// BenchmarkQuery counts, and reads, the spans of a service.
func BenchmarkQuery(b *testing.B) {
	f := openMillion(b)
	service := filter.Eq(filter.Col(`resource\.service\.name`), "redis-manual")
	for name, o := range map[string]table.ScanOptions{
		"service":  {Filter: service, Columns: []string{"trace:id", "span:id", "span:name", "span:duration"}},
		"error":    {Filter: filter.Eq(filter.Col("span:status"), 2), Columns: []string{"trace:id", "span:id", "span:name", "span:duration"}},
		"no match": {Filter: filter.Eq(filter.Col("span:name"), "!"), Columns: []string{"trace:id"}},
		"all":      {},
	} {
		b.Run(name, func(b *testing.B) {
			rows := int64(0)
			for b.Loop() {
				for batch, err := range f.Scan(b.Context(), o.Columns, o.Filter) {
					require.NoError(b, err)
					rows += batch.NumRows()
				}
			}
			b.ReportMetric(float64(rows)/float64(b.N), "spans")
		})
	}
}
