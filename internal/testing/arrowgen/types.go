package arrowgen

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
)

// Types lists every Arrow type, with all variants of its parameters.
func Types() []arrow.DataType { return append(ReferenceTypes(), unions()...) }

// ReferenceTypes lists those of [Types] that shards of edition reference can hold, and whose values have an order: all but unions.
func ReferenceTypes() []arrow.DataType {
	out := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: 4},
		&arrow.Decimal128Type{Precision: 12, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
		&arrow.Decimal128Type{Precision: 5, Scale: -3}, &arrow.Decimal256Type{Precision: 76, Scale: 20},
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView,
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 16},
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Duration_ns,
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
	}
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		for _, zone := range []string{"", "UTC", "Europe/Berlin", "+05:30"} {
			out = append(out, &arrow.TimestampType{Unit: unit, TimeZone: zone})
		}
	}
	out = append(out, nested()...)
	return append(out, wrapped()...)
}

func nested() []arrow.DataType {
	str, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	record := arrow.StructOf(
		arrow.Field{Name: "a", Type: i64, Nullable: true},
		arrow.Field{Name: "b.c", Type: str, Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"k": "v"})},
		arrow.Field{Name: "b.c", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
		arrow.Field{Name: "", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	)
	return []arrow.DataType{
		arrow.ListOf(i64), arrow.LargeListOf(str), arrow.ListViewOf(i64), arrow.LargeListViewOf(str),
		arrow.ListOfField(arrow.Field{Name: "element", Type: str, Nullable: true}),
		arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int32), arrow.FixedSizeListOf(2, str),
		record, arrow.ListOf(record), arrow.StructOf(), arrow.ListOf(arrow.ListOf(arrow.FixedSizeListOf(2, record))),
		arrow.MapOf(str, i64), arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.ListOf(str)),
		arrow.StructOf(arrow.Field{Name: "m", Type: arrow.MapOf(str, record), Nullable: true}, arrow.Field{Name: "n", Type: arrow.Null, Nullable: true}),
	}
}

func unions() []arrow.DataType {
	str, f64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: str, Nullable: true}, {Name: "none", Type: arrow.Null, Nullable: true},
		{Name: "l", Type: arrow.ListOf(f64), Nullable: true}, {Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}, Nullable: true},
	}
	dense, sparse := arrow.DenseUnionOf(fields, []arrow.UnionTypeCode{0, 5, 6, 7, 100}), arrow.SparseUnionOf(fields[:2], []arrow.UnionTypeCode{0, 1})
	return []arrow.DataType{
		dense, sparse, arrow.DenseUnionOf(fields[:1], []arrow.UnionTypeCode{3}), arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{4, 3, 2, 1, 0}),
		arrow.ListOf(dense), arrow.FixedSizeListOf(2, sparse), arrow.MapOf(str, dense),
		arrow.StructOf(arrow.Field{Name: "u", Type: sparse, Nullable: true}, arrow.Field{Name: "v", Type: dense, Nullable: true}),
		arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: dense, Nullable: true}, {Name: "b", Type: arrow.StructOf(fields...), Nullable: true}}, []arrow.UnionTypeCode{0, 1}),
		arrow.DenseUnionOf(append(fields[:2:2], arrow.Field{Name: "f", Type: arrow.FixedSizeListOf(3, f64), Nullable: true}), []arrow.UnionTypeCode{2, 1, 9}),
		arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.StructOf(arrow.Field{Name: "f", Type: arrow.FixedSizeListOf(2, str), Nullable: true}), Nullable: true}, {Name: "b", Type: dense, Nullable: true}}, []arrow.UnionTypeCode{0, 1}),
	}
}

func wrapped() []arrow.DataType {
	str, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	var out []arrow.DataType
	for _, index := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	} {
		out = append(out, &arrow.DictionaryType{IndexType: index, ValueType: str})
	}
	opaque := extensions.NewOpaqueType(i64, "thing", "vendor")
	jsonText, err := extensions.NewJSONType(str)
	if err != nil {
		panic(err)
	}
	return append(out,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: i64, Ordered: true},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.LargeBinary},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, str), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, i64),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Timestamp_us),
		extensions.NewUUIDType(), jsonText, extensions.NewBool8Type(), opaque,
		arrow.ListOf(extensions.NewUUIDType()),
		arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}),
		arrow.StructOf(arrow.Field{Name: "r", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, str), Nullable: true}),
	)
}

// Type returns a random type with up to the given number of levels around one of ReferenceTypes, or with Unions of Types.
func (g *Gen) Type(levels int) arrow.DataType {
	if levels == 0 || g.Rand.IntN(4) == 0 {
		leaves := ReferenceTypes()
		if g.Unions {
			leaves = Types()
		}
		dt := leaves[g.Rand.IntN(len(leaves))]
		if d, ok := dt.(*arrow.DictionaryType); ok && d.ValueType.ID() == arrow.LARGE_BINARY {
			return d.ValueType // Arrow has no builder for the dictionary
		}
		return dt
	}
	inner := g.Type(levels - 1)
	item := arrow.Field{Name: "item", Type: inner, Nullable: true}
	switch g.Rand.IntN(7) {
	case 0:
		return arrow.ListOfField(item)
	case 1:
		return arrow.LargeListOfField(item)
	case 2:
		return arrow.ListViewOfField(item)
	case 3:
		return arrow.FixedSizeListOfField(int32(1+g.Rand.IntN(3)), item)
	case 4:
		return arrow.MapOf(arrow.BinaryTypes.String, inner)
	}
	fields := make([]arrow.Field, 1+g.Rand.IntN(3))
	for i := range fields {
		fields[i] = arrow.Field{Name: string(rune('a' + g.Rand.IntN(3))), Type: inner, Nullable: true}
		inner = g.Type(levels - 1)
	}
	return arrow.StructOf(fields...)
}
