package arrowmap

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// typeCase is an Arrow type, its stored type in edition reference, and the rule of the conversion.
type typeCase struct {
	name   string
	arrow  arrow.DataType
	stored string
	rule   Rule
}

var (
	units    = []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond}
	integers = []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64}
)

func meta(kv ...string) arrow.Metadata {
	var keys, values []string
	for i := 0; i < len(kv); i += 2 {
		keys, values = append(keys, kv[i]), append(values, kv[i+1])
	}
	return arrow.NewMetadata(keys, values)
}

// allTypes lists every type of arrow-go except unions.
func allTypes() []typeCase {
	cases := []typeCase{
		{"null", arrow.Null, "Boolean", Null},
		{"bool", arrow.FixedWidthTypes.Boolean, "Boolean", Same},
		{"int8", arrow.PrimitiveTypes.Int8, "Int8 signed", Same},
		{"int16", arrow.PrimitiveTypes.Int16, "Int16 signed", Same},
		{"int32", arrow.PrimitiveTypes.Int32, "Int32 signed", Same},
		{"int64", arrow.PrimitiveTypes.Int64, "Int64 signed", Same},
		{"uint8", arrow.PrimitiveTypes.Uint8, "Int8", Same},
		{"uint16", arrow.PrimitiveTypes.Uint16, "Int16", Same},
		{"uint32", arrow.PrimitiveTypes.Uint32, "Int32", Same},
		{"uint64", arrow.PrimitiveTypes.Uint64, "Int64", Same},
		{"float16", arrow.FixedWidthTypes.Float16, "Float32", Float16},
		{"float32", arrow.PrimitiveTypes.Float32, "Float32", Same},
		{"float64", arrow.PrimitiveTypes.Float64, "Float64", Same},
		{"decimal32", &arrow.Decimal32Type{Precision: 9, Scale: 2}, "FixedSizeBinary 16 KustoDecimal", Decimal},
		{"decimal64", &arrow.Decimal64Type{Precision: 18, Scale: 18}, "FixedSizeBinary 16 KustoDecimal", Decimal},
		{"decimal128", &arrow.Decimal128Type{Precision: 38, Scale: -3}, "FixedSizeBinary 16 KustoDecimal", Decimal},
		{"decimal256", &arrow.Decimal256Type{Precision: 76, Scale: 40}, "FixedSizeBinary 16 KustoDecimal", Decimal},
		{"utf8", arrow.BinaryTypes.String, "String", Same},
		{"large_utf8", arrow.BinaryTypes.LargeString, "String", Same},
		{"utf8_view", arrow.BinaryTypes.StringView, "String", Same},
		{"binary", arrow.BinaryTypes.Binary, "Binary", Same},
		{"large_binary", arrow.BinaryTypes.LargeBinary, "Binary", Same},
		{"binary_view", arrow.BinaryTypes.BinaryView, "Binary", Same},
		{"fixed_size_binary", &arrow.FixedSizeBinaryType{ByteWidth: 7}, "FixedSizeBinary 7", Same},
		{"fixed_size_binary 16", &arrow.FixedSizeBinaryType{ByteWidth: 16}, "FixedSizeBinary 16", Same},
		{"fixed_size_binary 0", &arrow.FixedSizeBinaryType{}, "Boolean", Empty},
		{"date32", arrow.FixedWidthTypes.Date32, "DateTime", Ticks},
		{"date64", arrow.FixedWidthTypes.Date64, "DateTime", Ticks},
		{"time32 s", arrow.FixedWidthTypes.Time32s, "Int32 signed", Same},
		{"time32 ms", arrow.FixedWidthTypes.Time32ms, "Int32 signed", Same},
		{"time64 us", arrow.FixedWidthTypes.Time64us, "Int64 signed", Same},
		{"time64 ns", arrow.FixedWidthTypes.Time64ns, "Int64 signed", Same},
		{"interval months", arrow.FixedWidthTypes.MonthInterval, "Int32 signed", Same},
		{"interval day time", arrow.FixedWidthTypes.DayTimeInterval, "Struct{days: Int32 signed, milliseconds: Int32 signed}", DayTime},
		{"interval month day nano", arrow.FixedWidthTypes.MonthDayNanoInterval,
			"Struct{months: Int32 signed, days: Int32 signed, nanoseconds: Int64 signed}", MonthDayNano},
		{"list", arrow.ListOf(arrow.PrimitiveTypes.Int32), "List{Int32 signed}", Same},
		{"list of required", arrow.ListOfNonNullable(arrow.BinaryTypes.String), "List{String}", Same},
		{"list named", arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.BinaryTypes.String, Metadata: meta("PARQUET:field_id", "3")}), "List{String}", Same},
		{"large list", arrow.LargeListOf(arrow.PrimitiveTypes.Int32), "List{Int32 signed}", Same},
		{"large list named", arrow.LargeListOfField(arrow.Field{Name: "", Type: arrow.PrimitiveTypes.Int32, Metadata: meta("k", "v")}), "List{Int32 signed}", Same},
		{"list view", arrow.ListViewOf(arrow.BinaryTypes.LargeString), "List{String}", Same},
		{"large list view", arrow.LargeListViewOf(arrow.BinaryTypes.LargeString), "List{String}", Same},
		{"fixed-size list", arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float64), "List{Float64}", FixedList},
		{"struct", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.FixedWidthTypes.Date32}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}),
			"Struct{a: DateTime, b: String}", Same},
		{"struct without fields", arrow.StructOf(), "Boolean", Empty},
		{"struct with odd names", arrow.StructOf(arrow.Field{Name: "x", Type: arrow.Null}, arrow.Field{Name: "x", Type: arrow.Null},
			arrow.Field{Name: "", Type: arrow.Null}, arrow.Field{Name: "a.b", Type: arrow.Null}, arrow.Field{Name: "\xff", Type: arrow.Null}),
			"Struct{x: Boolean, x#2: Boolean, #1: Boolean, a.b: Boolean, \uFFFD: Boolean}", Same},
		{"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), "Map{String, Int64 signed}", Same},
		{"map with metadata", arrow.MapOfWithMetadata(arrow.BinaryTypes.String, meta("k", "1"), arrow.PrimitiveTypes.Int64, meta("v", "2")), "Map{String, Int64 signed}", Same},
		{"map of required", arrow.MapOfFields(arrow.Field{Type: arrow.BinaryTypes.String}, arrow.Field{Type: arrow.FixedWidthTypes.Date32}), "Map{String, DateTime}", Same},
		{"uuid", extensions.NewUUIDType(), "Guid 16", Same},
		{"bool8", extensions.NewBool8Type(), "Int8 signed", Same},
		{"opaque", extensions.NewOpaqueType(arrow.BinaryTypes.String, "geometry, [2D]", "a;b=c%"), "String", Same},
		{"timestamp with offset", extensions.NewTimestampWithOffsetType(arrow.Microsecond), "Struct{timestamp: DateTime, offset_minutes: Int16 signed}", Same},
		{"variant", extensions.NewDefaultVariantType(), "Struct{metadata: Binary, value: Binary}", Same},
		{"dictionary of dictionary", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, extensions.NewUUIDType())}, "Guid 16", Same},
		{"dictionary of struct", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16,
			ValueType: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.Binary})}, "Struct{a: Binary}", Same},
	}
	sorted := arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)
	sorted.KeysSorted = true
	cases = append(cases, typeCase{"map sorted", sorted, "Map{String, Int64 signed}", Same})
	for _, s := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView} {
		json, err := extensions.NewJSONType(s)
		if err != nil {
			panic(err)
		}
		cases = append(cases, typeCase{"json " + s.Name(), json, "Binary KustoDynamic", Text})
	}
	for _, u := range units {
		stored, rule := "DateTime", Ticks
		span, spanRule := "Int64 signed KustoTimeSpan", Span
		if u == arrow.Nanosecond {
			stored, rule, span, spanRule = "Int64 signed", Same, "Int64 signed", Same
		}
		for _, zone := range []string{"", "UTC", "Europe/Berlin", "+05:30", "odd, [zone];=%\x01"} {
			cases = append(cases, typeCase{fmt.Sprintf("timestamp %s %q", u, zone), &arrow.TimestampType{Unit: u, TimeZone: zone}, stored, rule})
		}
		cases = append(cases, typeCase{"duration " + u.String(), &arrow.DurationType{Unit: u}, span, spanRule})
	}
	for _, index := range integers {
		for _, ordered := range []bool{false, true} {
			cases = append(cases, typeCase{fmt.Sprintf("dictionary %s %v", index, ordered),
				&arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String, Ordered: ordered}, "String", Same})
		}
	}
	for _, ends := range integers[1:4] {
		for _, nullable := range []bool{false, true} {
			ree := arrow.RunEndEncodedOf(ends, arrow.FixedWidthTypes.Date32)
			ree.ValueNullable = nullable
			cases = append(cases, typeCase{fmt.Sprintf("runs %s %v", ends, nullable), ree, "DateTime", Ticks})
		}
	}
	return cases
}

