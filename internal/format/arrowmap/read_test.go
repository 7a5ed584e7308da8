package arrowmap

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/goldenwalk"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// plainNodes are fields of a writer without annotations.
func plainNodes() []schema.Field {
	label := func(l string) *schema.Extended { return &schema.Extended{Label: l} }
	item := []schema.Field{{Type: schema.String}}
	return []schema.Field{
		{Name: "unit", Type: schema.Unit},
		{Name: "bool", Type: schema.Boolean},
		{Name: "i8", Type: schema.Int8, Signed: true},
		{Name: "u64", Type: schema.Int64},
		{Name: "f32", Type: schema.Float32},
		{Name: "bin", Type: schema.Binary},
		{Name: "fsb", Type: schema.FixedSizeBinary, FixedSize: 5},
		{Name: "str", Type: schema.String},
		{Name: "guid", Type: schema.Guid, FixedSize: 16},
		{Name: "time", Type: schema.DateTime},
		{Name: "span", Type: schema.Int64, Signed: true, Extended: label(schema.LabelTimeSpan)},
		{Name: "dec", Type: schema.FixedSizeBinary, FixedSize: 16, Extended: label(schema.LabelDecimal)},
		{Name: "dyn", Type: schema.Binary, Extended: label(schema.LabelDynamic)},
		{Name: "geo", Type: schema.Binary, Extended: label("Geo;1")},
		{Name: "list", Type: schema.List, Children: item},
		{Name: "fsl", Type: schema.FixedSizeList, FixedSize: 3, Children: item},
		{Name: "struct", Type: schema.Struct, Children: []schema.Field{{Name: "a", Type: schema.Int8}}},
		{Name: "map", Type: schema.Map, Children: []schema.Field{{Type: schema.String}, {Type: schema.DateTime}}},
		{Name: "union", Type: schema.Union, Children: []schema.Field{{Name: "a", Type: schema.Int8}, {Name: "b", Type: schema.String}}},
	}
}

func parsedSchema(t testing.TB, fields []schema.Field) *schema.Schema {
	b, err := schema.Build(fields)
	require.NoError(t, err)
	s, err := schema.Parse(b)
	require.NoError(t, err)
	return s
}

func fieldText(f arrow.Field) string {
	s := f.Name + ": " + f.Type.String()
	if !f.Nullable {
		s += " required"
	}
	for i, k := range f.Metadata.Keys() {
		s += " " + k + "=" + f.Metadata.Values()[i]
	}
	return s
}

func TestDefaultMapping(t *testing.T) {
	s := parsedSchema(t, plainNodes())
	read := func(o ReadOptions) []string {
		_, columns, err := ToArrow(s, o)
		require.NoError(t, err)
		var out []string
		for _, c := range columns {
			out = append(out, fieldText(c.Arrow)+" ["+c.Rule.String()+"]")
		}
		return out
	}
	require.Equal(t, []string{
		"unit: null [null]",
		"bool: bool [same]",
		"i8: int8 [same]",
		"u64: uint64 [same]",
		"f32: float32 [same]",
		"bin: large_binary [same]",
		"fsb: fixed_size_binary[5] [same]",
		"str: large_utf8 [same]",
		"guid: extension<arrow.uuid> [same]",
		"time: timestamp[ns] [ticks]",
		"span: duration[ns] [span]",
		"dec: decimal(38, 16) [decimal]",
		"dyn: extension<arrow.json[storage_type=large_utf8]> [text]",
		"geo: large_binary ARROW:extension:name=Geo;1 [same]",
		"list: large_list<item: large_utf8, nullable> [same]",
		"fsl: fixed_size_list<item: large_utf8, nullable>[3] [same]",
		"struct: struct<a: uint8 nullable> [same]",
		"map: map<large_utf8, timestamp[ns], items_nullable> [same]",
		"union: dense_union<a: type=uint8, nullable=0, b: type=large_utf8, nullable=1> [same]",
	}, read(ReadOptions{}))
	for _, c := range []struct {
		o    ReadOptions
		want []string
	}{
		{ReadOptions{Decimals: DecimalsRaw, DateTimes: TicksRaw, TimeSpans: TicksRaw, Dynamics: DynamicsRaw}, []string{
			"time: uint64 ARROW:extension:name=KustoDateTime [same]",
			"span: int64 ARROW:extension:name=KustoTimeSpan [same]",
			"dec: fixed_size_binary[16] ARROW:extension:name=KustoDecimal [same]",
			"dyn: large_binary ARROW:extension:name=KustoDynamic [same]"}},
		{ReadOptions{Decimals: DecimalsAsText, DateTimes: TicksAsMicro, TimeSpans: TicksAsMicro, Dynamics: DynamicsAsText}, []string{
			"time: timestamp[us] [ticks]", "span: duration[us] [span]", "dec: large_utf8 [decimal text]", "dyn: large_utf8 [text]"}},
		{ReadOptions{Decimals: DecimalsAs256}, []string{"dec: decimal256(76, 34) [decimal]"}},
		{ReadOptions{Decimals: DecimalsAs256, DecimalPrecision: 40, DecimalScale: -2}, []string{"dec: decimal256(40, -2) [decimal]"}},
		{ReadOptions{DecimalPrecision: 12, DecimalScale: 2}, []string{"dec: decimal(12, 2) [decimal]"}},
	} {
		got := read(c.o)
		for _, want := range c.want {
			require.Contains(t, got, want)
		}
	}
	_, _, err := ToArrow(s, ReadOptions{DecimalPrecision: 39})
	require.ErrorContains(t, err, "dec")
}

