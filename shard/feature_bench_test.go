package shard_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
)

// inTurn measures the CPU time of some functions in turn, and reports those of the others as shares of the first one's.
func inTurn(b *testing.B, names []string, do ...func()) {
	took := make([][]float64, len(do))
	for b.Loop() {
		for i, f := range do {
			before := measure.CPU()
			f()
			took[i] = append(took[i], measure.CPU()-before)
		}
	}
	for i, name := range names {
		b.ReportMetric(1e3*measure.Median(took[i]), "ms-"+name)
		if i > 0 {
			b.ReportMetric(measure.Median(took[0])/measure.Median(took[i]), "of-"+name)
		}
	}
}

// scanAll reads all rows of a table.
func scanAll(b *testing.B, t *table.Table) {
	for batch, err := range t.Scan(b.Context(), table.ScanOptions{}) {
		require.NoError(b, err)
		_ = batch
	}
}

func openTable(b *testing.B, location string) *table.Table {
	t, err := table.Open(b.Context(), location)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, t.Close()) })
	return t
}

// BenchmarkByReference scans a Parquet file by reference, as a table, and with arrow-go.
func BenchmarkByReference(b *testing.B) {
	source := filepath.Join(testdata.Shared(b), "corpus", "flights", "flights-3m.parquet")
	data, err := os.ReadFile(source)
	require.NoError(b, err)
	location := filepath.Join(b.TempDir(), "flights.parquet")
	require.NoError(b, os.WriteFile(location, data, 0o666))
	by := importFiles(b, location)
	imported, plain := openTable(b, by), openTable(b, location)
	inTurn(b, []string{"reference", "table", "arrow-go", "import"},
		func() { scanAll(b, imported) },
		func() { scanAll(b, plain) },
		func() {
			f, err := file.OpenParquetFile(location, false)
			require.NoError(b, err)
			r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 64 << 10}, memory.DefaultAllocator)
			require.NoError(b, err)
			rows, err := r.GetRecordReader(b.Context(), nil, nil)
			require.NoError(b, err)
			for rows.Next() {
				_ = rows.RecordBatch()
			}
			require.NoError(b, rows.Err())
			rows.Release()
			require.NoError(b, f.Close())
		},
		func() {
			require.NoError(b, shard.Import(b.Context(), filepath.Join(filepath.Dir(location), "other.amudai.shard"), []string{location}, shard.ImportOptions{Overwrite: true}))
		})
}

// BenchmarkUnionScan scans a union, and the same values as two columns.
func BenchmarkUnionScan(b *testing.B) {
	const rows = 500_000
	numbers, texts := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	ids := array.NewInt8Builder(memory.DefaultAllocator)
	r := rand.New(rand.NewPCG(3, 3))
	for i := range rows {
		k := int8(r.IntN(2))
		ids.Append(k)
		if k == 0 {
			numbers.Append(r.Int64N(1e6))
			texts.AppendNull()
		} else {
			numbers.AppendNull()
			texts.Append(fmt.Sprintf("user-%d@example.org", i*7919%100_003))
		}
	}
	children := []arrow.Array{numbers.NewArray(), texts.NewArray()}
	fields := []arrow.Field{{Name: "number", Type: children[0].DataType(), Nullable: true}, {Name: "text", Type: children[1].DataType(), Nullable: true}}
	union, err := array.NewSparseUnionFromArraysWithFields(ids.NewArray(), children, []string{"number", "text"})
	require.NoError(b, err)
	write := func(s *arrow.Schema, columns []arrow.Array) *table.Table {
		location := filepath.Join(b.TempDir(), "x.amudai.shard")
		w, err := shard.Create(b.Context(), location, s, shard.WriterOptions{})
		require.NoError(b, err)
		require.NoError(b, w.Write(b.Context(), array.NewRecordBatch(s, columns, rows)))
		require.NoError(b, w.Close(b.Context()))
		return openTable(b, location)
	}
	one := write(arrow.NewSchema([]arrow.Field{{Name: "u", Type: union.DataType(), Nullable: true}}, nil), []arrow.Array{union})
	two := write(arrow.NewSchema(fields, nil), children)
	inTurn(b, []string{"union", "columns"}, func() { scanAll(b, one) }, func() { scanAll(b, two) })
}
