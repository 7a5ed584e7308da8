package rntuple

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// wrapTypes are dictionaries, runs and views, around and inside of other types.
func wrapTypes() []arrow.Field {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: text}
	ordered := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: number, Ordered: true}
	runs := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"})
	views := arrow.StructOf(
		arrow.Field{Name: "s", Type: arrow.BinaryTypes.StringView, Nullable: true},
		arrow.Field{Name: "b", Type: arrow.BinaryTypes.BinaryView, Nullable: true},
		arrow.Field{Name: "n", Type: number, Nullable: true},
	)
	sorted := arrow.MapOf(arrow.BinaryTypes.LargeString, dict)
	sorted.KeysSorted = true
	types := []arrow.DataType{
		dict, ordered, runs, arrow.BinaryTypes.StringView, arrow.BinaryTypes.LargeBinary, arrow.ListOf(dict), arrow.ListViewOf(ordered),
		arrow.LargeListViewOf(arrow.ListViewOf(arrow.BinaryTypes.BinaryView)), arrow.LargeListOf(runs), arrow.FixedSizeListOf(2, arrow.BinaryTypes.LargeString),
		views, arrow.ListOf(views), sorted, arrow.StructOf(arrow.Field{Name: "d", Type: dict, Nullable: true}, arrow.Field{Name: "r", Type: runs, Nullable: true}),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.LargeString),
	}
	var all []arrow.Field
	for i, dt := range types {
		all = append(all, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: dt, Nullable: true})
	}
	return all
}

// Dictionaries, runs and views come back, at any depth, from scans, takes, projections and rewritten ntuples.
func TestWraps(t *testing.T) {
	all := wrapTypes()
	s := arrow.NewSchema(all, nil)
	b := arrowgen.New(9).Batch(s, 900)
	defer b.Release()
	for _, o := range []Options{{}, {LargeOffsets: true}, {VariantsAsStructs: true}} {
		n := openBytes(t, written(t, s, WriterOptions{ClusterRows: 333}, b), o)
		requireSame(t, []arrow.RecordBatch{b}, n, scan.Options{BatchRows: 100})
		requireEqualNTuples(t, n, openBytes(t, rewritten(t, n, WriterOptions{}), o))
		if o.LargeOffsets {
			continue
		}
		for i, f := range n.ArrowSchema().Fields() {
			require.Equal(t, all[i].Type.String(), f.Type.String())
			_, found := f.Metadata.GetValue("rntuple.description")
			require.False(t, found)
		}
		require.True(t, n.ArrowSchema().Field(12).Type.(*arrow.MapType).KeysSorted)

		rows := []int64{899, 3, 3, 500}
		got, err := n.take(t.Context(), rows, take.Options{Columns: []string{"f0", "f3", "f10.s", "f11.b", "f13.d"}})
		require.NoError(t, err)
		require.Equal(t, all[0].Type.String(), got.Column(0).DataType().String())
		require.Equal(t, "list<item: struct<b: binary_view nullable>, nullable>", got.Column(3).DataType().String())
		for i, row := range rows {
			for k, c := range []int{0, 3} {
				want, have := b.Column(c), got.Column(k)
				require.Equal(t, want.ValueStr(int(row)), have.ValueStr(i))
			}
			d, have := b.Column(13).(*array.Struct), got.Column(4).(*array.Struct)
			if d.IsValid(int(row)) {
				require.Equal(t, d.Field(0).ValueStr(int(row)), have.Field(0).ValueStr(i))
			}
		}
		got.Release()
	}
}

// Filters see the values of dictionaries, runs and views, and what matches has its Arrow type.
func TestFilterWraps(t *testing.T) {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{
		{Name: "dict", Type: dict, Nullable: true}, {Name: "runs", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "view", Type: arrow.BinaryTypes.StringView}, {Name: "pair", Type: arrow.StructOf(arrow.Field{Name: "d", Type: dict}, arrow.Field{Name: "v", Type: arrow.BinaryTypes.StringView})},
		{Name: "list", Type: arrow.ListViewOf(dict)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 600 {
		text := fmt.Sprint("text ", i%7)
		require.NoError(t, b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(text))
		runs := b.Field(1).(*array.RunEndEncodedBuilder)
		runs.Append(1)
		runs.ValueBuilder().(*array.Int64Builder).Append(int64(i / 50))
		b.Field(2).(*array.StringViewBuilder).Append(text + " that is too long for a view")
		pair := b.Field(3).(*array.StructBuilder)
		pair.Append(true)
		require.NoError(t, pair.FieldBuilder(0).(*array.BinaryDictionaryBuilder).AppendString(text))
		pair.FieldBuilder(1).(*array.StringViewBuilder).Append(text)
		list := b.Field(4).(*array.ListViewBuilder)
		list.AppendWithSize(true, 1)
		require.NoError(t, list.ValueBuilder().(*array.BinaryDictionaryBuilder).AppendString(text))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	n := openBytes(t, written(t, s, WriterOptions{ClusterRows: 256}, batch), Options{})
	for text, want := range map[string]int64{
		"dict = 'text 3'": 86, "runs = 4": 50, "runs >= 10 and dict = 'text 0'": 14, "view like 'text 6%'": 85,
		"pair.d = 'text 1'": 86, "pair.v in ('text 1', 'text 2')": 172, "dict is null": 0,
	} {
		e, err := filter.Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, n.count(t, text), text)
		rows := int64(0)
		for got, err := range n.scan(t.Context(), scan.Options{Filter: e.Node()}) {
			require.NoError(t, err)
			for i, f := range s.Fields() {
				require.Equal(t, f.Type.String(), got.Column(i).DataType().String())
			}
			rows += got.NumRows()
		}
		require.Equal(t, want, rows, text)
	}
}

// Metadata of the keys and values of maps come back, such as extension types that the program does not know.
func TestMapMetadata(t *testing.T) {
	unknown := arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"}, []string{"geo point", "{}"})
	m := arrow.MapOfFields(
		arrow.Field{Name: "key", Type: arrow.BinaryTypes.String, Metadata: unknown},
		arrow.Field{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true, Metadata: unknown},
	)
	s := arrow.NewSchema([]arrow.Field{{Name: "m", Type: m, Nullable: true}}, nil)
	b := arrowgen.New(4).Batch(s, 100)
	defer b.Release()
	n := openBytes(t, written(t, s, WriterOptions{}, b), Options{})
	requireSame(t, []arrow.RecordBatch{b}, n, scan.Options{})
	back := n.ArrowSchema().Field(0).Type.(*arrow.MapType)
	for _, f := range []arrow.Field{back.KeyField(), back.ItemField()} {
		name, _ := f.Metadata.GetValue("ARROW:extension:name")
		require.Equal(t, "geo point", name, f.Name)
	}
	requireEqualNTuples(t, n, openBytes(t, rewritten(t, n, WriterOptions{}), Options{}))
}