// DateTime is read in nanoseconds if the range statistics allow it, else in microseconds.
func TestRangeChoosesUnit(t *testing.T) {
	s := parsedSchema(t, plainNodes())
	const most = math.MaxInt64 / 100
	minus := func(v int64) uint64 { return uint64(-v) }
	for _, c := range []struct {
		name string
		r    TickRange
		want string
	}{
		{"time", TickRange{convert.Epoch - most, convert.Epoch + most}, "timestamp[ns]"},
		{"time", TickRange{convert.Epoch - most - 1, convert.Epoch}, "timestamp[us]"},
		{"time", TickRange{convert.Epoch, convert.Epoch + most + 1}, "timestamp[us]"},
		{"time", TickRange{0, math.MaxUint64}, "timestamp[us]"},
		{"span", TickRange{minus(most), most}, "duration[ns]"},
		{"span", TickRange{minus(most + 1), 0}, "duration[us]"},
		{"span", TickRange{0, most + 1}, "duration[us]"},
	} {
		node, _, err := s.Find(c.name)
		require.NoError(t, err)
		asked := 0
		col, err := ColumnOf(node, ReadOptions{Range: func(id uint32) (TickRange, bool) {
			asked++
			require.Equal(t, node.ID(), id)
			return c.r, true
		}})
		require.NoError(t, err)
		require.Equal(t, c.want, col.Arrow.Type.String())
		require.Equal(t, 1, asked)
	}
	node, _, err := s.Find("time")
	require.NoError(t, err)
	col, err := ColumnOf(node, ReadOptions{Range: func(uint32) (TickRange, bool) { return TickRange{}, false }})
	require.NoError(t, err)
	require.Equal(t, "timestamp[ns]", col.Arrow.Type.String())
}

// Every Arrow type of the default mapping is written back as the same stored type.
func TestRawFormsComeBack(t *testing.T) {
	want := plainNodes()
	s := parsedSchema(t, want)
	arrowSchema, _, err := ToArrow(s, ReadOptions{Decimals: DecimalsRaw, DateTimes: TicksRaw, TimeSpans: TicksRaw, Dynamics: DynamicsRaw})
	require.NoError(t, err)
	nodes, _, err := FromArrow(arrowSchema, Options{Features: edition.E2026.Features()})
	require.NoError(t, err)
	for i := range want {
		if want[i].Name == "geo" { // an unknown label becomes metadata of the field
			continue
		}
		require.Equal(t, describeField(&want[i]), describeField(&nodes[i]))
	}
}

func TestIgnoreAnnotations(t *testing.T) {
	nodes, _, err := FromArrow(arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}},
		{Name: "x", Type: arrow.FixedWidthTypes.Time32s, Metadata: meta("a", "b")},
	}, nil), Options{})
	require.NoError(t, err)
	_, columns, err := ToArrow(parsedSchema(t, nodes), ReadOptions{IgnoreAnnotations: true})
	require.NoError(t, err)
	require.Equal(t, "x: timestamp[ns]", fieldText(columns[0].Arrow))
	require.Equal(t, "x#2: int32", fieldText(columns[1].Arrow))
}

