package shard

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/storage"
)

// Conditions on lengths find the rows that the arrays tell, however values are stored.
func TestConditionsOnLengths(t *testing.T) {
	types := append(arrowgen.Types(), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int8))
	const rows = 700
	g := arrowgen.New(9)
	g.Nulls = 0.2
	data := randomTable(g, types, rows)
	ascii, repeated := array.NewStringBuilder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	for i := range rows {
		ascii.Append(strings.Repeat("x", i*i%17) + fmt.Sprint(i*7919))
		repeated.Append([]string{"é", "", "日本", "abc"}[i*i%4])
	}
	fields := data.schema.Fields()
	for _, b := range []*array.StringBuilder{ascii, repeated} {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", len(fields)), Type: arrow.BinaryTypes.String})
		data.columns = append(data.columns, b.NewArray())
	}
	data.schema = arrow.NewSchema(fields, nil)
	asked := 0
	for _, p := range []encoding.Profile{encoding.ProfilePlain, encoding.Balanced, encoding.MinimalSize} {
		for _, apart := range []bool{false, true} {
			store := storage.NewMemory()
			writeTable(t, "mem://x/l", data, WriterOptions{Store: store, StripeRows: 300, Profile: p, OffsetsApart: apart, NullsApart: apart}, 191)
			s, err := Open(t.Context(), "mem://x/l", OpenOptions{Store: store})
			require.NoError(t, err)
			defer s.Close()
			requireLengths(t, s, data)
			for i, c := range data.columns {
				lengths, err := arrowutil.Lengths(memory.DefaultAllocator, c)
				if err != nil {
					continue
				}
				asked++
				name := fmt.Sprintf("c%d", i)
				for _, ask := range []struct {
					text  string
					holds func(n int64) bool
				}{
					{"length(%s) = 0", func(n int64) bool { return n == 0 }},
					{"length(%s) > 2", func(n int64) bool { return n > 2 }},
					{"length(%s) + 1 <= 4 and %s is not null", func(n int64) bool { return n <= 3 }},
				} {
					var want []int64
					for row := range rows {
						if lengths.IsValid(row) && ask.holds(lengths.(*array.Int64).Value(row)) {
							want = append(want, int64(row))
						}
					}
					f, err := filter.Parse(strings.ReplaceAll(ask.text, "%s", name))
					require.NoError(t, err)
					require.Equal(t, want, rowsOf(t, s, ScanOptions{Filter: f, Columns: []string{}}), "%v %v %v", f, c.DataType(), p)
					require.Equal(t, want, rowsOf(t, s, ScanOptions{Filter: f, Columns: []string{name}, BatchRows: 64}), "%v %v %v", f, c.DataType(), p)
				}
			}
		}
	}
	require.Greater(t, asked, 6*20)
}

// requireLengths compares the lengths that a scan gives with those of values, for all rows and for those of a filter, which decodes a column.
func requireLengths(t *testing.T, s *Shard, data table) {
	var names, texts []string
	for _, f := range data.schema.Fields() {
		names = append(names, f.Name)
		if kinds.IsText(f.Type) {
			texts = append(texts, f.Name)
		}
	}
	where, err := ast.Parse(texts[0] + " > '1' or length(" + texts[len(texts)-1] + ") > 4")
	require.NoError(t, err)
	some, err := ast.Parse(texts[0] + " <> ''")
	require.NoError(t, err)
	for _, o := range []scan.Options{{}, {Filter: where}, {Filter: some}, {Rows: []RowRange{{From: 7, To: 9}, {From: 290, To: 320}}}, {FetchGap: 100}} {
		values, err := scan.NewReader(t.Context(), s.table, o)
		require.NoError(t, err)
		defer values.Release()
		o.Lengths = names
		lengths, err := scan.NewReader(t.Context(), s.table, o)
		require.NoError(t, err)
		defer lengths.Release()
		measured, batches := 0, 0
		for values.Next() {
			require.True(t, lengths.Next())
			for i, c := range values.RecordBatch().Columns() {
				f, has := arrowutil.LengthsOf(values.Schema().Field(i))
				got := lengths.RecordBatch().Column(i)
				require.True(t, lengths.Schema().Field(i).Equal(f))
				if has {
					measured++
					want, err := arrowutil.Lengths(memory.DefaultAllocator, c)
					require.NoError(t, err)
					require.True(t, array.Equal(want, got), "%v", c.DataType())
				}
			}
			batches++
		}
		require.NoError(t, cmp.Or(values.Err(), lengths.Err()))
		require.False(t, lengths.Next())
		if batches > 0 || o.Filter == nil { // all texts may be empty
			require.Greater(t, measured, 8*batches)
		}
	}
}

