package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// TestRoundTrip writes a table of all types and reads it from memory and through a pipe.
func TestRoundTrip(t *testing.T) {
	f, err := provider.Registered().ByName("shard")
	require.NoError(t, err)
	rows := tabletest.Table(arrowtest.Batch(t, arrowtest.Columns()))
	in := tabletest.Write(t, f, rows)
	sniffed, ok := provider.Registered().Sniff([]byte(in[:16]))
	require.True(t, ok)
	require.Equal(t, "shard", sniffed.Name)
	arrowtest.RequireSameTable(t, rows, tabletest.MustRead(t, f, in, provider.ReadOptions{}))

	dir := t.TempDir()
	pipe := provider.Input{Name: "stdin", Reader: strings.NewReader(in), Size: -1}
	got, err := tabletest.Read(t, f, pipe, provider.ReadOptions{TempDir: dir, Columns: []string{"utf8", "int8"}})
	require.NoError(t, err)
	require.EqualValues(t, 2, got.NumCols())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestLocation reads a shard of several files by its location, with a filter and in batches of a few rows. Its bytes
// alone do not suffice.
func TestLocation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.amudai.shard")
	rows := tabletest.MustRead(t, texts.CSV(texts.CSVOptions{}), "n,s\n1,a\n2,b\n3,c\n", provider.ReadOptions{})
	sink, err := shard.Create(t.Context(), path, rows.Schema(), shard.WriterOptions{Layout: shard.TwoLevel})
	require.NoError(t, err)
	for b := range batches(t, "n,s\n1,a\n2,b\n", "n,s\n3,c\n") {
		require.NoError(t, sink.Write(t.Context(), b))
		require.NoError(t, sink.CutStripe(t.Context()))
	}
	require.NoError(t, sink.Close(t.Context()))
	require.NoError(t, sink.Abort(t.Context()))

	f := shard.New(shard.FormatOptions{})
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = tabletest.Read(t, f, tabletest.Input(string(raw)), provider.ReadOptions{})
	require.Error(t, err)
	in := tabletest.Input(string(raw))
	in.Location = path
	e, err := filter.Parse("n > 1")
	require.NoError(t, err)
	got, err := tabletest.Read(t, f, in, provider.ReadOptions{Filter: e, Columns: []string{"s"}, BatchRows: 1})
	require.NoError(t, err)
	require.Equal(t, "s\nb\nc\n", tabletest.Write(t, texts.CSV(texts.CSVOptions{}), got))
	require.Len(t, got.Column(0).Data().Chunks(), 2)
}

// batches yields the rows of each text as a batch.
func batches(t *testing.T, tables ...string) func(yield func(arrow.RecordBatch) bool) {
	return func(yield func(arrow.RecordBatch) bool) {
		for _, rows := range tables {
			src, err := texts.CSV(texts.CSVOptions{}).Open(t.Context(), tabletest.Input(rows), provider.ReadOptions{})
			require.NoError(t, err)
			b, err := src.Next(t.Context())
			require.NoError(t, err)
			more := yield(b)
			b.Release()
			require.NoError(t, src.Close())
			if !more {
				return
			}
		}
	}
}

// TestAborted checks that an aborted output is not published.
func TestAborted(t *testing.T) {
	rows := tabletest.MustRead(t, texts.CSV(texts.CSVOptions{}), "n\n1\n", provider.ReadOptions{})
	var out tabletest.Output
	sink, err := shard.New(shard.FormatOptions{}).Create(t.Context(), &out, rows.Schema(), provider.WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, sink.Abort(t.Context()))
	require.True(t, out.Aborted)
	require.False(t, out.Published)
	_, err = shard.New(shard.FormatOptions{Write: shard.WriterOptions{Layout: shard.TwoLevel}}).Create(t.Context(), &out, rows.Schema(), provider.WriteOptions{})
	require.ErrorContains(t, err, "SingleFile")
}

// Formats are found by name or by first bytes, among those that a program imports.
func Example() {
	f, _ := provider.Registered().ByPath("flights.amudai.shard")
	fmt.Println(f.Name, f.Title)
	// Output: shard Amudai shard
}

// TestDictionaries gives columns as dictionaries that are stored with one, and others as they are.
func TestDictionaries(t *testing.T) {
	ctx := t.Context()
	location := filepath.Join(t.TempDir(), "t.amudai.shard")
	s := arrow.NewSchema([]arrow.Field{{Name: "few.values", Type: arrow.BinaryTypes.String}, {Name: "many", Type: arrow.BinaryTypes.String}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 20_000 {
		b.Field(0).(*array.StringBuilder).Append([]string{"north", "east", "south", "west"}[i*7%4])
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("%x", uint64(i)*0x9e3779b97f4a7c15))
		b.Field(2).(*array.Int64Builder).Append(int64(i))
	}
	rows := b.NewRecordBatch()
	defer rows.Release()
	sink, err := shard.Create(ctx, location, s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, sink.Write(ctx, rows))
	require.NoError(t, sink.Close(ctx))
	for _, columns := range [][]string{nil, {"many", `few\.values`}} {
		src, err := shard.New(shard.FormatOptions{}).Open(ctx, provider.Input{Name: location, Location: location}, provider.ReadOptions{Dictionaries: true, Columns: columns})
		require.NoError(t, err)
		for _, f := range src.Schema().Fields() {
			require.Equal(t, f.Name == "few.values", f.Type.ID() == arrow.DICTIONARY, f)
		}
		batch, err := src.Next(ctx)
		require.NoError(t, err)
		at := src.Schema().FieldIndices("few.values")[0]
		require.Equal(t, rows.Column(0).ValueStr(1), batch.Column(at).ValueStr(1))
		batch.Release()
		require.NoError(t, src.Close())
	}
}
