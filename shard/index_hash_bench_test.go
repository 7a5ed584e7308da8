package shard

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/shard/internal/index"
)

const keyedRows = 2_000_000

// writeKeyed writes a shard with a column of numbers and one of texts, in which each value is in one row.
func writeKeyed(b *testing.B) (location string) {
	location = filepath.Join(b.TempDir(), "keys.shard")
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	w, err := Create(b.Context(), location, s, WriterOptions{})
	require.NoError(b, err)
	build := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer build.Release()
	for i := range keyedRows {
		id := idOf(i)
		build.Field(0).(*array.Int64Builder).Append(id)
		build.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("user-%x", id))
		if i%100_000 == 99_999 {
			batch := build.NewRecordBatch()
			require.NoError(b, w.Write(b.Context(), batch))
			batch.Release()
		}
	}
	require.NoError(b, w.Close(b.Context()))
	return location
}

// idOf is the number of a row.
func idOf(row int) int64 { return int64(uint64(row) * 0x9e3779b97f4a7c15 >> 20) }

func keyed(row int) string { return fmt.Sprintf("id = %d", idOf(row)) }

// BenchmarkHashIndex builds indexes of hashes on one core, and looks values up.
func BenchmarkHashIndex(b *testing.B) {
	location := writeKeyed(b)
	for _, kind := range []string{HashIndex, HashmapIndex} {
		for _, columns := range [][]string{{"id"}, {"name"}, {"id", "name"}} {
			b.Run(fmt.Sprint("build/", kind, columns), func(b *testing.B) {
				before, size := measure.CPU(), int64(0)
				for b.Loop() {
					d := IndexDefinition{Type: kind, Columns: columns, Together: len(columns) > 1}
					require.NoError(b, AddIndex(b.Context(), location, EditOptions{Parallelism: 1}, d))
					_, err := DropIndex(b.Context(), location, EditOptions{}, func(x Index) bool { size = x.Size; return true })
					require.NoError(b, err)
				}
				b.ReportMetric(keyedRows*float64(b.N)/(measure.CPU()-before), "entries/cpu-s")
				b.ReportMetric(float64(size)/keyedRows, "bytes/entry")
			})
		}
	}
	for _, kind := range []string{HashIndex, HashmapIndex} {
		location := writeKeyed(b)
		require.NoError(b, AddIndex(b.Context(), location, EditOptions{}, IndexDefinition{Type: kind, Columns: []string{"id"}}))
		b.Run("open/"+kind, func(b *testing.B) { benchmarkFirst(b, location) })
		b.Run("count/"+kind, func(b *testing.B) { benchmarkCount(b, location) })
		b.Run("find/"+kind, func(b *testing.B) { benchmarkFind(b, location) })
	}
}

// benchmarkFirst opens the shard, and counts the rows of a value.
func benchmarkFirst(b *testing.B, location string) {
	row := 0
	for b.Loop() {
		s, err := Open(b.Context(), location, OpenOptions{})
		require.NoError(b, err)
		e, err := filter.Parse(keyed(row))
		require.NoError(b, err)
		n, err := s.Count(b.Context(), e)
		require.NoError(b, err)
		require.EqualValues(b, 1, n)
		require.NoError(b, s.Close())
		row = (row + 7919) % keyedRows
	}
}

// benchmarkCount counts the rows of values in an open shard.
func benchmarkCount(b *testing.B, location string) {
	s, err := Open(b.Context(), location, OpenOptions{})
	require.NoError(b, err)
	defer s.Close()
	row := 0
	for b.Loop() {
		e, err := filter.Parse(keyed(row))
		require.NoError(b, err)
		n, err := s.Count(b.Context(), e)
		require.NoError(b, err)
		require.EqualValues(b, 1, n)
		row = (row + 7919) % keyedRows
	}
}

// benchmarkFind asks an open index for the rows of values, without the data.
func benchmarkFind(b *testing.B, location string) {
	s, err := Open(b.Context(), location, OpenOptions{})
	require.NoError(b, err)
	defer s.Close()
	all, err := s.table.Indexes(b.Context())
	require.NoError(b, err)
	x, err := all[0].Open(b.Context())
	require.NoError(b, err)
	row := 0
	for b.Loop() {
		c := index.Condition{Parts: []index.Part{{Path: []string{"id"}, Type: arrow.PrimitiveTypes.Int64, Test: valueset.Ints{{Lo: idOf(row), Hi: idOf(row)}}}}}
		maybe, _, err := x.Ask(b.Context(), c, rowset.All(keyedRows))
		require.NoError(b, err)
		require.True(b, maybe.Contains(int64(row)))
		row = (row + 7919) % keyedRows
	}
}

// BenchmarkJSON filters JSON texts by a value in them, and builds an index of their values.
func BenchmarkJSON(b *testing.B) {
	const rows = 200_000
	batch := jsonBatch(b, rows)
	bytes := 0
	for i := range rows {
		bytes += len(batch.Column(0).(array.ExtensionArray).Storage().(*array.String).Value(i))
	}
	location := filepath.Join(b.TempDir(), "json.shard")
	writeBatch(b, location, batch, WriterOptions{})
	b.Run("build", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		for b.Loop() {
			require.NoError(b, AddIndex(b.Context(), location, EditOptions{Parallelism: 1}, IndexDefinition{Type: HashIndex, Columns: []string{"payload"}}))
			_, err := DropIndex(b.Context(), location, EditOptions{}, func(Index) bool { return true })
			require.NoError(b, err)
		}
	})
	require.NoError(b, AddIndex(b.Context(), location, EditOptions{}, IndexDefinition{Type: HashIndex, Columns: []string{"payload"}}))
	s, err := Open(b.Context(), location, OpenOptions{})
	require.NoError(b, err)
	defer s.Close()
	e, err := filter.Parse("payload.at = 1000")
	require.NoError(b, err)
	for name, disable := range map[string]Sources{"index": 0, "scan": Indexes} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(bytes))
			for b.Loop() {
				for _, err := range s.Scan(b.Context(), ScanOptions{Filter: e, Disable: disable, Columns: []string{}, Parallelism: 1}) {
					require.NoError(b, err)
				}
			}
		})
	}
}
