package spans

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

var eventsType = lists[Events].arrowType()

func numberColumn(name string, t column.Type, v ...uint64) *column.Column {
	return &column.Column{Name: name, Type: t, Rows: len(v), Values: column.Values{Numbers: v}}
}

func textColumn(name string, t column.Type, v ...string) *column.Column {
	c := &column.Column{Name: name, Type: t, Rows: len(v), Values: column.Values{Offsets: []uint32{0}}}
	for _, s := range v {
		c.Values.Data = append(c.Values.Data, s...)
		c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
	}
	return c
}

// random draws a column, with nulls and codes or without.
func random(t *rapid.T, name string, typ column.Type) *column.Column {
	rows := rapid.IntRange(0, 20).Draw(t, "rows")
	c := &column.Column{Name: name, Type: typ, Rows: rows}
	present := rows
	if rapid.Bool().Draw(t, "nulls") && rows > 0 {
		present = 0
		c.Present = make([]byte, (rows+7)/8)
		for i := range rows {
			if rapid.Bool().Draw(t, "present") {
				c.Present[i/8] |= 1 << (i % 8)
				present++
			}
		}
	}
	values := present
	if rapid.Bool().Draw(t, "coded") {
		if values = rapid.IntRange(min(1, present), max(1, present)).Draw(t, "values"); present == 0 {
			values = 0
		}
		c.Codes = make([]uint32, present)
		for i := range c.Codes {
			c.Codes[i] = uint32(rapid.IntRange(0, values-1).Draw(t, "code"))
		}
	}
	if typ.Textual() {
		c.Values.Offsets = []uint32{0}
	}
	for range values {
		switch {
		case typ == column.Bool:
			c.Values.Numbers = append(c.Values.Numbers, uint64(rapid.IntRange(0, 1).Draw(t, "bool")))
		case !typ.Textual():
			c.Values.Numbers = append(c.Values.Numbers, rapid.Uint64().Draw(t, "number")>>1)
		case LengthOfIDs(name) > 0:
			c.Values.Data = append(c.Values.Data, rapid.SliceOfN(rapid.Byte(), LengthOfIDs(name), LengthOfIDs(name)).Draw(t, "id")...)
		default:
			c.Values.Data = append(c.Values.Data, rapid.StringN(0, 3, 9).Draw(t, "text")...)
		}
		if typ.Textual() {
			c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
		}
	}
	return c
}

// cells are the values of a column by row, as text.
func cells(c *column.Column) []string {
	out := make([]string, c.Rows)
	for row, k := range c.Each() {
		if c.Type.Textual() {
			out[row] = "=" + string(c.Values.Bytes(k))
		} else {
			out[row] = "=" + strconv.FormatUint(c.Values.Numbers[k], 16)
		}
	}
	return out
}

func TestArraysAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Field{
			{Name: TraceID, Type: column.Bytes}, {Name: ParentID, Type: column.Bytes}, {Name: Name, Type: column.String}, {Name: Start, Type: column.Uint64},
			{Name: Duration, Type: column.Uint64}, {Name: "span.a", Type: column.String}, {Name: "span.a", Type: column.Int64}, {Name: "span.a", Type: column.Uint64},
			{Name: "span.a", Type: column.Float64}, {Name: "scope.a", Type: column.Bool}, {Name: "resource.a", Type: column.Bytes},
		}).Draw(t, "field")
		c := random(t, f.Name, f.Type)
		f.Flags = TraitsOf(c)
		o := Options{UintTimes: rapid.Bool().Draw(t, "uint"), BinaryText: rapid.Bool().Draw(t, "binary")}
		af := Schema([]Field{f}, o).Field(0)
		arr, err := Array(memory.DefaultAllocator, c, c.Rows, af)
		require.NoError(t, err)
		require.NoError(t, arrowutil.Check(arr))
		require.True(t, arrow.TypeEqual(af.Type, arr.DataType()))
		require.Equal(t, c.Rows-c.PresentCount(), arr.NullN())
		got, err := Of(af)
		require.NoError(t, err)
		require.Equal(t, Field{Name: f.Name, Type: f.Type}, got)
		back, err := Column(arr, got)
		require.NoError(t, err)
		require.Equal(t, cells(c), cells(back))
		if c.Rows > 2 { // a part of an array
			back, err = Column(array.NewSlice(arr, 1, int64(c.Rows-1)), got)
			require.NoError(t, err)
			require.Equal(t, cells(c)[1:c.Rows-1], cells(back))
		}
	})
}

