package arrowipc_test

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/internal/arrowipc"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

var jsonLines = texts.JSONLines(texts.JSONOptions{})

func TestArrowTypes(t *testing.T) {
	batch := arrowtest.Batch(t, arrowtest.Columns())
	rows := tabletest.Table(batch, batch.NewSlice(1, 4), batch.NewSlice(0, 0))
	for _, f := range []provider.Format{arrowipc.Format, arrowipc.Stream} {
		src := tabletest.Write(t, f, rows)
		for _, reader := range []provider.Format{arrowipc.Format, arrowipc.Stream} { // both recognize the format by its first bytes
			got := tabletest.MustRead(t, reader, src, provider.ReadOptions{})
			require.True(t, got.Schema().Equal(rows.Schema()))
			arrowtest.RequireSameTable(t, rows, got)
		}
		dir := t.TempDir()
		got, err := tabletest.Read(t, f, provider.Input{Name: "stdin", Reader: strings.NewReader(src), Size: -1}, provider.ReadOptions{TempDir: dir, Columns: []string{"utf8", "int8"}})
		require.NoError(t, err)
		require.Equal(t, "utf8: utf8\nint8: int8\n", text.Schema(got.Schema()))
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestArrowDictionaries writes batches whose dictionaries differ.
func TestArrowDictionaries(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	nested := arrow.ListOf(dt)
	var batches []arrow.RecordBatch
	for _, src := range []string{`["a", "b", null]`, `["c", "a", "c"]`, `["b", "d", "e"]`} {
		flat, _, err := array.FromJSON(memory.DefaultAllocator, dt, strings.NewReader(src))
		require.NoError(t, err)
		list, _, err := array.FromJSON(memory.DefaultAllocator, nested, strings.NewReader("["+src+",[],null]"))
		require.NoError(t, err)
		s := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}, {Name: "l", Type: nested, Nullable: true}}, nil)
		batches = append(batches, array.NewRecordBatch(s, []arrow.Array{flat, list}, 3))
	}
	rows := tabletest.Table(batches...)
	for _, f := range []provider.Format{arrowipc.Format, arrowipc.Stream} {
		got := tabletest.MustRead(t, f, tabletest.Write(t, f, rows), provider.ReadOptions{})
		require.Equal(t, tabletest.Write(t, jsonLines, rows), tabletest.Write(t, jsonLines, got))
	}
}

// TestArrowDamage flips bytes and truncates files. The result is an error or some table, never a panic.
func TestArrowDamage(t *testing.T) {
	var cols []arrowtest.Column
	for _, c := range arrowtest.Columns() {
		switch c.Name {
		case "utf8", "list", "dictionary", "run_end_encoded", "utf8_view", "map", "list_view", "bool":
			cols = append(cols, c)
		}
	}
	batch := arrowtest.Batch(t, cols)
	for _, f := range []provider.Format{arrowipc.Format, arrowipc.Stream} {
		whole := tabletest.Write(t, f, tabletest.Table(batch))
		for i := range len(whole) {
			bad := []byte(whole)
			bad[i] ^= byte(1 << (i % 8))
			if rows, err := tabletest.Read(t, f, tabletest.Input(string(bad)), provider.ReadOptions{}); err == nil {
				for _, c := range rows.Schema().Fields() {
					require.NotNil(t, c.Type)
				}
				_ = writeQuietly(t, jsonLines, rows)
			}
		}
		for n := 0; n < len(whole); n += 3 {
			_, _ = tabletest.Read(t, f, tabletest.Input(whole[:n]), provider.ReadOptions{})
		}
	}
	for _, src := range []string{"", "PAR1xxxxxxxx", "id,name\n1,2\n", "ARROW1\x00\x00"} {
		_, err := tabletest.Read(t, arrowipc.Format, tabletest.Input(src), provider.ReadOptions{})
		require.Error(t, err)
	}
}

// writeQuietly writes a table that was read from a damaged file. Errors are allowed.
func writeQuietly(t *testing.T, f provider.Format, rows arrow.Table) error {
	var out tabletest.Output
	sink, err := f.Create(t.Context(), &out, rows.Schema(), provider.WriteOptions{})
	if err != nil {
		return err
	}
	r := array.NewTableReader(rows, 0)
	defer r.Release()
	for r.Next() {
		if err := sink.Write(t.Context(), r.RecordBatch()); err != nil {
			return sink.Abort(t.Context())
		}
	}
	return sink.Close(t.Context())
}

// TestArrowDictionaryTypes writes dictionaries of values in all layouts, as Polars uses for categories and enums, in
// batches with different dictionaries.
func TestArrowDictionaryTypes(t *testing.T) {
	mem := memory.DefaultAllocator
	for _, values := range []arrow.DataType{arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, arrow.BinaryTypes.Binary,
		arrow.BinaryTypes.BinaryView, arrow.BinaryTypes.LargeBinary} {
		for _, index := range []arrow.DataType{arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16} {
			dt := &arrow.DictionaryType{IndexType: index, ValueType: values}
			s := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}}, nil)
			var batches []arrow.RecordBatch
			for k, dictionary := range []string{`["YQ==","Yg=="]`, `["Yw==","YQ=="]`, `["ZA==","Yg=="]`} {
				v, _, err := array.FromJSON(mem, values, strings.NewReader(dictionary))
				require.NoError(t, err)
				codes, _, err := array.FromJSON(mem, index, strings.NewReader([]string{`[1,0,null]`, `[0,0,1]`, `[1,null,0]`}[k]))
				require.NoError(t, err)
				batches = append(batches, array.NewRecordBatch(s, []arrow.Array{array.NewDictionaryArray(dt, codes, v)}, 3))
			}
			rows := tabletest.Table(batches...)
			for _, f := range []provider.Format{arrowipc.Format, arrowipc.Stream} {
				got := tabletest.MustRead(t, f, tabletest.Write(t, f, rows), provider.ReadOptions{})
				require.True(t, arrow.TypeEqual(dt, got.Schema().Field(0).Type))
				require.Equal(t, tabletest.Write(t, jsonLines, rows), tabletest.Write(t, jsonLines, got), "%s %s", f.Name, dt)
			}
		}
	}
}