// describeField returns a short text of a stored field.
func describeField(f *schema.Field) string {
	s := f.Type.String()
	if f.Signed {
		s += " signed"
	}
	if f.FixedSize > 0 {
		s += fmt.Sprint(" ", f.FixedSize)
	}
	if l := f.Label(); l != "" && l != AnnotationLabel {
		s += " " + l
	}
	for i := range f.Children {
		s += [...]string{"{", ", "}[min(i, 1)]
		if c := &f.Children[i]; c.Name != "" {
			s += c.Name + ": "
		}
		s += describeField(&f.Children[i])
	}
	if len(f.Children) > 0 {
		s += "}"
	}
	return s
}

// roundTrip maps fields to a schema message and back, and requires equal fields and columns.
func roundTrip(t require.TestingT, fields []arrow.Field, o Options) ([]schema.Field, []Column) {
	nodes, written, err := FromArrow(arrow.NewSchema(fields, nil), o)
	require.NoError(t, err)
	b, err := schema.Build(nodes)
	require.NoError(t, err)
	s, err := schema.Parse(b)
	require.NoError(t, err)
	require.NoError(t, s.Check())
	_, read, err := ToArrow(s, ReadOptions{})
	require.NoError(t, err)
	require.Len(t, read, len(fields))
	for i := range fields {
		requireSameField(t, fields[i], read[i].Arrow)
		requireSameColumn(t, written[i], read[i])
	}
	return nodes, read
}

