package shard_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// nestedShard has a shard of numbers, and nested columns.
func nestedShard(t testing.TB, o shard.WriterOptions) (location string) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "one", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
			arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true})), Nullable: true},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "span", Type: arrow.FixedWidthTypes.DayTimeInterval, Nullable: true},
		{Name: "big", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 10 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StructBuilder).Append(true)
		b.Field(1).(*array.StructBuilder).FieldBuilder(0).(*array.Int32Builder).Append(int32(i))
		list := b.Field(2).(*array.ListBuilder)
		list.Append(true)
		items := list.ValueBuilder().(*array.StructBuilder)
		items.Append(true)
		items.FieldBuilder(0).(*array.Int8Builder).Append(int8(i))
		items.FieldBuilder(1).(*array.StringBuilder).Append("b")
		b.Field(3).AppendNull()
		b.Field(4).AppendNull()
		b.Field(5).(*array.Int64Builder).Append(math.MaxInt64 - 5 + int64(i%6))
		b.Field(6).(*array.StringBuilder).Append([]string{"2026-01-02", "7"}[min(i, 8)/8])
	}
	location = filepath.Join(t.TempDir(), "nested.amudai.shard")
	w, err := shard.Create(t.Context(), location, s, o)
	require.NoError(t, err)
	batch := b.NewRecordBatch()
	defer batch.Release()
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	return location
}

// Mistakes, and values that cannot be had, leave the shard as it was.
func TestEditMistakes(t *testing.T) {
	location := nestedShard(t, shard.WriterOptions{StripeRows: 4})
	before, err := os.ReadDir(filepath.Dir(location))
	require.NoError(t, err)
	content, err := os.ReadFile(location)
	require.NoError(t, err)
	int8s := arrow.PrimitiveTypes.Int8
	for _, x := range []struct {
		change shard.Change
		want   string
	}{
		{shard.DropColumns("no"), `there is no column "no"`},
		{shard.DropColumns("id", "id"), `there is no column "id"`},
		{shard.DropColumns("one.x"), "the only one"},
		{shard.DropColumns("id", "one", "list", "map", "span", "big", "text"), "the only one"},
		{shard.DropColumns("list.item"), "part of a list"},
		{shard.DropColumns("map.key"), "part of a map"},
		{shard.RenameColumn("map.value", "x"), "part of a map"},
		{shard.RenameColumn("span.days", "x"), "belong together"},
		{shard.RenameColumn("id", "one"), `there is a column "one" already`},
		{shard.RenameColumn("list.a", "b"), `there is a column "b" already`},
		{shard.RenameColumn("id", ""), "needs a name"},
		{shard.RenameColumn("id", "\xff"), "UTF-8"},
		{shard.OrderColumns("id", "one.x"), "not in the same struct"},
		{shard.OrderColumns("id", "id"), "named twice"},
		{shard.AddColumn("id", "1"), `there is a column "id" already`},
		{shard.AddColumn("one.x", "1"), `there is a column "x" already`},
		{shard.AddColumn("list.c", "id"), "no value of its own"},
		{shard.AddColumn("a", "1, 2"), "one expression"},
		{shard.AddColumn("a", "nothing + 1"), "nothing"},
		{shard.AddColumn("a", "id +"), "expected"},
		{shard.CastColumn("list.a", arrow.PrimitiveTypes.Int64), "no value of its own"},
		{shard.CastColumn("id", arrow.ListOf(int8s)), "id"},
		{shard.SetColumnProperty("no", "comment", ""), "no column"},
		{shard.SetProperty("x", struct{}{}), "struct"},
		{shard.DropProperty("x"), "no property"},
		{shard.Change{}, "without content"},
	} {
		_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, x.change)
		require.ErrorContains(t, err, x.want)
		after, err := os.ReadDir(filepath.Dir(location))
		require.NoError(t, err)
		require.Len(t, after, len(before)) // nothing was written
	}
	for name, x := range map[string]struct {
		change shard.Change
		column string
		row    int64 // from 1
	}{
		"overflow":       {shard.AddColumn("sum", "big + 3"), "sum", 4},
		"to a time":      {shard.CastColumn("text", arrow.FixedWidthTypes.Date32), "text", 9},
		"to a float":     {shard.CastColumn("big", arrow.PrimitiveTypes.Float64), "big", 1},
		"to a short":     {shard.CastColumn("big", int8s), "big", 1},
		"cast by itself": {shard.AddColumn("t", "text::int64"), "t", 1},
	} {
		_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, x.change)
		var value *provider.ValueError
		require.ErrorAs(t, err, &value, name)
		require.Equal(t, x.column, value.Column, name)
		require.Equal(t, x.row, value.Row, name)
	}
	now, err := os.ReadFile(location)
	require.NoError(t, err)
	require.Equal(t, content, now)
	for _, rows := range []int{0, 9, 11} {
		f := arrow.Field{Name: "new", Type: arrow.PrimitiveTypes.Int64}
		s := arrow.NewSchema([]arrow.Field{f}, nil)
		src := &rowsSource{schema: s, batches: []arrow.RecordBatch{array.NewRecordBatch(s, []arrow.Array{numbers(f.Type, rows, 1)}, int64(rows))}}
		_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, shard.AddColumns(src))
		require.ErrorContains(t, err, "rows")
	}
	_, err = shard.Edit(t.Context(), location, shard.EditOptions{BlockValues: 7}, shard.DropColumns("id"))
	require.ErrorContains(t, err, "EditOptions.BlockValues")
}

