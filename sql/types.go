//go:build cgo && duckdb_arrow

package sql

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// plain are the types of DuckDB without parameters, as DuckDB itself makes them of Arrow arrays.
var plain = map[arrow.Type]duckdb.Type{
	arrow.BOOL: duckdb.TYPE_BOOLEAN,
	arrow.INT8: duckdb.TYPE_TINYINT, arrow.INT16: duckdb.TYPE_SMALLINT, arrow.INT32: duckdb.TYPE_INTEGER, arrow.INT64: duckdb.TYPE_BIGINT,
	arrow.UINT8: duckdb.TYPE_UTINYINT, arrow.UINT16: duckdb.TYPE_USMALLINT, arrow.UINT32: duckdb.TYPE_UINTEGER, arrow.UINT64: duckdb.TYPE_UBIGINT,
	arrow.FLOAT32: duckdb.TYPE_FLOAT, arrow.FLOAT64: duckdb.TYPE_DOUBLE,
	arrow.STRING: duckdb.TYPE_VARCHAR, arrow.LARGE_STRING: duckdb.TYPE_VARCHAR, arrow.STRING_VIEW: duckdb.TYPE_VARCHAR,
	arrow.BINARY: duckdb.TYPE_BLOB, arrow.LARGE_BINARY: duckdb.TYPE_BLOB, arrow.BINARY_VIEW: duckdb.TYPE_BLOB, arrow.FIXED_SIZE_BINARY: duckdb.TYPE_BLOB,
	arrow.DATE32: duckdb.TYPE_DATE, arrow.DATE64: duckdb.TYPE_DATE, arrow.TIME32: duckdb.TYPE_TIME,
	arrow.DURATION: duckdb.TYPE_INTERVAL, arrow.INTERVAL_MONTHS: duckdb.TYPE_INTERVAL, arrow.INTERVAL_MONTH_DAY_NANO: duckdb.TYPE_INTERVAL,
}

// names are those types, and those of times, in SQL.
var names = map[duckdb.Type]string{
	duckdb.TYPE_BOOLEAN: "boolean", duckdb.TYPE_TINYINT: "tinyint", duckdb.TYPE_SMALLINT: "smallint", duckdb.TYPE_INTEGER: "integer", duckdb.TYPE_BIGINT: "bigint",
	duckdb.TYPE_UTINYINT: "utinyint", duckdb.TYPE_USMALLINT: "usmallint", duckdb.TYPE_UINTEGER: "uinteger", duckdb.TYPE_UBIGINT: "ubigint",
	duckdb.TYPE_FLOAT: "float", duckdb.TYPE_DOUBLE: "double", duckdb.TYPE_VARCHAR: "varchar", duckdb.TYPE_BLOB: "blob", duckdb.TYPE_UUID: "uuid",
	duckdb.TYPE_DATE: "date", duckdb.TYPE_TIME: "time", duckdb.TYPE_INTERVAL: "interval", duckdb.TYPE_TIMESTAMP: "timestamp", duckdb.TYPE_TIMESTAMP_TZ: "timestamptz",
	duckdb.TYPE_TIMESTAMP_S: "timestamp_s", duckdb.TYPE_TIMESTAMP_MS: "timestamp_ms", duckdb.TYPE_TIMESTAMP_NS: "timestamp_ns",
}

// nameOf is the type of DuckDB for columns of an Arrow type in SQL, "" if it has parts or none is known.
func nameOf(t arrow.DataType) string {
	info, err := typeOf(t)
	if err != nil {
		return ""
	}
	if d, ok := info.Details().(*duckdb.DecimalDetails); ok {
		return fmt.Sprintf("decimal(%d,%d)", d.Width, d.Scale)
	}
	return names[info.InternalType()]
}

// nested make types with parts, of those of the fields.
var nested = map[arrow.Type]func(t arrow.DataType, fields []arrow.Field, parts []duckdb.TypeInfo) (duckdb.TypeInfo, error){
	arrow.STRUCT: structOf, arrow.SPARSE_UNION: unionOf, arrow.MAP: mapOf, arrow.FIXED_SIZE_LIST: arrayOf,
	arrow.LIST: listOf, arrow.LARGE_LIST: listOf, arrow.LIST_VIEW: listOf, arrow.LARGE_LIST_VIEW: listOf,
}

func structOf(t arrow.DataType, fields []arrow.Field, parts []duckdb.TypeInfo) (duckdb.TypeInfo, error) {
	if len(parts) == 0 {
		return nil, noType(t)
	}
	entries := make([]duckdb.StructEntry, len(parts))
	for i := range parts {
		var err error
		if entries[i], err = duckdb.NewStructEntry(parts[i], fields[i].Name); err != nil {
			return nil, err
		}
	}
	return duckdb.NewStructInfo(entries[0], entries[1:]...)
}

func unionOf(_ arrow.DataType, fields []arrow.Field, parts []duckdb.TypeInfo) (duckdb.TypeInfo, error) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return duckdb.NewUnionInfo(parts, names)
}

func mapOf(_ arrow.DataType, _ []arrow.Field, parts []duckdb.TypeInfo) (duckdb.TypeInfo, error) {
	return duckdb.NewMapInfo(parts[0], parts[1])
}

func arrayOf(t arrow.DataType, _ []arrow.Field, parts []duckdb.TypeInfo) (duckdb.TypeInfo, error) {
	return duckdb.NewArrayInfo(parts[0], uint64(t.(*arrow.FixedSizeListType).Len()))
}

