package shard_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// A scan of few rows with dictionaries has dictionaries of their values alone, and the values and nulls of the rows, in whatever order the scans of an
// open shard come: at first entries are decoded alone, in the end all together.
func TestFewCodes(t *testing.T) {
	const rows, distinct = 60_000, 7_000
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	text := func(i int) (string, bool) {
		k := i * i % 15_013 % distinct
		return fmt.Sprintf("https://example.org/%d/page?id=%d", k%13, k), k%11 != 3
	}
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if v, ok := text(i); ok {
			b.Field(1).(*array.StringBuilder).Append(v)
		} else {
			b.Field(1).AppendNull()
		}
	}
	batch := b.NewRecordBatch()
	path := filepath.Join(t.TempDir(), "few.amudai.shard")
	w, err := shard.Create(t.Context(), path, s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))

	opened, err := shard.Open(t.Context(), path, shard.OpenOptions{})
	require.NoError(t, err)
	defer opened.Close()
	alone := 0
	for k := range 300 {
		from, to := k*197%rows, min(k*197%rows+1+k%90, rows)
		where := filter.And(filter.Ge(filter.Col("n"), from), filter.Lt(filter.Col("n"), to))
		at := from
		for got, err := range opened.Scan(t.Context(), shard.ScanOptions{Columns: []string{"text"}, Filter: where, Coded: []string{"text"}}) {
			require.NoError(t, err)
			d := got.Column(0).(*array.Dictionary)
			if d.Dictionary().Len() <= to-from {
				alone++
			}
			for i := range d.Len() {
				v, ok := text(at)
				require.Equal(t, ok, d.IsValid(i), "row %d", at)
				if ok {
					require.Equal(t, v, d.Dictionary().(*array.String).Value(d.GetValueIndex(i)), "row %d", at)
				}
				at++
			}
		}
		require.Equal(t, to, at)
	}
	require.Greater(t, alone, 3)
	require.Less(t, alone, 300)
}