// Fields within lists are dropped and renamed, too, and types change as their text allows.
func TestEditNested(t *testing.T) {
	for _, e := range []shard.Edition{shard.EditionReference, shard.Edition2026} {
		location := nestedShard(t, shard.WriterOptions{StripeRows: 4, Edition: e})
		_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, shard.DropColumns("list.a"), shard.RenameColumn("list.b", "c"), shard.AddColumn("one.y", "id * 2"),
			shard.CastColumn("one.x", arrow.BinaryTypes.String), shard.CastColumn("list", arrow.LargeListOf(arrow.StructOf(arrow.Field{Name: "c", Type: arrow.BinaryTypes.LargeString, Nullable: true}))))
		require.ErrorContains(t, err, "list") // which would have other fields than are stored
		_, err = shard.Edit(t.Context(), location, shard.EditOptions{}, shard.DropColumns("list.a"), shard.RenameColumn("list.b", "c"), shard.AddColumn("one.y", "id * 2"),
			shard.CastColumn("one.x", arrow.BinaryTypes.String))
		require.NoError(t, err)
		batches, err := Read(location, shard.OpenOptions{}, shard.ScanOptions{Columns: []string{"list", "one"}, Filter: filter.Eq(filter.Col("one.y"), 6)})
		require.NoError(t, err)
		require.Len(t, batches, 1)
		require.Equal(t, `[{"list":[{"c":"b"}],"one":{"x":"3","y":6}}`, string(must(batches[0].MarshalJSON())[:len(`[{"list":[{"c":"b"}],"one":{"x":"3","y":6}}`)]))
		Release(batches)
		report, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, report.Problems)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// An index stays with columns that are renamed, and goes with those that are dropped or cast. Those of others stay.
func TestEditIndexes(t *testing.T) {
	location := nestedShard(t, shard.WriterOptions{StripeRows: 4, Indexes: []shard.IndexDefinition{
		{Type: shard.HashIndex, Columns: []string{"id"}}, {Type: shard.TermIndex, Columns: []string{"text"}}, {Type: shard.HashIndex, Columns: []string{"big"}, PerStripe: true}}})
	report, err := shard.Edit(t.Context(), location, shard.EditOptions{}, shard.RenameColumn("id", "number"), shard.DropColumns("text"), shard.CastColumn("big", arrow.BinaryTypes.String))
	require.NoError(t, err)
	require.Len(t, report.Indexes, 4)
	require.Positive(t, report.Dropped)
	require.Positive(t, report.Written)
	s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	left, err := s.CheckIndexes(t.Context())
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, []string{"number"}, left[0].Columns)
	require.NoError(t, left[0].Err)
}

