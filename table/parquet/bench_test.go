package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// orders makes a table of rows with an ascending day, a few origins, numbers and texts.
func orders(n int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(1, 2))
	s := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.PrimitiveTypes.Int32}, {Name: "origin", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "price", Type: arrow.PrimitiveTypes.Float64},
		{Name: "delay", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range n {
		b.Field(0).(*array.Int32Builder).Append(int32(i / 1000))
		if r.IntN(100) == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("airport %d", r.IntN(300)))
		}
		b.Field(2).(*array.Int64Builder).Append(r.Int64())
		b.Field(3).(*array.Float64Builder).Append(float64(r.IntN(1e6)) / 100)
		if r.IntN(20) == 0 {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.Int32Builder).Append(int32(r.NormFloat64() * 30))
		}
		b.Field(5).(*array.StringBuilder).Append(fmt.Sprintf("order %x of customer %d", r.Uint32(), r.IntN(1e5)))
	}
	return b.NewRecordBatch()
}

// question is a filter, and the same by hand: row groups by the bounds of an int32, rows by a function.
type question struct {
	where    string
	columns  []string
	leaf     int // of the condition
	low      int32
	high     int32
	keep     func(a arrow.Array, i int) bool
	ofGroups bool // the bounds are those of a condition on int32
}

var questions = []question{
	{where: "day between 100 and 105", columns: []string{"day", "id", "price", "note"}, leaf: 0, low: 100, high: 105, ofGroups: true,
		keep: func(a arrow.Array, i int) bool { v := a.(*array.Int32).Value(i); return v >= 100 && v <= 105 }},
	{where: "origin = 'airport 7'", columns: []string{"origin", "id", "price", "note"}, leaf: 1,
		keep: func(a arrow.Array, i int) bool { return a.IsValid(i) && a.(*array.String).Value(i) == "airport 7" }},
	{where: "delay > 60", columns: []string{"delay", "origin", "price"}, leaf: 4,
		keep: func(a arrow.Array, i int) bool { return a.IsValid(i) && a.(*array.Int32).Value(i) > 60 }},
	{where: "delay > 0", columns: []string{"delay", "origin", "price", "id"}, leaf: 4,
		keep: func(a arrow.Array, i int) bool { return a.IsValid(i) && a.(*array.Int32).Value(i) > 0 }},
	{where: "price < 1", columns: []string{"day", "origin", "id", "price", "delay", "note"}, leaf: 3,
		keep: func(a arrow.Array, i int) bool { return a.(*array.Float64).Value(i) < 1 }},
}

// byHand reads columns of the row groups that statistics leave, and takes the rows.
func byHand(t testing.TB, b []byte, q question) (rows int64) {
	r, err := file.NewParquetReader(bytes.NewReader(b))
	require.NoError(t, err)
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: 65536}, memory.DefaultAllocator)
	require.NoError(t, err)
	var leaves []int
	for _, c := range q.columns {
		leaves = append(leaves, r.MetaData().Schema.ColumnIndexByName(c))
	}
	var groups []int
	for g := range r.NumRowGroups() {
		c, err := r.MetaData().RowGroup(g).ColumnChunk(q.leaf)
		require.NoError(t, err)
		if s, err := c.Statistics(); q.ofGroups && err == nil && s != nil {
			if x := s.(*metadata.Int32Statistics); x.Min() > q.high || x.Max() < q.low {
				continue
			}
		}
		groups = append(groups, g)
	}
	rr, err := fr.GetRecordReader(context.Background(), leaves, groups)
	require.NoError(t, err)
	defer rr.Release()
	name := r.MetaData().Schema.Column(q.leaf).Name()
	for rr.Next() {
		batch := rr.RecordBatch()
		a := batch.Column(batch.Schema().FieldIndices(name)[0])
		var take []int64
		for i := range a.Len() {
			if q.keep(a, i) {
				take = append(take, int64(i))
			}
		}
		for _, c := range batch.Columns() {
			taken, err := arrowutil.Take(memory.DefaultAllocator, c, take)
			require.NoError(t, err)
			taken.Release()
		}
		rows += int64(len(take))
	}
	require.NoError(t, rr.Err())
	return rows
}

func byFormat(t testing.TB, b []byte, o provider.ReadOptions) (rows int64) {
	src, err := parquet.New(parquet.Options{}).Open(context.Background(), input("x", b), o)
	require.NoError(t, err)
	defer src.Close()
	for {
		batch, err := src.Next(context.Background())
		require.NoError(t, err)
		if batch == nil {
			return rows
		}
		rows += batch.NumRows()
		batch.Release()
	}
}

// BenchmarkWhere compares filters in the format with scans by hand over arrow-go. CPU time is that of all goroutines.
func BenchmarkWhere(b *testing.B) {
	data := []byte(tabletest.Write(b, parquet.New(parquet.Options{RowGroupRows: 250_000}), tabletest.Table(orders(1_000_000))))
	run := func(b *testing.B, f func() int64) {
		cpu, rows := measure.CPU(), int64(0)
		for b.Loop() {
			rows = f()
		}
		b.ReportMetric((measure.CPU()-cpu)/float64(b.N)*1e3, "cpu-ms/op")
		b.ReportMetric(float64(rows), "rows")
	}
	for _, q := range questions {
		e, err := filter.Parse(q.where)
		require.NoError(b, err)
		b.Run(q.where+"/hand", func(b *testing.B) { run(b, func() int64 { return byHand(b, data, q) }) })
		b.Run(q.where+"/format", func(b *testing.B) {
			run(b, func() int64 { return byFormat(b, data, provider.ReadOptions{Columns: q.columns, Filter: e}) })
		})
	}
	all := question{columns: []string{"day", "origin", "id", "price", "delay", "note"}, keep: func(arrow.Array, int) bool { return true }}
	b.Run("all/format", func(b *testing.B) {
		run(b, func() int64 {
			return byFormat(b, data, provider.ReadOptions{Columns: all.columns, Rows: []provider.RowRange{{To: 1 << 40}}})
		})
	})
}
