package shard

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/storage"
)

// wideTable has columns of several kinds in turn: measures, keys, times, codes, names and flags.
func wideTable(columns, rows int) table {
	t := table{rows: rows}
	r := rand.New(rand.NewPCG(9, 9))
	var fields []arrow.Field
	for i := range columns {
		types := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Timestamp_us, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String}
		dt := types[i%len(types)]
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		at := int64(1.7e15)
		for k := range rows {
			switch b := b.(type) {
			case *array.Int32Builder:
				b.Append(int32(math.Abs(r.NormFloat64()) * 1e4))
			case *array.Float64Builder:
				b.Append(math.Round(r.NormFloat64()*1e4) / 100)
			case *array.Int64Builder:
				b.Append(int64(k)*7 + r.Int64N(1000))
			case *array.TimestampBuilder:
				at += r.Int64N(1_000_000)
				b.Append(arrow.Timestamp(at))
			case *array.Int16Builder:
				b.Append(int16(r.IntN(50)))
			case *array.BooleanBuilder:
				b.Append(r.IntN(10) == 0)
			case *array.StringBuilder:
				if i%8 == 4 {
					b.Append([]string{"pending", "active", "done", "failed"}[r.IntN(4)])
				} else {
					b.Append(fmt.Sprintf("user-%d@example.org", r.IntN(1e6)))
				}
			}
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt})
		t.columns = append(t.columns, b.NewArray())
		b.Release()
	}
	t.schema = arrow.NewSchema(fields, nil)
	return t
}

// BenchmarkPacked compares a table of 200 columns in packed groups with the same table without them: takes of random whole rows from a file, and as over
// a network, where the requests count; the size; and a scan of everything.
func BenchmarkPacked(b *testing.B) {
	data := wideTable(200, 200_000)
	var shards []*Shard
	for _, o := range []WriterOptions{{Packed: [][]string{{"*"}}}, {}} {
		location := filepath.Join(b.TempDir(), "shard")
		writeTable(b, location, data, o, 8192)
		s, err := Open(b.Context(), location, OpenOptions{})
		require.NoError(b, err)
		defer s.Close()
		shards = append(shards, s)
	}
	comparePacked(b, shards, data.rows)
}

// comparePacked measures a packed table and the same table without groups, of some rows.
func comparePacked(b *testing.B, shards []*Shard, n int) {
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([]int64, 1000)
	for i := range rows {
		rows[i] = r.Int64N(int64(n))
	}
	few := slices.Sorted(slices.Values(rows[:10]))
	slices.Sort(rows)
	compare := func(name string, unit string, do func(s *Shard) float64) {
		b.Run(name, func(b *testing.B) {
			took := make([][]float64, len(shards))
			for b.Loop() {
				for i, s := range shards {
					took[i] = append(took[i], do(s))
				}
			}
			packed, plain := measure.Median(took[0]), measure.Median(took[1])
			b.ReportMetric(packed, unit+"-packed")
			b.ReportMetric(plain, unit+"-unpacked")
			b.ReportMetric(plain/packed, "x-better")
		})
	}
	cpu := func(do func(s *Shard)) func(s *Shard) float64 {
		return func(s *Shard) float64 {
			before := measure.CPU()
			do(s)
			return 1e3 * (measure.CPU() - before)
		}
	}
	take := func(o TakeOptions, rows ...int64) func(s *Shard) {
		return func(s *Shard) {
			got, err := s.Take(b.Context(), rows, o)
			require.NoError(b, err)
			got.Release()
		}
	}
	single := func(o TakeOptions) func(s *Shard) {
		return func(s *Shard) {
			for _, row := range rows[:100] {
				take(o, row)(s)
			}
		}
	}
	requests := func(do func(s *Shard)) func(s *Shard) float64 {
		return func(s *Shard) float64 {
			before := s.file.Reads().Requests
			do(s)
			return float64(s.file.Reads().Requests - before)
		}
	}
	read := func(do func(s *Shard)) func(s *Shard) float64 {
		return func(s *Shard) float64 {
			before := s.file.Reads().Bytes
			do(s)
			return float64(s.file.Reads().Bytes - before)
		}
	}
	local, remote := TakeOptions{Parallelism: 1}, TakeOptions{Parallelism: 1, FetchGap: storage.RemoteGap}
	compare("size", "bytes", func(s *Shard) float64 { return float64(s.file.Size()) })
	compare("take 1000 rows", "ms", cpu(take(local, rows...)))
	compare("take 1000 rows, as over a network", "ms", cpu(take(remote, rows...)))
	compare("take 10 rows", "ms", cpu(take(local, few...)))
	compare("take 100 single rows", "ms", cpu(single(local)))
	compare("requests of 1000 rows", "requests", requests(take(remote, rows...)))
	compare("bytes of 1000 rows", "bytes", read(take(remote, rows...)))
	compare("requests of 10 rows", "requests", requests(take(remote, few...)))
	compare("requests of 100 single rows", "requests", requests(single(remote)))
	compare("scan", "ms", cpu(func(s *Shard) {
		for batch, err := range s.Scan(b.Context(), ScanOptions{Parallelism: 1}) {
			require.NoError(b, err)
			_ = batch
		}
	}))
}
