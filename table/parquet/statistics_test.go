package parquet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// TestStatistics: what a footer records of columns, over several row groups.
func TestStatistics(t *testing.T) {
	f := parquet.New(parquet.Options{RowGroupRows: 1000})
	batch := orders(4500)
	b := []byte(tabletest.Write(t, f, tabletest.Table(batch)))
	s, err := f.Statistics(t.Context(), input("x", b), []string{"day", "origin", "price", "delay"})
	require.NoError(t, err)
	require.EqualValues(t, 4500, s.Rows)
	day, origin, price, delay := s.Columns[0], s.Columns[1], s.Columns[2], s.Columns[3]
	require.Equal(t, "0", day.Min.ValueStr(0))
	require.Equal(t, "4", day.Max.ValueStr(0))
	require.True(t, day.Exact)
	require.EqualValues(t, 0, day.Nulls)
	require.EqualValues(t, 0, day.NaNs)
	require.Positive(t, day.Bytes)
	require.Equal(t, "airport 0", origin.Min.ValueStr(0))
	require.False(t, origin.Exact, "the footer does not say that strings are not cut")
	require.EqualValues(t, batch.Column(1).NullN(), origin.Nulls)
	require.EqualValues(t, -1, price.NaNs)
	require.EqualValues(t, batch.Column(4).NullN(), delay.Nulls)

	_, err = f.Statistics(t.Context(), input("x", b), []string{"dai"})
	require.ErrorContains(t, err, "is day meant?")
	s, err = f.Statistics(t.Context(), input("x", b), []string{})
	require.NoError(t, err)
	require.Empty(t, s.Columns)
}

// A scan that is analyzed reads the pages of its columns: never more, and all of them without a filter.
func TestAnalyze(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data")
	for _, name := range []string{
		"alltypes_plain.snappy.parquet", "datapage_v2.snappy.parquet", "nested_lists.snappy.parquet", "delta_byte_array.parquet",
		"rle-dict-snappy-checksum.parquet", "data_index_bloom_encoding_with_length.parquet", "alltypes_tiny_pages.parquet",
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		x, err := parquet.New(parquet.Options{}).Explain(t.Context(), input(name, b), provider.ExplainOptions{Run: true})
		require.NoError(t, err)
		require.Equal(t, x.Run.BlocksOfColumns, x.Run.Blocks-x.Run.BlocksAgain, name)
		require.Positive(t, x.Run.Blocks, name)
		x, err = parquet.New(parquet.Options{}).Explain(t.Context(), input(name, b), provider.ExplainOptions{Run: true, Limit: 1})
		require.NoError(t, err)
		require.LessOrEqual(t, x.Run.Blocks-x.Run.BlocksAgain, x.Run.BlocksOfColumns, name)
	}
}
