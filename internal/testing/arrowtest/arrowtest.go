// Package arrowtest makes Arrow data for tests: a column of every type, and a
// comparison that is exact to the bit.
package arrowtest

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Column is one column of [Columns].
type Column struct {
	Name string
	Type arrow.DataType
	JSON string // its values, as arrow-go reads them
}

// Rows is the number of rows of every column of [Columns].
const Rows = 4

// Columns lists a column of four values, one of them null, for every type of arrow-go except unions.
func Columns() []Column {
	json, _ := extensions.NewJSONType(arrow.BinaryTypes.String)
	i32, i64, str := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	required := arrow.Field{Name: "item", Type: i32}
	st := arrow.StructOf(arrow.Field{Name: "a", Type: i64, Nullable: true}, arrow.Field{Name: "b.c", Type: str, Nullable: true})
	cols := []Column{
		{"null", arrow.Null, `[null, null, null, null]`},
		{"bool", arrow.FixedWidthTypes.Boolean, `[true, null, false, true]`},
		{"int8", arrow.PrimitiveTypes.Int8, `[-128, null, 0, 127]`},
		{"int16", arrow.PrimitiveTypes.Int16, `[-32768, null, 0, 32767]`},
		{"int32", i32, `[-2147483648, null, 0, 2147483647]`},
		{"int64", i64, `[-9223372036854775808, null, 0, 9223372036854775807]`},
		{"uint8", arrow.PrimitiveTypes.Uint8, `[0, null, 7, 255]`},
		{"uint16", arrow.PrimitiveTypes.Uint16, `[0, null, 7, 65535]`},
		{"uint32", arrow.PrimitiveTypes.Uint32, `[0, null, 7, 4294967295]`},
		{"uint64", arrow.PrimitiveTypes.Uint64, `[0, null, 7, 18446744073709551615]`},
		{"float16", arrow.FixedWidthTypes.Float16, `[0.5, null, -2, 65504]`},
		{"float32", arrow.PrimitiveTypes.Float32, `[0.1, null, -3.4e38, 1e-45]`},
		{"float64", arrow.PrimitiveTypes.Float64, `[0.1, null, -1.7e308, 5e-324]`},
		{"decimal32", &arrow.Decimal32Type{Precision: 7, Scale: 2}, `["-12345.67", null, "0.01", "99999.99"]`},
		{"decimal64", &arrow.Decimal64Type{Precision: 18, Scale: 4}, `["-1.0000", null, "0.0001", "99999999999999.9999"]`},
		{"decimal128", &arrow.Decimal128Type{Precision: 34, Scale: 10}, `["-1.5", null, "0.0000000001", "999999999999999999999999.9999999999"]`},
		{"decimal256", &arrow.Decimal256Type{Precision: 34, Scale: 0}, `["-1", null, "0", "9999999999999999999999999999999999"]`},
		{"utf8", str, `["", null, "a,\"b\"\n", "żółw 🐢"]`},
		{"large_utf8", arrow.BinaryTypes.LargeString, `["", null, "true", "12"]`},
		{"utf8_view", arrow.BinaryTypes.StringView, `["", null, "short", "longer than twelve bytes"]`},
		{"binary", arrow.BinaryTypes.Binary, `["", null, "AAEC", "/w=="]`},
		{"large_binary", arrow.BinaryTypes.LargeBinary, `["", null, "AAEC", "/w=="]`},
		{"binary_view", arrow.BinaryTypes.BinaryView, `["", null, "AAEC", "AAECAwQFBgcICQoLDA0ODw=="]`},
		{"fixed_size_binary", &arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AAEC", null, "AAAA", "////"]`},
		{"date32", arrow.FixedWidthTypes.Date32, `["1970-01-01", null, "0001-01-01", "9999-12-31"]`},
		{"date64", arrow.FixedWidthTypes.Date64, `["1970-01-01", null, "1582-10-15", "2262-04-12"]`},
		{"time32_s", arrow.FixedWidthTypes.Time32s, `["00:00:00", null, "12:34:56", "23:59:59"]`},
		{"time32_ms", arrow.FixedWidthTypes.Time32ms, `["00:00:00", null, "12:34:56.789", "23:59:59.999"]`},
		{"time64_us", arrow.FixedWidthTypes.Time64us, `["00:00:00", null, "12:34:56.789012", "23:59:59.999999"]`},
		{"time64_ns", arrow.FixedWidthTypes.Time64ns, `["00:00:00", null, "12:34:56.789012345", "23:59:59.999999999"]`},
		{"timestamp_s", arrow.FixedWidthTypes.Timestamp_s, `[0, null, -62135596800, 253402300799]`},
		{"timestamp_ms", &arrow.TimestampType{Unit: arrow.Millisecond}, `[1, null, -1, 253402300799999]`},
		{"timestamp_us_zone", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "America/New_York"}, `[1, null, -1, 1700000000123456]`},
		{"timestamp_ns", &arrow.TimestampType{Unit: arrow.Nanosecond}, `[100, null, -100, 1700000000123456700]`},
		{"duration_s", arrow.FixedWidthTypes.Duration_s, `[0, null, -1, 900000000000]`},
		{"duration_ms", arrow.FixedWidthTypes.Duration_ms, `[0, null, -1, 900000000000000]`},
		{"duration_us", arrow.FixedWidthTypes.Duration_us, `[0, null, -1, 900000000000000000]`},
		{"duration_ns", arrow.FixedWidthTypes.Duration_ns, `[0, null, -100, 9223372036854775800]`},
		{"interval_month", arrow.FixedWidthTypes.MonthInterval, `[{"months": 0}, null, {"months": -14}, {"months": 2147483647}]`},
		{"interval_day_time", arrow.FixedWidthTypes.DayTimeInterval, `[{"days": 0, "milliseconds": 0}, null, {"days": -1, "milliseconds": 1500}, {"days": 7, "milliseconds": -3}]`},
		{"interval_mdn", arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 0, "days": 0, "nanoseconds": 0}, null, {"months": 1, "days": -2, "nanoseconds": 3}, {"months": -1, "days": 2, "nanoseconds": -1000000001}]`},
		{"list", arrow.ListOf(i32), `[[], null, [1, null, 3], [4]]`},
		{"list_required", arrow.ListOfField(required), `[[], null, [1, 2, 3], [4]]`},
		{"large_list", arrow.LargeListOf(str), `[[], null, ["a", null, ""], ["b"]]`},
		{"list_view", arrow.ListViewOf(i32), `[[], null, [1, null, 3], [4]]`},
		{"large_list_view", arrow.LargeListViewOf(i32), `[[], null, [1, null, 3], [4]]`},
		{"fixed_size_list", arrow.FixedSizeListOf(2, i32), `[[1, 2], null, [null, 3], [4, 5]]`},
		{"struct", st, `[{"a": 1, "b.c": "x"}, null, {"a": null, "b.c": ""}, {"a": 4, "b.c": null}]`},
		{"map", arrow.MapOf(str, i64), `[[], null, [{"key": "b", "value": 1}, {"key": "a", "value": null}], [{"key": "", "value": 2}]]`},
		{"nested", arrow.ListOf(arrow.StructOf(arrow.Field{Name: "l", Type: arrow.ListOf(st), Nullable: true})),
			`[[], null, [{"l": [{"a": 1, "b.c": "x"}, null]}, null, {"l": null}], [{"l": []}]]`},
		{"dictionary", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str}, `["x", null, "y", "x"]`},
		{"dictionary_int", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: i64}, `[5, null, -5, 5]`},
		{"run_end_encoded", arrow.RunEndEncodedOf(i32, str), `["x", "x", null, "y"]`},
		{"uuid", extensions.NewUUIDType(), `["00112233-4455-6677-8899-aabbccddeeff", null, "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"]`},
		{"json", json, `["{\"a\":[1,2]}", null, "\"text\"", "12.50"]`},
		{"bool8", extensions.NewBool8Type(), `[true, null, false, true]`},
	}
	return cols
}

// Array makes the array of a column.
func (c Column) Array(t testing.TB) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, c.Type, strings.NewReader(c.JSON))
	require.NoError(t, err, c.Name)
	require.Equal(t, Rows, a.Len(), c.Name)
	return a
}

// Batch is a batch of columns.
func Batch(t testing.TB, cols []Column) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range cols {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.Type, Nullable: true})
		arrays = append(arrays, c.Array(t))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, Rows)
}

// RequireSame compares two columns value by value and bit by bit, regardless of chunks, dictionaries, runs and
// views.
func RequireSame(t testing.TB, name string, want, got *arrow.Chunked) {
	t.Helper()
	require.Truef(t, arrow.TypeEqual(want.DataType(), got.DataType()), "column %s is %s, not %s", name, got.DataType(), want.DataType())
	require.Equal(t, want.Len(), got.Len(), name)
	i, j, from, to := 0, 0, 0, 0 // chunks, and positions in them
	for i < len(want.Chunks()) && j < len(got.Chunks()) {
		a, b := want.Chunk(i), got.Chunk(j)
		n := min(a.Len()-from, b.Len()-to)
		x, y := array.NewSlice(a, int64(from), int64(from+n)), array.NewSlice(b, int64(to), int64(to+n))
		if row := arrowutil.Difference(x, y); row >= 0 {
			require.Failf(t, "values differ", "column %s, row %d of\nwant %v\ngot  %v", name, row, x, y)
		}
		x.Release()
		y.Release()
		if from += n; from == a.Len() {
			i, from = i+1, 0
		}
		if to += n; to == b.Len() {
			j, to = j+1, 0
		}
	}
}

// RequireSameTable compares names, types and values of two tables.
func RequireSameTable(t testing.TB, want, got arrow.Table) {
	t.Helper()
	require.Equal(t, want.NumCols(), got.NumCols())
	for i := range int(want.NumCols()) {
		require.Equal(t, want.Schema().Field(i).Name, got.Schema().Field(i).Name)
		RequireSame(t, want.Schema().Field(i).Name, want.Column(i).Data(), got.Column(i).Data())
	}
}