func TestSchemaNames(t *testing.T) {
	fields := []Field{
		{Name: "span.a", Type: column.Int64, Flags: 0}, {Name: "span.a#int64", Type: column.String, Flags: 0}, {Name: "span.a", Type: column.String, Flags: 0}, {Name: "resource.z", Type: column.Bool, Flags: 0},
		{Name: TraceID, Type: column.Bytes, Flags: column.Always | column.IDs}, {Name: Flags, Type: column.Uint64, Flags: 0}, {Name: Start, Type: column.Uint64, Flags: column.Always | column.Large}, {Name: "span.x#1", Type: column.String, Flags: column.NotUTF8},
	}
	Order(fields)
	var got []string
	for i, f := range Schema(fields, Options{}).Fields() {
		got = append(got, f.Name+" "+f.Type.String())
		back, err := Of(f)
		require.NoError(t, err)
		require.Equal(t, fields[i].Name, back.Name)
		require.Equal(t, fields[i].Type, back.Type)
		require.Equal(t, i > 1, f.Nullable)
	}
	require.Equal(t, []string{
		"trace:id fixed_size_binary[16]", "span:start uint64", "span:flags uint64", "resource.z bool", "span.a utf8", "span.a#int64# int64",
		"span.a#int64 utf8", "span.x#1 binary",
	}, got)
}

// TestOf takes fields of other tables.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		name string
		dt   arrow.DataType
		want Field
		err  string
	}{
		{"span.a", arrow.PrimitiveTypes.Int8, Field{Name: "span.a", Type: column.Int64}, ""},
		{"span.a", arrow.PrimitiveTypes.Uint64, Field{Name: "span.a", Type: column.Int64}, ""},
		{"span.a", arrow.PrimitiveTypes.Float32, Field{Name: "span.a", Type: column.Float64}, ""},
		{"span.a", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.LargeString}, Field{Name: "span.a", Type: column.String}, ""},
		{"span.a#int64", arrow.PrimitiveTypes.Int64, Field{Name: "span.a", Type: column.Int64}, ""},
		{"span.a#int64", arrow.BinaryTypes.String, Field{Name: "span.a#int64", Type: column.String}, ""},
		{"span:kind", arrow.PrimitiveTypes.Int32, Field{Name: Kind, Type: column.Int64}, ""},
		{"span:start", arrow.FixedWidthTypes.Timestamp_us, Field{Name: Start, Type: column.Uint64}, ""},
		{"span:events", eventsType, Field{Name: Events, Type: column.Bytes}, ""},
		{"span:name", eventsType, Field{}, `column "span:name" of type list`},
		{"span:nam", arrow.BinaryTypes.String, Field{}, `column "span:nam" is none of spans`},
		{"name", arrow.BinaryTypes.String, Field{}, `column "name" is none of spans`},
		{"span.a", arrow.FixedWidthTypes.Timestamp_us, Field{}, "attributes are strings, integers, floats, bools or bytes"},
		{"span.a", eventsType, Field{}, "attributes are strings"},
	} {
		got, err := Of(arrow.Field{Name: c.name, Type: c.dt})
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

// TestWidths takes values of other types than those of [Array].
func TestWidths(t *testing.T) {
	mem := memory.DefaultAllocator
	parse := func(dt arrow.DataType, json string) arrow.Array {
		arr, _, err := array.FromJSON(mem, dt, strings.NewReader(json))
		require.NoError(t, err)
		return arr
	}
	for _, c := range []struct {
		arr  arrow.Array
		f    Field
		want []uint64
		err  string
	}{
		{parse(arrow.PrimitiveTypes.Int8, "[-1,null,2]"), Field{Name: "span.a", Type: column.Int64}, []uint64{math.MaxUint64, 2}, ""},
		{parse(arrow.PrimitiveTypes.Uint32, "[4294967295]"), Field{Name: "span.a", Type: column.Int64}, []uint64{math.MaxUint32}, ""},
		{parse(arrow.PrimitiveTypes.Uint64, "[9223372036854775808]"), Field{Name: "span.a", Type: column.Int64}, nil, "row 0: 9223372036854775808 does not fit"},
		{parse(arrow.PrimitiveTypes.Int64, "[0,-1]"), Field{Name: Start, Type: column.Uint64}, nil, "row 1: -1 does not fit"},
		{parse(arrow.PrimitiveTypes.Int64, "[4294967296]"), Field{Name: Flags, Type: column.Uint64}, nil, "does not fit"},
		{parse(arrow.PrimitiveTypes.Int64, "[-2147483648,2147483647]"), Field{Name: Kind, Type: column.Int64}, []uint64{1<<64 - 1<<31, 1<<31 - 1}, ""},
		{parse(arrow.PrimitiveTypes.Int64, "[2147483648]"), Field{Name: Kind, Type: column.Int64}, nil, "does not fit"},
		{parse(arrow.FixedWidthTypes.Timestamp_ms, "[5]"), Field{Name: Start, Type: column.Uint64}, []uint64{5_000_000}, ""},
		{parse(arrow.FixedWidthTypes.Timestamp_s, "[9223372037]"), Field{Name: Start, Type: column.Uint64}, nil, "does not fit"},
		{parse(arrow.FixedWidthTypes.Duration_us, `[7]`), Field{Name: Duration, Type: column.Uint64}, []uint64{7000}, ""},
		{parse(arrow.PrimitiveTypes.Float32, "[1.5]"), Field{Name: "span.a", Type: column.Float64}, []uint64{math.Float64bits(1.5)}, ""},
		{parse(arrow.FixedWidthTypes.Boolean, "[true,false]"), Field{Name: "span.a", Type: column.Bool}, []uint64{1, 0}, ""},
		{parse(arrow.BinaryTypes.String, `["a"]`), Field{Name: Kind, Type: column.Int64}, nil, "values of type utf8 instead of int64"},
		{array.NewNull(2), Field{Name: Kind, Type: column.Int64}, []uint64{}, ""},
	} {
		got, err := Column(c.arr, c.f)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got.Values.Numbers)
	}
	ids := parse(arrow.BinaryTypes.String, `["000102030405060708090a0b0c0d0e0f",null]`)
	got, err := Column(ids, Field{Name: TraceID, Type: column.Bytes})
	require.NoError(t, err)
	require.Equal(t, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", string(got.Values.Data))
	for _, wrap := range []arrow.DataType{
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
		arrow.BinaryTypes.StringView, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.BinaryView,
	} {
		inner := arrow.DataType(arrow.BinaryTypes.String)
		if wrap.ID() != arrow.DICTIONARY && wrap.ID() != arrow.RUN_END_ENCODED {
			inner = arrow.BinaryTypes.LargeString
		}
		plain := parse(inner, `["a","a",null,"b"]`)
		arr, err := arrowutil.Wrap(mem, plain, wrap)
		require.NoError(t, err)
		got, err := Column(arr, Field{Name: "span.a", Type: column.String})
		require.NoError(t, err)
		require.Equal(t, []string{"=a", "=a", "", "=b"}, cells(got))
	}
}

func TestValuesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		c    *column.Column
		f    column.Traits
		want string
	}{
		{textColumn("span.a", column.String, "ä", "\xc3"), 0, `"\xc3" is not valid UTF-8`},
		{textColumn("span.a", column.String, "\xc3", "\xa4"), 0, "not valid UTF-8"}, // together they are
		{textColumn(TraceID, column.Bytes, "1234567890123456", "1"), column.IDs, "id of 1 bytes, not 16"},
		{numberColumn(Start, column.Uint64, 1<<63), 0, "9223372036854775808 does not fit timestamp"},
	} {
		f := Schema([]Field{{Name: c.c.Name, Type: c.c.Type, Flags: c.f}}, Options{}).Field(0)
		_, err := Array(memory.DefaultAllocator, c.c, c.c.Rows, f)
		require.ErrorContains(t, err, c.want)
	}
	none, err := Array(memory.DefaultAllocator, nil, 3, arrow.Field{Type: arrow.BinaryTypes.String})
	require.NoError(t, err)
	require.Equal(t, 3, none.NullN())
}