func listOf(_ arrow.DataType, _ []arrow.Field, parts []duckdb.TypeInfo) (duckdb.TypeInfo, error) {
	return duckdb.NewListInfo(parts[0])
}

func noType(t arrow.DataType) error { return fmt.Errorf("%s has no type in DuckDB", t) }

// typeOf is the type of DuckDB for columns of an Arrow type.
func typeOf(t arrow.DataType) (duckdb.TypeInfo, error) {
	if e, ok := t.(arrow.ExtensionType); ok && e.ExtensionName() == "arrow.uuid" {
		return duckdb.NewTypeInfo(duckdb.TYPE_UUID)
	}
	t = kinds.Storage(kinds.Decoded(t))
	if of := nested[t.ID()]; of != nil {
		fields := kinds.Fields(t)
		if m, ok := t.(*arrow.MapType); ok {
			fields = []arrow.Field{m.KeyField(), m.ItemField()}
		}
		parts := make([]duckdb.TypeInfo, len(fields))
		for i, f := range fields {
			var err error
			if parts[i], err = typeOf(f.Type); err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
		return of(t, fields, parts)
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return duckdb.NewTypeInfo([...]duckdb.Type{duckdb.TYPE_TIMESTAMP_S, duckdb.TYPE_TIMESTAMP_MS, duckdb.TYPE_TIMESTAMP, duckdb.TYPE_TIMESTAMP_NS}[t.Unit])
		}
		if isZonedNanos(t) { // as they are in UTC: DuckDB has no such type with a zone, and microseconds would lose digits
			return duckdb.NewTypeInfo(duckdb.TYPE_TIMESTAMP_NS)
		}
		return duckdb.NewTypeInfo(duckdb.TYPE_TIMESTAMP_TZ)
	case *arrow.Time64Type:
		if t.Unit == arrow.Microsecond {
			return duckdb.NewTypeInfo(duckdb.TYPE_TIME)
		}
	case arrow.DecimalType:
		if t.BitWidth() <= 128 {
			return duckdb.NewDecimalInfo(uint8(t.GetPrecision()), uint8(t.GetScale()))
		}
	default:
		if simple, ok := plain[t.ID()]; ok {
			return duckdb.NewTypeInfo(simple)
		}
	}
	return nil, noType(t)
}

func isZonedNanos(t arrow.DataType) bool {
	ts, ok := t.(*arrow.TimestampType)
	return ok && ts.Unit == arrow.Nanosecond && ts.TimeZone != ""
}

// unzoned is a type whose timestamps of nanoseconds have no zone, as those of DuckDB.
func unzoned(t arrow.DataType) arrow.DataType {
	if isZonedNanos(t) {
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	}
	parts := kinds.Fields(t)
	types := make([]arrow.DataType, len(parts))
	for i, f := range parts {
		types[i] = unzoned(f.Type)
	}
	return kinds.WithTypes(t, types)
}

// withType is data with a type of [unzoned]. The caller releases it.
func withType(d arrow.ArrayData, t arrow.DataType) (arrow.ArrayData, error) {
	parts := kinds.Fields(t)
	if len(parts) == 0 {
		return kinds.Relabel(d, t), nil
	}
	return kinds.Rebuild(d, t, func(i int, part arrow.ArrayData) (arrow.ArrayData, error) { return withType(part, parts[i].Type) })
}

// unkept are types whose values DuckDB changes when it makes Arrow arrays of them.
var unkept = map[mapping.Type]string{mapping.TypeUHugeInt: "UHUGEINT", mapping.TypeTimeTZ: "TIME WITH TIME ZONE", mapping.TypeBit: "BIT", mapping.TypeBigNum: "BIGNUM"}

// checkArrow has an error for a result with columns that Arrow has no type for.
func checkArrow(rows array.RecordReader) error {
	of := reflect.ValueOf(rows).Elem().FieldByName("res") // of package duckdb, which keeps it to itself
	result := (*mapping.Result)(of.Addr().UnsafePointer())
	for i := range mapping.ColumnCount(result) {
		t := mapping.ColumnLogicalType(result, i)
		if name := firstUnkept(&t); name != "" {
			column := mapping.ColumnName(result, i)
			return fmt.Errorf("column %q has values of type %s, which Arrow has no type for: cast them, for example to VARCHAR", column, name)
		}
	}
	return nil
}

// firstUnkept is the name of the first type in t that is not kept. It destroys t.
func firstUnkept(t *mapping.LogicalType) string {
	defer mapping.DestroyLogicalType(t)
	var parts []mapping.LogicalType
	id := mapping.GetTypeId(*t)
	switch id {
	case mapping.TypeList:
		parts = append(parts, mapping.ListTypeChildType(*t))
	case mapping.TypeArray:
		parts = append(parts, mapping.ArrayTypeChildType(*t))
	case mapping.TypeMap:
		parts = append(parts, mapping.MapTypeKeyType(*t), mapping.MapTypeValueType(*t))
	case mapping.TypeStruct:
		for i := range mapping.StructTypeChildCount(*t) {
			parts = append(parts, mapping.StructTypeChildType(*t, i))
		}
	case mapping.TypeUnion:
		for i := range mapping.UnionTypeMemberCount(*t) {
			parts = append(parts, mapping.UnionTypeMemberType(*t, i))
		}
	}
	name := unkept[id]
	for i := range parts {
		if found := firstUnkept(&parts[i]); name == "" {
			name = found
		}
	}
	return name
}