// An annotation that is malformed, or does not fit the node, leaves the default mapping.
func TestAnnotationThatDoesNotFit(t *testing.T) {
	for _, text := range []string{
		"int9", "date32[3]", "utf8", "list", "dictionary[utf8]/int32", "dictionary/int32", "dictionary[int8,sorted]/int32", "ree[int8]/int32",
		"int32;colour=red", "int32;name=%4", "int32;name=%GG", "int32[", "extension[a,b,c]/int32", "int32/", "/int32", "zstd[1]/int32",
		"decimal128[5,2]", "fixed_size_binary[16]", "time64[us]", "time32[us]", "timestamp[ns]", "interval_day_time",
		strings.Repeat("dictionary[int8]/", 9) + "int32",
	} {
		s := parsedSchema(t, []schema.Field{{Name: "x", Type: schema.Int32, Signed: true, Extended: &schema.Extended{
			Label: "Arrow", Properties: []schema.Property{{Name: "other"}, {Name: AnnotationProperty, Kind: schema.PropertyString, Data: []byte(text)}}}}})
		node, err := s.Field(0)
		require.NoError(t, err)
		col, err := ColumnOf(node, ReadOptions{})
		require.NoError(t, err, text)
		require.Equal(t, "x: int32", fieldText(col.Arrow), text)
		require.NotEmpty(t, col.AnnotationIgnored, text)
	}
}

// An extension type that is not registered, or rejects its metadata, comes back as its storage type with metadata
// that name the extension.
func TestUnknownExtension(t *testing.T) {
	for text, want := range map[string]string{
		"extension[no.such,a%2Cb]/date32;required;meta=k,v":   "x: date32 required k=v ARROW:extension:name=no.such ARROW:extension:metadata=a,b",
		"extension[arrow.uuid]/date32":                        "x: date32 ARROW:extension:name=arrow.uuid",
		"extension[arrow.opaque,not json]/date32":             "x: date32 ARROW:extension:name=arrow.opaque ARROW:extension:metadata=not json",
		"dictionary[int8]/extension[no.such]/date32":          "x: dictionary<values=date32, indices=int8, ordered=false> ARROW:extension:name=no.such",
		"extension[no.such]/date32;meta=ARROW:extension:name": "x: date32 ARROW:extension:name=",
	} {
		s := parsedSchema(t, []schema.Field{{Name: "x", Type: schema.DateTime, Extended: &schema.Extended{
			Label: AnnotationLabel, Properties: []schema.Property{{Name: AnnotationProperty, Kind: schema.PropertyString, Data: []byte(text)}}}}})
		node, err := s.Field(0)
		require.NoError(t, err)
		col, err := ColumnOf(node, ReadOptions{})
		require.NoError(t, err)
		require.Empty(t, col.AnnotationIgnored)
		require.Equal(t, want, fieldText(col.Arrow), text)
		require.Equal(t, Ticks, col.Rule)
	}
}

func TestNames(t *testing.T) {
	for _, c := range [][2][]string{
		{{"a", "", "a", "a#2", ""}, {"a", "#1", "a#3", "a#2", "#2"}},
		{{"#1", "", "x.y", "x.y", "\xff", "\xfe"}, {"#1", "#2", "x.y", "x.y#2", "\uFFFD", "\uFFFD#2"}},
		{{"", "", ""}, {"#1", "#2", "#3"}},
	} {
		var fields []arrow.Field
		for _, name := range c[0] {
			fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int8})
		}
		require.Equal(t, c[1], UniqueNames(fields))
		roundTrip(t, fields, Options{})
	}
}

func TestAnnotationEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringOf(rapid.SampledFrom([]rune("a/%[],;=\x00é€\u007f"))),
		)
		var keys, values []string
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			keys, values = append(keys, text.Draw(t, "key")), append(values, text.Draw(t, "value"))
		}
		args := []string{text.Draw(t, "name")}
		if data := text.Draw(t, "data"); data != "" {
			args = append(args, data)
		}
		want := annotation{
			wraps:    []term{{"extension", args}, {"dictionary", []string{"int8"}}},
			base:     term{"timestamp", []string{"us", text.Draw(t, "zone")}},
			required: rapid.Bool().Draw(t, "required"),
			meta:     arrow.NewMetadata(keys, values),
		}
		if rapid.Bool().Draw(t, "named") {
			want.name, want.hasName = text.Draw(t, "field"), true
		}
		got, err := parseAnnotation(want.text(want.typeText()))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// genType draws any type that can be stored.