// TestEvents shows events and links as lists of structs, and reads these.
func TestEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, name := range []string{Events, Links} {
			c := &column.Column{Name: name, Type: column.Bytes, Values: column.Values{Offsets: []uint32{0}}}
			var want []*tracev1.Span
			for _, rs := range otlpgen.Traces().Draw(t, "traces").ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					for _, s := range ss.Spans {
						one := &tracev1.Span{Events: s.Events}
						if name == Links {
							one = &tracev1.Span{Links: s.Links}
						}
						for _, e := range one.Events {
							e.TimeUnixNano &= math.MaxInt64
						}
						wire, err := proto.Marshal(one)
						require.NoError(t, err)
						c.Values.Data = append(c.Values.Data, wire...)
						c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
						c.Rows++
						want = append(want, one)
					}
				}
			}
			f := Schema([]Field{{Name: name, Type: column.Bytes}}, Options{Events: true}).Field(0)
			arr, err := Array(memory.DefaultAllocator, c, c.Rows, f)
			require.NoError(t, err)
			require.NoError(t, arrowutil.Check(arr))
			back, err := Column(arr, Field{Name: name, Type: column.Bytes})
			require.NoError(t, err)
			require.Equal(t, c.Rows, back.Rows)
			for i, one := range want {
				var got tracev1.Span
				require.NoError(t, proto.Unmarshal(back.Values.Bytes(i), &got))
				require.True(t, proto.Equal(one, &got), "%v\n%v", one, &got)
			}
		}
	})
	e := &tracev1.Span{Events: []*tracev1.Span_Event{{TimeUnixNano: 1, Name: "e", Attributes: []*commonv1.KeyValue{{Key: "k"}}}}}
	e.Events[0].ProtoReflect().SetUnknown([]byte("\xa0\x06\x01"))
	wire, err := proto.Marshal(e)
	require.NoError(t, err)
	_, err = Array(memory.DefaultAllocator, textColumn(Events, column.Bytes, string(wire)), 1, arrow.Field{Type: eventsType})
	require.ErrorContains(t, err, "read the column as it is stored")
	_, err = Array(memory.DefaultAllocator, textColumn(Events, column.Bytes, "\x0a\x00"), 1, arrow.Field{Type: eventsType})
	require.ErrorContains(t, err, "does not belong there")
}