// Internal fields stay hidden, and columns in packed groups stay where they are.
func TestEditHidden(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 5 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(i))
		b.Field(2).(*array.Int64Builder).Append(int64(i))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	bytes := WithInternal(t, batch, map[string]schema.Field{"at": {Internal: schema.InternalIngested}}, shard.WriterOptions{}, func(*Parts) {})
	location := filepath.Join(t.TempDir(), "x.shard")
	require.NoError(t, os.WriteFile(location, bytes, 0o666))
	_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, shard.OrderColumns("b"), shard.AddColumn("c", "a + b"))
	require.NoError(t, err)
	names := func() (names []string) {
		x, err := shard.Open(t.Context(), location, shard.OpenOptions{})
		require.NoError(t, err)
		defer x.Close()
		as, err := x.ArrowSchema(t.Context())
		require.NoError(t, err)
		for _, f := range as.Fields() {
			names = append(names, f.Name)
		}
		return names
	}
	require.Equal(t, []string{"b", "a", "c"}, names())
	batches, err := Read(location, shard.OpenOptions{}, shard.ScanOptions{Columns: []string{schema.InternalIngested}})
	require.NoError(t, err)
	require.Len(t, batches, 1)
	Release(batches)

	location = nestedShard(t, shard.WriterOptions{Packed: [][]string{{"id", "big"}}})
	_, err = shard.Edit(t.Context(), location, shard.EditOptions{}, shard.DropColumns("id"))
	require.ErrorContains(t, err, "packed groups")
	_, err = shard.Edit(t.Context(), location, shard.EditOptions{}, shard.RenameColumn("id", "x"), shard.AddColumn("y", "id"))
	require.NoError(t, err)
	require.Contains(t, names(), "y")
}

// Roots that differ in a few bytes alone have different second names: each refers to the right one.
func TestEditsOfEqualSize(t *testing.T) {
	for _, layout := range []shard.Layout{shard.SingleFile, shard.TwoLevel} {
		location := nestedShard(t, shard.WriterOptions{StripeRows: 4, Layout: layout})
		for i := range 6 {
			comment := string(rune('a' + i%3))
			_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, shard.SetColumnProperty("id", "comment", comment), shard.SetColumnProperty("big", "comment", "x"))
			require.NoError(t, err)
			s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
			require.NoError(t, err)
			_, got, err := s.FieldProperties(t.Context(), "id")
			require.NoError(t, err)
			require.Equal(t, []shard.Property{{Name: "comment", Value: comment}}, got)
			require.NoError(t, s.Close())
			_, err = shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: int64(i % 4), To: int64(i%4) + 1}}})
			require.NoError(t, err)
			_, err = shard.Undelete(t.Context(), location, shard.EditOptions{}, shard.Rows{})
			require.NoError(t, err)
			report, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.Empty(t, report.Problems)
		}
	}
}

// Of columns of one name, the second has a name of its own in the shard. Its Arrow name stays as long as it is not renamed.
func TestEditColumnsOfOneName(t *testing.T) {
	f := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: arrow.NewMetadata([]string{"k"}, []string{"v"})}
	s := arrow.NewSchema([]arrow.Field{f, f}, nil)
	location := filepath.Join(t.TempDir(), "x.shard")
	w, err := shard.Create(t.Context(), location, s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), array.NewRecordBatch(s, []arrow.Array{numbers(f.Type, 3, 1), numbers(f.Type, 3, 2)}, 3)))
	require.NoError(t, w.Close(t.Context()))
	for _, x := range []struct {
		change shard.Change
		want   []string // names
		second string   // its type
	}{
		{shard.CastColumn("a#2", arrow.BinaryTypes.String), []string{"a", "a"}, "utf8"},
		{shard.RenameColumn("a#2", "c"), []string{"a", "c"}, "utf8"},
		{shard.RenameColumn("a", "a#2"), []string{"a#2", "c"}, "utf8"},
		{shard.AddColumn("d", "concat(c, '!')"), []string{"a#2", "c", "d"}, "utf8"},
	} {
		_, err := shard.Edit(t.Context(), location, shard.EditOptions{}, x.change)
		require.NoError(t, err)
		batches, err := Read(location, shard.OpenOptions{}, shard.ScanOptions{})
		require.NoError(t, err)
		var names []string
		for _, f := range batches[0].Schema().Fields() {
			names = append(names, f.Name)
		}
		require.Equal(t, x.want, names)
		second := batches[0].Schema().Field(1)
		require.Equal(t, x.second, second.Type.String())
		require.Equal(t, f.Metadata.ToMap(), second.Metadata.ToMap())
		require.Equal(t, "4", batches[0].Column(1).ValueStr(2))
		Release(batches)
	}
}
