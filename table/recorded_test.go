package table_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

// Aggregates that a file records are computed instead if hidden rows may have made them, such as a bound that only a deleted row had.
func TestRecordedWithHiddenRows(t *testing.T) {
	location := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(location, []byte("n,m\n1,\n2,5\n3,6\n"), 0o600))
	one := func(v int64) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.Append(v)
		return b.NewArray()
	}
	for _, c := range []struct {
		hidden     int64
		aggregates string
		want       []int64
	}{
		{0, "count(), max(n), min(n), count(m)", []int64{3, 90, 0, 1}}, // what is recorded, right or not
		{4, "count(), count(n)", []int64{3, 3}},
		{4, "count(), max(n)", []int64{3, 3}},
		{4, "min(n)", []int64{1}},
		{4, "count(m)", []int64{2}},
	} {
		format := text.CSV(text.CSVOptions{})
		asked := false
		format.Statistics = func(_ context.Context, _ provider.Input, columns []string) (*provider.Statistics, error) {
			asked = true
			s := &provider.Statistics{Rows: 3, Hidden: c.hidden}
			for _, path := range columns {
				col := provider.ColumnStatistics{Path: path, Type: arrow.PrimitiveTypes.Int64, Min: one(0), Max: one(90), Exact: true, Distinct: -1, Bytes: -1}
				if path == "m" {
					col.Nulls = 2
				}
				s.Columns = append(s.Columns, col)
			}
			return s, nil
		}
		tab, err := table.OpenWith(t.Context(), table.OpenOptions{Formats: []provider.Format{format}}, location)
		require.NoError(t, err)
		for b, err := range tab.Group(t.Context(), table.GroupOptions{Aggregates: c.aggregates}) {
			require.NoError(t, err)
			var got []int64
			for _, column := range b.Columns() {
				got = append(got, column.(*array.Int64).Value(0))
			}
			require.Equal(t, c.want, got, c.aggregates)
		}
		require.True(t, asked)
		require.NoError(t, tab.Close())
	}
}
