package shard_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
)

// BenchmarkTake takes 1,000 random rows of real tables from shards of both editions, in turn. "x-reference" is what edition 2026 takes
// of the reference's CPU time.
func BenchmarkTake(b *testing.B) {
	for _, t := range []struct {
		file string
		rows int64
	}{{"flights/flights-3m.parquet", 100_000}, {"flights/flights-3m.parquet", 3_000_000}, {"tables/zipcodes.csv", 100_000}} {
		b.Run(fmt.Sprintf("%s/%d", filepath.Base(t.file), t.rows), func(b *testing.B) {
			benchmarkTake(b, filepath.Join(testdata.Shared(b), "corpus", t.file), t.rows)
		})
	}
}

func benchmarkTake(b *testing.B, file string, most int64) {
	in, err := table.Open(b.Context(), file)
	require.NoError(b, err)
	defer in.Close()
	schema, err := in.Schema(b.Context())
	require.NoError(b, err)
	write := func(e shard.Edition) *shard.Shard {
		location := filepath.Join(b.TempDir(), "shard")
		w, err := shard.Create(b.Context(), location, schema, shard.WriterOptions{Edition: e})
		require.NoError(b, err)
		for batch, err := range in.Scan(b.Context(), table.ScanOptions{Limit: most}) {
			require.NoError(b, err)
			require.NoError(b, w.Write(b.Context(), batch))
		}
		require.NoError(b, w.Close(b.Context()))
		s, err := shard.Open(b.Context(), location, shard.OpenOptions{})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, s.Close()) })
		return s
	}
	shards := []*shard.Shard{write(shard.Edition2026), write(shard.EditionReference)}
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([]int64, 1000)
	for i := range rows {
		rows[i] = r.Int64N(shards[0].NumRows())
	}
	slices.Sort(rows)
	took := make([][]float64, len(shards))
	for b.Loop() {
		for i, s := range shards {
			before := measure.CPU()
			got, err := s.Take(b.Context(), rows, shard.TakeOptions{Parallelism: 1})
			took[i] = append(took[i], measure.CPU()-before)
			require.NoError(b, err)
			got.Release()
		}
	}
	ours, theirs := measure.Median(took[0]), measure.Median(took[1])
	b.ReportMetric(1e6*ours, "µs-2026")
	b.ReportMetric(1e6*theirs, "µs-reference")
	b.ReportMetric(ours/theirs, "x-reference")
}
