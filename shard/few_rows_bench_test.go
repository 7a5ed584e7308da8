package shard

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

// BenchmarkFewRows asks open shards of 2,000,000 rows for few of them, again and again: p50-µs and p99-µs are quantiles of the wall time of a question.
func BenchmarkFewRows(b *testing.B) {
	b.Run("value", func(b *testing.B) {
		location := writeKeyed(b)
		require.NoError(b, AddIndex(b.Context(), location, EditOptions{}, IndexDefinition{Type: HashIndex, Columns: []string{"id"}}))
		r := rand.New(rand.NewPCG(1, 1))
		benchmarkFew(b, location, 1, func() string { return keyed(r.IntN(1000) * 1999) })
	})
	b.Run("term", func(b *testing.B) {
		location := writeLogLines(b)
		require.NoError(b, AddIndex(b.Context(), location, EditOptions{}, IndexDefinition{Type: TermIndex, Columns: []string{"line"}}))
		benchmarkFew(b, location, 8, func() string { return "line has 'rare4711'" })
	})
}

func benchmarkFew(b *testing.B, location string, rows int64, condition func() string) {
	s, err := Open(b.Context(), location, OpenOptions{})
	require.NoError(b, err)
	defer s.Close()
	var took []time.Duration
	ask := func() {
		began, n := time.Now(), int64(0)
		e, err := filter.Parse(condition())
		if err != nil {
			b.Fatal(err)
		}
		for batch, err := range s.Scan(b.Context(), ScanOptions{Filter: e}) {
			if err != nil {
				b.Fatal(err)
			}
			n += batch.NumRows()
		}
		if took = append(took, time.Since(began)); n != rows {
			b.Fatal(n)
		}
	}
	for range 10 * rows {
		ask()
	}
	took = took[:0]
	b.ReportAllocs()
	before := measure.CPU()
	for b.Loop() {
		ask()
	}
	b.ReportMetric((measure.CPU()-before)*1e6/float64(b.N), "cpu-µs")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
}

// writeLogLines writes a shard of log lines, of which 8 in as many blocks have a word.
func writeLogLines(b *testing.B) (location string) {
	location = filepath.Join(b.TempDir(), "lines.shard")
	s := arrow.NewSchema([]arrow.Field{{Name: "line", Type: arrow.BinaryTypes.String}}, nil)
	w, err := Create(b.Context(), location, s, WriterOptions{})
	require.NoError(b, err)
	build := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer build.Release()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range keyedRows {
		line := fmt.Sprintf("Jan %2d %02d:%02d:%02d combo sshd(pam_unix)[%d]: authentication failure; logname= uid=%d euid=0 tty=NODEVssh ruser= rhost=218.188.%d.%d user=root",
			1+i/100_000, i/3600%24, i/60%60, i%60, r.IntN(40_000), r.IntN(50), r.IntN(256), r.IntN(256))
		if i%(keyedRows/8) == 100_000 {
			line += " rare4711"
		}
		build.Field(0).(*array.StringBuilder).Append(line)
		if i%100_000 == 99_999 {
			batch := build.NewRecordBatch()
			require.NoError(b, w.Write(b.Context(), batch))
			batch.Release()
		}
	}
	require.NoError(b, w.Close(b.Context()))
	return location
}