func requireSameField(t require.TestingT, want, got arrow.Field) {
	require.Equal(t, want.Name, got.Name)
	require.Equal(t, want.Nullable, got.Nullable)
	require.Equal(t, want.Metadata.Keys(), got.Metadata.Keys())
	require.Equal(t, want.Metadata.Values(), got.Metadata.Values())
	requireSameType(t, want.Type, got.Type)
}

// requireSameType is stricter than arrow.TypeEqual, except within maps: equal map types may differ in hidden fields,
// which TypeEqual compares if the map is within a large list.
func requireSameType(t require.TestingT, want, got arrow.DataType) {
	require.IsType(t, want, got)
	switch w := want.(type) {
	case *arrow.MapType:
		g := got.(*arrow.MapType)
		require.Equal(t, w.KeysSorted, g.KeysSorted)
		requireSameField(t, w.KeyField(), g.KeyField())
		requireSameField(t, w.ItemField(), g.ItemField())
	case *arrow.StructType:
		g := got.(*arrow.StructType)
		require.Equal(t, w.NumFields(), g.NumFields())
		for i := range w.NumFields() {
			requireSameField(t, w.Field(i), g.Field(i))
		}
	case *arrow.FixedSizeListType:
		require.Equal(t, w.Len(), got.(*arrow.FixedSizeListType).Len())
		requireSameField(t, w.ElemField(), got.(*arrow.FixedSizeListType).ElemField())
	case arrow.ListLikeType:
		requireSameField(t, w.ElemField(), got.(arrow.ListLikeType).ElemField())
	case *arrow.DictionaryType:
		g := got.(*arrow.DictionaryType)
		require.Equal(t, w.Ordered, g.Ordered)
		require.Equal(t, w.IndexType, g.IndexType)
		requireSameType(t, w.ValueType, g.ValueType)
	case *arrow.RunEndEncodedType:
		g := got.(*arrow.RunEndEncodedType)
		require.Equal(t, w.ValueNullable, g.ValueNullable)
		require.Equal(t, w.RunEnds(), g.RunEnds())
		requireSameType(t, w.Encoded(), g.Encoded())
	default:
		require.True(t, arrow.TypeEqual(want, got, arrow.CheckMetadata()), "%s instead of %s", got, want)
		require.Equal(t, want, got)
	}
}

