package parquet_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// TestInt96FromSpark reads the values that the documentation of the corpus lists.
func TestInt96FromSpark(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data", "int96_from_spark.parquet"))
	require.NoError(t, err)
	rows, err := readAll(t, input("spark", b), provider.ReadOptions{})
	require.NoError(t, err)
	times := rows.Column(0).Data().Chunk(0).(*array.Timestamp)
	want := []int64{1704141296123456, 1704070800000000, 253402225200000000, 1735599600000000, 0, 9089380393200000000}
	for i, v := range want {
		require.Equal(t, i == 4, times.IsNull(i))
		require.Equal(t, arrow.Timestamp(v), times.Value(i))
	}
}

// int96 returns the time that is nanos after the midnight of a day, counted from 1970-01-01.
func int96(days, nanos int64) (v pq.Int96) {
	binary.LittleEndian.PutUint64(v[:], uint64(nanos))
	binary.LittleEndian.PutUint32(v[8:], uint32(days+2_440_588))
	return v
}

// int96File writes the values to an INT96 column, and as pairs to a list within a struct.
func int96File(t *testing.T, values []pq.Int96) []byte {
	leaf := schema.NewInt96Node("t", pq.Repetitions.Required, -1)
	item := schema.NewInt96Node("items", pq.Repetitions.Repeated, -1)
	group, err := schema.NewGroupNode("s", pq.Repetitions.Required, schema.FieldList{item}, -1)
	require.NoError(t, err)
	other := schema.NewFixedLenByteArrayNode("other", pq.Repetitions.Required, 12, -1)
	root, err := schema.NewGroupNode("schema", pq.Repetitions.Required, schema.FieldList{leaf, group, other}, -1)
	require.NoError(t, err)
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	g, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	next := func() file.ColumnChunkWriter {
		c, err := g.NextColumn()
		require.NoError(t, err)
		return c
	}
	c := next()
	_, err = c.(*file.Int96ColumnChunkWriter).WriteBatch(values, nil, nil)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	c = next()
	def, rep := make([]int16, 2*len(values)), make([]int16, 2*len(values))
	var twice []pq.Int96
	for i, v := range values {
		def[2*i], def[2*i+1], rep[2*i+1] = 1, 1, 1
		twice = append(twice, v, v)
	}
	_, err = c.(*file.Int96ColumnChunkWriter).WriteBatch(twice, def, rep)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	c = next()
	var bytes12 []pq.FixedLenByteArray
	for range values {
		bytes12 = append(bytes12, []byte("twelve bytes"))
	}
	_, err = c.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(bytes12, nil, nil)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestInt96Units reads each column in the finest unit that can hold all its values.
func TestInt96Units(t *testing.T) {
	const day = 86_400_000_000_000
	const last = math.MaxInt64 / day // day of the last nanosecond
	for name, c := range map[string]struct {
		values []pq.Int96
		unit   string
		first  string
		err    string
	}{
		"nanoseconds": {values: []pq.Int96{int96(0, 1), int96(last, 0)}, unit: "ns", first: "1970-01-01T00:00:00.000000001"},
		"first and last": {values: []pq.Int96{int96(-last-1, day-math.MaxInt64%day-1), int96(last, math.MaxInt64%day)}, unit: "ns",
			first: "1677-09-21T00:12:43.145224192"},
		"microseconds": {values: []pq.Int96{int96(0, 1000), int96(last+1, 0)}, unit: "us", first: "1970-01-01T00:00:00.000001"},
		"milliseconds": {values: []pq.Int96{int96(0, 1e6), int96(1<<30, 0)}, unit: "ms", first: "1970-01-01T00:00:00.001"},
		"before":       {values: []pq.Int96{int96(-1, 1000), int96(-last-2, 0)}, unit: "us", first: "1969-12-31T00:00:00.000001"},
		"no unit":      {values: []pq.Int96{int96(0, 1), int96(last+1, 0)}, err: "does not fit ns"},
		"no time":      {values: []pq.Int96{int96(0, day)}, err: "does not fit ns"},
	} {
		t.Run(name, func(t *testing.T) {
			b := int96File(t, c.values)
			rows, err := readAll(t, input(name, b), provider.ReadOptions{BatchRows: 1})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "t: timestamp["+c.unit+"] not null\ns: struct<items: list<timestamp["+c.unit+"]> not null> not null\n"+
				"other: fixed_size_binary[12] not null\n", text.Schema(rows.Schema()))
			lines := tabletest.Write(t, texts.JSONLines(texts.JSONOptions{}), rows)
			require.Contains(t, lines, `{"t":"`+c.first+`","s":{"items":["`+c.first+`","`+c.first+`"]},"other":`)
			part, err := readAll(t, input(name, b), provider.ReadOptions{Columns: []string{"other", "t"}})
			require.NoError(t, err)
			require.Equal(t, "other: fixed_size_binary[12] not null\nt: timestamp["+c.unit+"] not null\n", text.Schema(part.Schema()))
		})
	}
}