func genType(depth int) *rapid.Generator[arrow.DataType] {
	all := allTypes()
	return rapid.Custom(func(t *rapid.T) arrow.DataType {
		if depth == 0 || rapid.Bool().Draw(t, "leaf") {
			return rapid.SampledFrom(all).Draw(t, "type").arrow
		}
		sub := genType(depth - 1)
		inner := genFields(depth-1, 1, 1).Draw(t, "item")[0]
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			return arrow.ListOfField(inner)
		case 1:
			return arrow.LargeListOfField(inner)
		case 2:
			return arrow.ListViewOfField(inner)
		case 3:
			return arrow.LargeListViewOfField(inner)
		case 4:
			return arrow.FixedSizeListOfField(rapid.Int32Range(1, 5).Draw(t, "n"), inner)
		case 5:
			m := arrow.MapOfFields(arrow.Field{Type: sub.Draw(t, "key")}, inner)
			m.KeysSorted = rapid.Bool().Draw(t, "sorted")
			return m
		case 6:
			return &arrow.DictionaryType{IndexType: rapid.SampledFrom(integers).Draw(t, "index"), ValueType: sub.Draw(t, "value"), Ordered: rapid.Bool().Draw(t, "ordered")}
		case 7:
			ree := arrow.RunEndEncodedOf(rapid.SampledFrom(integers[1:4]).Draw(t, "ends"), sub.Draw(t, "value"))
			ree.ValueNullable = rapid.Bool().Draw(t, "nullable")
			return ree
		}
		return arrow.StructOf(genFields(depth-1, 0, 4).Draw(t, "fields")...)
	})
}

func genFields(depth, least, most int) *rapid.Generator[[]arrow.Field] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) arrow.Field {
		f := arrow.Field{
			Name:     rapid.SampledFrom([]string{"a", "b", "", "a.b", "a#2", "#1", "item", "\xff"}).Draw(t, "name"),
			Type:     genType(depth).Draw(t, "type"),
			Nullable: rapid.Bool().Draw(t, "nullable"),
		}
		if rapid.IntRange(0, 3).Draw(t, "meta") == 0 {
			f.Metadata = meta("k", rapid.String().Draw(t, "value"), "k2", "")
		}
		return f
	}), least, most)
}

func TestRandomSchemasComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := genFields(3, 0, 4).Draw(t, "fields")
		o := Options{Times: rapid.SampledFrom([]TimeEncoding{TimesAuto, TimesAsTicks, TimesAsIntegers}).Draw(t, "form")}
		if rapid.Bool().Draw(t, "2026") {
			o.Features = edition.E2026.Features()
		}
		roundTrip(t, fields, o)
	})
}

func TestForms(t *testing.T) {
	ns := &arrow.TimestampType{Unit: arrow.Nanosecond}
	fields := []arrow.Field{
		{Name: "a", Type: ns}, {Name: "b", Type: ns}, {Name: "c.d", Type: arrow.ListOf(arrow.FixedWidthTypes.Date32)},
		{Name: "e", Type: arrow.FixedWidthTypes.Date64}, {Name: "f", Type: arrow.FixedWidthTypes.Duration_s},
	}
	nodes, _ := roundTrip(t, fields, Options{TimesOf: map[string]TimeEncoding{"b": TimesAsTicks, `c\.d.item`: TimesAsIntegers, "e": TimesAsIntegers, "f": TimesAsIntegers}})
	var got []string
	for i := range nodes {
		got = append(got, describeField(&nodes[i]))
	}
	require.Equal(t, []string{"Int64 signed", "DateTime", "List{Int32 signed}", "Int64 signed", "Int64 signed"}, got)
}

// Columns that the default mapping restores cost no bytes. Other equal columns share an annotation.
func TestAnnotationsAreSmall(t *testing.T) {
	size := func(dt arrow.DataType) int {
		fields := make([]arrow.Field, 1000)
		for i := range fields {
			fields[i] = arrow.Field{Name: "c" + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + string(rune('a'+i/676)), Type: dt, Nullable: true}
		}
		nodes, _, err := FromArrow(arrow.NewSchema(fields, nil), Options{})
		require.NoError(t, err)
		if dt.ID() == arrow.LARGE_STRING {
			require.Nil(t, nodes[0].Extended)
		}
		b, err := schema.Build(nodes)
		require.NoError(t, err)
		return len(b)
	}
	plain := size(arrow.BinaryTypes.LargeString)
	require.Less(t, size(arrow.BinaryTypes.String)-plain, 1000*4+200)
}