func requireSameColumn(t require.TestingT, want, got Column) {
	require.Empty(t, got.AnnotationIgnored)
	require.Equal(t, len(want.Wraps), len(got.Wraps))
	for i := range want.Wraps {
		requireSameType(t, want.Wraps[i], got.Wraps[i])
	}
	requireSameType(t, want.Plain, got.Plain)
	require.Equal(t, want.Rule, got.Rule)
	require.Equal(t, want.Unit, got.Unit)
	require.Equal(t, want.Scale, got.Scale)
	require.Equal(t, want.ID, got.ID)
	require.Equal(t, want.Stored, got.Stored)
	require.Equal(t, len(want.Children), len(got.Children))
	for i := range want.Children {
		requireSameColumn(t, want.Children[i], got.Children[i])
	}
}

func TestEveryTypeComesBack(t *testing.T) {
	for _, c := range allTypes() {
		t.Run(c.name, func(t *testing.T) {
			for _, nullable := range []bool{true, false} {
				for _, m := range []arrow.Metadata{{}, meta("", "", "a", "b;c=%[],\xfe")} {
					nodes, columns := roundTrip(t, []arrow.Field{{Name: "x", Type: c.arrow, Nullable: nullable, Metadata: m}}, Options{})
					require.Equal(t, c.stored, describeField(&nodes[0]))
					require.Equal(t, c.rule, columns[0].Rule)
				}
			}
			item := arrow.Field{Name: "i", Type: c.arrow, Nullable: true}
			for _, outer := range []arrow.DataType{
				arrow.ListOfField(item), arrow.LargeListOf(c.arrow), arrow.FixedSizeListOf(2, c.arrow),
				arrow.StructOf(item, arrow.Field{Name: "j", Type: c.arrow}),
				arrow.MapOf(c.arrow, c.arrow), arrow.ListOf(arrow.StructOf(item)),
				&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: c.arrow},
			} {
				roundTrip(t, []arrow.Field{{Name: "x", Type: outer}}, Options{})
				roundTrip(t, []arrow.Field{{Name: "x", Type: outer}}, Options{Features: edition.E2026.Features(), Times: TimesAsIntegers})
				roundTrip(t, []arrow.Field{{Name: "x", Type: outer}}, Options{Times: TimesAsTicks})
			}
		})
	}
}

func TestUnionIsRefused(t *testing.T) {
	union := arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	for _, dt := range []arrow.DataType{union, arrow.ListOf(union), arrow.StructOf(arrow.Field{Name: "u", Type: union})} {
		_, _, err := FromArrow(arrow.NewSchema([]arrow.Field{{Name: "x.y", Type: dt}}, nil), Options{})
		require.ErrorIs(t, err, fault.ErrUnsupported)
		require.ErrorContains(t, err, `column "x\.y`)
	}
}

func TestTypesThatCannotBe(t *testing.T) {
	i8 := arrow.PrimitiveTypes.Int8
	deep := arrow.DataType(i8)
	for range schema.MaxDepth {
		deep = arrow.ListOf(deep)
	}
	wrapped := arrow.DataType(i8)
	for range 9 {
		wrapped = &arrow.DictionaryType{IndexType: i8, ValueType: wrapped}
	}
	for _, c := range []struct {
		dt   arrow.DataType
		kind error
	}{
		{&arrow.Decimal128Type{Precision: 39}, fault.ErrUnsupported},
		{&arrow.Decimal32Type{Precision: 0}, fault.ErrUnsupported},
		{&arrow.Decimal256Type{Precision: 5, Scale: 6001}, fault.ErrUnsupported},
		{&arrow.Decimal256Type{Precision: 5, Scale: -6001}, fault.ErrUnsupported},
		{&arrow.FixedSizeBinaryType{ByteWidth: -1}, fault.ErrUnsupported},
		{&arrow.DictionaryType{IndexType: arrow.BinaryTypes.String, ValueType: i8}, fault.ErrUnsupported},
		{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Uint32, i8), fault.ErrUnsupported},
		{deep, fault.ErrLimit},
		{wrapped, fault.ErrLimit},
	} {
		_, _, err := FromArrow(arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.dt}}, nil), Options{})
		require.ErrorIs(t, err, c.kind, "%s", c.dt)
		require.ErrorContains(t, err, `column "x`)
	}
}