// Lengths of columns take a small part of the bytes of their values if offsets are apart from these, from slow stores, too.
func TestLengthsReadNoValues(t *testing.T) {
	s := lengthsColumn(t, WriterOptions{OffsetsApart: true, NullsApart: true})
	read := func(o scan.Options) int64 {
		before := s.table.Requests().Bytes
		for _, err := range scan.Scan(t.Context(), s.table, o) {
			require.NoError(t, err)
		}
		return s.table.Requests().Bytes - before
	}
	for _, gap := range []int64{0, 4 << 10} {
		values := read(scan.Options{FetchGap: gap})
		lengths := read(scan.Options{FetchGap: gap, Lengths: []string{"b", "l"}})
		require.Greater(t, lengths, int64(25_000))
		require.Less(t, 10*lengths, values)
	}
}

// lengthsColumn has texts of some hundred bytes, which no dictionary suits, lists of them, and nulls.
func lengthsColumn(b testing.TB, o WriterOptions) *Shard {
	const rows = 100_000
	s := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}, {Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.Binary), Nullable: true}}, nil)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, s)
	list := rb.Field(1).(*array.ListBuilder)
	for i := range rows {
		if i%10 == 0 {
			rb.Field(0).AppendNull()
			list.AppendNull()
			continue
		}
		v := []byte(strings.Repeat(fmt.Sprintf("%x ", i*7919*7919), 5+int(uint32(i)*2654435761>>16)%20))
		rb.Field(0).(*array.BinaryBuilder).Append(v)
		list.Append(true)
		list.ValueBuilder().(*array.BinaryBuilder).Append(v)
	}
	batch := rb.NewRecordBatch()
	store := storage.NewMemory()
	o.Store, o.Profile = store, encoding.Balanced
	writeTable(b, "mem://x/l", table{schema: s, rows: rows, columns: batch.Columns()}, o, rows)
	shard, err := Open(context.Background(), "mem://x/l", OpenOptions{Store: store})
	require.NoError(b, err)
	b.Cleanup(func() { shard.Close() })
	return shard
}

// BenchmarkLengths compares conditions on lengths and nulls with reading the values. With buffers apart they take about a tenth of it.
func BenchmarkLengths(b *testing.B) {
	for name, o := range map[string]WriterOptions{"embedded": {}, "apart": {OffsetsApart: true, NullsApart: true}} {
		s := lengthsColumn(b, o)
		for _, column := range []string{"b", "l"} {
			for _, condition := range []string{"", "length(" + column + ") > 300", column + " is null"} {
				b.Run(fmt.Sprintf("%s/%s/%s", name, column, condition), func(b *testing.B) {
					o := ScanOptions{Columns: []string{column}}
					if condition != "" {
						f, err := filter.Parse(condition)
						require.NoError(b, err)
						o = ScanOptions{Columns: []string{}, Filter: f}
					}
					for b.Loop() {
						for batch, err := range s.Scan(context.Background(), o) {
							require.NoError(b, err)
							_ = rowset.Of(batch.RowRanges()...)
						}
					}
				})
			}
		}
	}
}