type goldenShard struct {
	File     string `json:"file"`
	Expected string `json:"expected"`
}

// With raw types, the default mapping of the reference's shards gives the Arrow types of their expected contents,
// except for properties that these record more exactly (offset widths, nullability).
func TestGoldenDefaultTypes(t *testing.T) {
	var manifest struct {
		Shards []goldenShard `json:"shards"`
	}
	require.NoError(t, json.Unmarshal(testdata.ReadGolden(t, "manifest.json"), &manifest))
	columns := 0
	for _, g := range manifest.Shards {
		if g.Expected == "" || g.File == "" {
			continue
		}
		raw := testdata.ReadGolden(t, g.Expected)
		r, err := ipc.NewFileReader(bytes.NewReader(raw))
		require.NoError(t, err, g.Expected)
		s := goldenSchema(t, g.File)
		_, got, err := ToArrow(s, ReadOptions{Decimals: DecimalsRaw, DateTimes: TicksRaw, TimeSpans: TicksRaw, Dynamics: DynamicsRaw})
		require.NoError(t, err)
		for i, f := range r.Schema().Fields() {
			require.Equal(t, f.Name, got[i].Arrow.Name)
			require.Equal(t, loose(f.Type), loose(got[i].Arrow.Type), "%s %s", g.File, f.Name)
			if want, ok := f.Metadata.GetValue(extNameKey); ok {
				name, _ := got[i].Arrow.Metadata.GetValue(extNameKey)
				require.Equal(t, want, name, "%s %s", g.File, f.Name)
			}
			columns++
		}
		require.NoError(t, r.Close())
	}
	t.Logf("%d columns of %d shards", columns, len(manifest.Shards))
}

var timeType = regexp.MustCompile(`timestamp\[[^\]]*\]|date32|date64`)
var decimalTypes = regexp.MustCompile(`decimal(256)?\([^)]*\)`)

// loose returns a type without the properties that the format does not keep.
func loose(dt arrow.DataType) string {
	text := timeType.ReplaceAllString(decimalTypes.ReplaceAllString(dt.String(), "fixed_size_binary[16]"), "uint64")
	return strings.NewReplacer("large_", "", "string_view", "utf8", "_view", "", "extension<arrow.uuid>", "fixed_size_binary[16]", ", nullable", "", " nullable", "", "items_nullable", "", "items_non_nullable", "").Replace(text)
}

func goldenSchema(t testing.TB, name string) *schema.Schema {
	s, err := schema.Parse(goldenwalk.Schema(t, name))
	require.NoError(t, err)
	return s
}

func FuzzColumnOf(f *testing.F) {
	b, err := schema.Build(plainNodes())
	require.NoError(f, err)
	f.Add(b)
	var fields []arrow.Field
	for _, c := range allTypes() {
		fields = append(fields, arrow.Field{Name: c.name, Type: c.arrow})
	}
	nodes, _, err := FromArrow(arrow.NewSchema(fields, nil), Options{})
	require.NoError(f, err)
	b, err = schema.Build(nodes)
	require.NoError(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := schema.Parse(b)
		if err != nil || len(b) > 64<<10 {
			return
		}
		a, columns, err := ToArrow(s, ReadOptions{})
		if err == nil {
			_, _, _ = FromArrow(a, Options{})
			require.Len(t, columns, s.NumFields())
		}
	})
}

func FuzzKept(f *testing.F) {
	for _, c := range allTypes() {
		k, _, _, err := describe(arrow.Field{Name: "x", Type: c.arrow, Metadata: meta("a", "b")}, named, "")
		require.NoError(f, err)
		f.Add(k.text(k.typeText()))
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseAnnotation(text)
		if err != nil {
			return
		}
		again, err := parseAnnotation(k.text(k.typeText()))
		require.NoError(t, err)
		require.Equal(t, k.typeText(), again.typeText())
		r := newReader(parsedSchema(t, nil), ReadOptions{})
		for _, node := range plainNodes() {
			c := Column{Stored: node}
			for range node.Children {
				c.Children = append(c.Children, Column{Arrow: arrow.Field{Name: "x", Type: arrow.Null}})
			}
			_ = r.assemble(&c, k, named, nil)
		}
	})
}
