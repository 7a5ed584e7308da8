package shard

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/filtertest"
)

// TestQuestions evaluates conditions on shards of real data, with all sources and with none, and compares the
// results with those of DuckDB.
func TestQuestions(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: writes whole data sets")
	}
	ctx := context.Background()
	for _, dataset := range filtertest.Datasets(t) {
		location := filepath.Join(t.TempDir(), dataset+".shard")
		writeNumbered(t, location, dataset)
		s, err := Open(ctx, location, OpenOptions{})
		require.NoError(t, err)
		for _, q := range filtertest.Questions(t) {
			if q.Dataset != dataset {
				continue
			}
			for _, disable := range []Sources{0, Statistics | BloomFilters | Dictionaries | RangeIndexes} {
				rows := []int64{}
				for batch, err := range s.Scan(ctx, ScanOptions{Columns: []string{"row number"}, Filter: where(t, q.Filter), Disable: disable}) {
					require.NoError(t, err, q.Filter)
					rows = append(rows, batch.Column(0).(*array.Int64).Int64Values()...)
				}
				q.Check(t, rows)
			}
			n, err := s.Count(ctx, where(t, q.Filter))
			require.NoError(t, err)
			require.EqualValues(t, q.Rows, n, q.Filter)
		}
		require.NoError(t, s.Close())
	}
}

// writeNumbered writes a data set with the number of each row as one more column.
func writeNumbered(t *testing.T, location, dataset string) {
	ctx := context.Background()
	var w *Writer
	filtertest.Batches(t, dataset, func(first int64, batch arrow.RecordBatch) {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range batch.NumRows() {
			b.Append(first + i)
		}
		fields := append(batch.Schema().Fields(), arrow.Field{Name: "row number", Type: arrow.PrimitiveTypes.Int64})
		s := arrow.NewSchema(fields, nil)
		if w == nil {
			var err error
			w, err = Create(ctx, location, s, WriterOptions{})
			require.NoError(t, err)
		}
		require.NoError(t, w.Write(ctx, array.NewRecordBatch(s, slices.Concat(batch.Columns(), []arrow.Array{b.NewArray()}), batch.NumRows())))
	})
	require.NoError(t, w.Close(ctx))
}
