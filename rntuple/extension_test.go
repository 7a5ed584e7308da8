package rntuple

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/take"
)

// Extension types come back: as types, or as metadata if the program does not know them for the values.
func TestExtensionTypes(t *testing.T) {
	unknown := arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"}, []string{"geo point", `{"crs": "[arrow: \"x\"]"}`})
	json, uuid := extension.JSON(arrow.BinaryTypes.String), extension.UUID()
	fields := []arrow.Field{
		{Name: "json", Type: json}, {Name: "uuid", Type: uuid}, {Name: "flag", Type: extension.Bool8()},
		{Name: "maybe", Type: uuid, Nullable: true}, {Name: "list", Type: arrow.ListOfNonNullable(json)},
		{Name: "pair", Type: arrow.StructOf(arrow.Field{Name: "id", Type: uuid}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32})},
		{Name: "point", Type: arrow.BinaryTypes.Binary, Metadata: unknown},
		{Name: "place", Type: arrow.PrimitiveTypes.Float64, Nullable: true, Metadata: unknown},
	}
	s := arrow.NewSchema(fields, nil)
	batch := extensionBatch(t, s)
	defer batch.Release()
	n := openBytes(t, written(t, s, WriterOptions{ClusterRows: 2}, batch), Options{})
	for i, f := range n.ArrowSchema().Fields() {
		require.True(t, arrow.TypeEqual(fields[i].Type, f.Type), "%s: %v", f.Name, f.Type)
		require.Equal(t, fields[i].Nullable, f.Nullable)
		for k, key := range fields[i].Metadata.Keys() {
			got, found := f.Metadata.GetValue(key)
			require.True(t, found)
			require.Equal(t, fields[i].Metadata.Values()[k], got)
		}
		_, found := f.Metadata.GetValue("rntuple.description")
		require.False(t, found)
	}
	requireSame(t, []arrow.RecordBatch{batch}, n, scan.Options{})
	again := openBytes(t, rewritten(t, n, WriterOptions{}), Options{})
	requireEqualNTuples(t, n, again)

	for text, rows := range map[string]int64{`json = '{"n":2}'`: 1, `json like '%n%'`: 5, "maybe is null": 2, "pair.n > 2": 2, "flag = true": 2, "flag = false": 3} {
		require.Equal(t, rows, n.count(t, text), text)
	}
	b, err := n.take(t.Context(), []int64{4, 0}, take.Options{Columns: []string{"list", "pair.id", "maybe"}})
	require.NoError(t, err)
	defer b.Release()
	require.True(t, arrow.TypeEqual(uuid, b.Column(2).DataType()))

	plain := openBytes(t, written(t, s, WriterOptions{}, batch), Options{NoArrowTypes: true})
	require.True(t, arrow.TypeEqual(arrow.BinaryTypes.String, plain.ArrowSchema().Field(0).Type))
}

// extensionBatch has 5 rows.
func extensionBatch(t testing.TB, s *arrow.Schema) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 5 {
		for k, f := range b.Fields() {
			if s.Field(k).Name == "maybe" && i%3 == 0 {
				f.AppendNull()
				continue
			}
			appendExtension(f, i)
		}
	}
	return b.NewRecordBatch()
}

func appendExtension(b array.Builder, i int) {
	text := fmt.Sprintf(`{"n":%d}`, i)
	switch b := b.(type) {
	case interface{ StorageBuilder() array.Builder }:
		appendExtension(b.StorageBuilder(), i)
	case *array.StringBuilder:
		b.Append(text)
	case *array.BinaryBuilder:
		b.Append([]byte(text))
	case *array.FixedSizeBinaryBuilder:
		b.Append(fmt.Appendf(nil, "%016d", i))
	case *array.Int8Builder:
		b.Append(int8(i % 2))
	case *array.Int32Builder:
		b.Append(int32(i))
	case *array.Float64Builder:
		b.Append(float64(i))
	case *array.ListBuilder:
		b.Append(true)
		for k := range i {
			appendExtension(b.ValueBuilder(), k)
		}
	case *array.StructBuilder:
		b.Append(true)
		for k := range b.NumField() {
			appendExtension(b.FieldBuilder(k), i)
		}
	default:
		panic(fmt.Sprintf("%T", b))
	}
}
