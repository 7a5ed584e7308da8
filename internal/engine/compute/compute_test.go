package compute_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// rows of the columns of most tests, as JSON.
const rows = `
 {"i": 7, "j": -2, "t": 3, "u": 18446744073709551615, "f": 1.5, "g": 0.25, "d": "12.345", "e": "-1.05", "b": true, "s": "Grün", "day": "2013-12-30", "at": "2013-12-31T23:30:15.25", "z": "2013-12-31T23:30:15Z", "clock": "13:14:15", "tags": ["x", null, "y"], "items": [{"p": 1, "q": "a"}, {"p": 9, "q": null}], "attrs": [{"key": "k", "value": "v"}, {"key": "n", "value": null}], "json": {"n": 3, "s": "t", "l": [1, 2], "o": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}, "st": {"l": [1, 2, 3]}}
 {"i": 9223372036854775807, "j": 0, "t": -128, "u": 0, "f": -0.5, "g": 1e30, "d": "-0.005", "e": "2.00", "b": false, "s": "", "day": "1969-12-31", "at": "1969-12-31T23:59:59.75", "z": "2013-07-01T22:00:00Z", "clock": "00:00:00", "tags": [], "items": [], "attrs": [], "json": {"l": []}, "st": {"l": null}}
 {"i": null, "j": null, "t": null, "u": null, "f": null, "g": null, "d": null, "e": null, "b": null, "s": null, "day": null, "at": null, "z": null, "clock": null, "tags": null, "items": null, "attrs": null, "json": null, "st": null}`

const types = `i: int64, j: int64, t: int8, u: uint64, f: float64, g: float32, d: decimal128(10, 3), e: decimal128(5, 2), b: bool, s: utf8, day: date, at: timestamp[us],
	z: timestamp[ms, Europe/Berlin], clock: time64[us], tags: list<utf8>, items: list<struct<p: int32, q: utf8>>, attrs: map<utf8, utf8>, json: json, st: struct<l: list<int16>>`

func batchOf(t testing.TB, types, rows string) arrow.RecordBatch {
	source, err := texts.JSONLines(texts.JSONOptions{}).Open(t.Context(), tabletest.Input(rows), provider.ReadOptions{Schema: tabletest.Fields(t, types)})
	require.NoError(t, err)
	defer source.Close()
	batch, err := source.Next(t.Context())
	require.NoError(t, err)
	return batch
}

func bind(t testing.TB, expression string, s *arrow.Schema) (*compute.Value, error) {
	nodes, err := ast.ParseValues(expression)
	require.NoError(t, err, expression)
	require.Len(t, nodes, 1, expression)
	return compute.Bind(nodes[0], s)
}

// eval evaluates an expression: its type, and its values as JSON.
func eval(t testing.TB, expression string, batch arrow.RecordBatch) (string, error) {
	v, err := bind(t, expression, batch.Schema())
	if err != nil {
		return "", err
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	arr, err := v.Eval(mem, batch)
	if err != nil {
		mem.AssertSize(t, 0)
		return "", err
	}
	defer mem.AssertSize(t, 0)
	defer arr.Release()
	require.Equal(t, int(batch.NumRows()), arr.Len(), expression)
	require.True(t, arrow.TypeEqual(v.Type(), arr.DataType()), "%s: %s instead of %s", expression, arr.DataType(), v.Type())
	return text.Type(v.Type()) + " " + jsonOf(arr), nil
}

func jsonOf(arr arrow.Array) string {
	one := values.JSON(arr)
	cells := make([]string, arr.Len())
	for i := range cells {
		cells[i] = string(one(nil, i))
	}
	return strings.Join(cells, " ")
}

func TestValues(t *testing.T) {
	batch := batchOf(t, types, rows)
	for expression, want := range map[string]string{
		"i": "int64 7 9223372036854775807 null", "j + 1": "int64 -1 1 null", "i // 2 - j": "int64 5 4611686018427387903 null",
		"t * 2": "int64 6 -256 null", "-t": "int64 -3 128 null", "i % 4": "int64 3 3 null", "i / j": "float64 -3.5 null null", "i // j": "int64 -3 null null", "i // u": "decimal128(20, 0) \"0\" null null",
		"u // 2": "uint64 9223372036854775807 0 null", "f + g": "float64 1.75 1.0000000150474662e+30 null", "-f": "float64 -1.5 0.5 null",
		"d + e": "decimal128(11, 3) \"11.295\" \"1.995\" null", "d * e": "decimal128(15, 5) \"-12.96225\" \"-0.01000\" null", "d % e": "decimal128(10, 3) \"0.795\" \"-0.005\" null",
		"d + 1": "decimal128(23, 3) \"13.345\" \"0.995\" null", "f * 2": "float64 3.0 -1.0 null", "t + 1.5": "decimal128(5, 1) \"4.5\" \"-126.5\" null",
		"year(day)": "int64 2013 1969 null", "quarter(day)": "int64 4 4 null", "month(at)": "int64 12 12 null", "day(at)": "int64 31 31 null",
		"dayofweek(day)": "int64 1 3 null", "dayofyear(day)": "int64 364 365 null", "week(day)": "int64 1 1 null", "hour(at)": "int64 23 23 null",
		"minute(at)": "int64 30 59 null", "second(at)": "int64 15 59 null", "hour(z)": "int64 0 0 null", "year(z)": "int64 2014 2013 null", "hour(clock)": "int64 13 0 null",
		"epoch(at)": "float64 1388532615.25 -0.25 null", "date(at)": "date32 \"2013-12-31\" \"1969-12-31\" null", "date(z)": "date32 \"2014-01-01\" \"2013-07-02\" null",
		"date_trunc('month', day)": "date32 \"2013-12-01\" \"1969-12-01\" null", "date_trunc('hour', at)": "timestamp[us] \"2013-12-31T23:00:00\" \"1969-12-31T23:00:00\" null",
		"date_trunc('day', z)": "timestamp[ms, Europe/Berlin] \"2013-12-31T23:00:00Z\" \"2013-07-01T22:00:00Z\" null",
		"day + 3":              "date32 \"2014-01-02\" \"1970-01-03\" null", "day - '2013-12-01'": "int64 29 -16041 null", "at - day": "duration[us] \"PT47H30M15.250S\" \"PT23H59M59.750S\" null",
		"lower(s)": "utf8 \"grün\" \"\" null", "upper(s)": "utf8 \"GRÜN\" \"\" null", "length(s)": "int64 4 0 null", `regexp_replace(s, '(r)(ü)', '\2$1\1')`: "utf8 \"Gü$1rn\" \"\" null",
		"substr(s, 2, 2)": "utf8 \"rü\" \"\" null",
		"substr(s, -2)":   "utf8 \"ün\" \"\" null", "concat(s, '-', i, b)": "utf8 \"Grün-7true\" \"-9223372036854775807false\" \"-\"",
		"abs(j)": "int64 2 0 null", "round(f)": "float64 2.0 -1.0 null", "floor(d)": "decimal128(8, 0) \"12\" \"-1\" null", "ceil(d)": "decimal128(8, 0) \"13\" \"0\" null",
		"round(d, 1)": "decimal128(9, 1) \"12.3\" \"0.0\" null", "round(t, -1)": "int64 0 -130 null",
		"coalesce(s, 'none')": "utf8 \"Grün\" \"\" \"none\"", "coalesce(t, f, 0)": "float64 3.0 -128.0 0.0", "if(b, i, 0)": "int64 7 0 0",
		"if(i < 100, i::int8, null)": "int8 7 null null", "case when b then 'yes' when not b then 'no' end": "utf8 \"yes\" \"no\" null",
		"i::utf8": "utf8 \"7\" \"9223372036854775807\" null", "d::int32": "int32 12 0 null", "f::int64": "int64 2 0 null", "'12'::int8": "int8 12 12 12", "b::int8": "int8 1 0 null",
		"at::date": "date32 \"2013-12-31\" \"1969-12-31\" null", "i > 7": "bool false true null", "b and i > 7": "bool false false null", "i is null": "bool false false true",
		"t = f": "bool false false null", "i > d": "bool false true null", "u > i": "bool true false null", "f > t": "bool false true null", "day < at": "bool true true null",
		"len(tags)": "int64 3 0 null", "tags[1]": "utf8 \"x\" null null", "tags[-1]": "utf8 \"y\" null null", "items[2].p": "int32 9 null null", "st['l'][2]": "int16 2 null null", "attrs['k']": "utf8 \"v\" null null", "attrs['n']": "utf8 null null null",
		"any(tags = 'x')": "bool true false null", "any(tags = 'z')": "bool null false null", "all(tags = 'x')": "bool false true null", "contains(tags, 'z')": "bool false false null", "contains(tags, null)": "bool null null null", "contains(tags, s)": "bool false false null",
		"any(items.p > 5 and items.q is null)": "bool true false null", "all(items.p > j)": "bool true true null", "contains(attrs, 'k')": "bool true false null", "any(attrs.key = 'k' and attrs.value = 'v')": "bool true false null",
		"any(st.l = 3)": "bool true null null", "any(json.l = 2)": "bool true false null", "any(json.o.a = 2 and json.o.b = 'y')": "bool true null null", "any(json.o.a = 1 and json.o.b = 'y')": "bool false null null",
		"json.n": "large_utf8 \"3\" null null", "json['s']": "large_utf8 \"t\" null null", "json.n::int64 + 1": "int64 4 null null", "1 + 1": "int64 2 2 2", "null": "null null null null", "'a'": "utf8 \"a\" \"a\" \"a\"",
	} {
		got, err := eval(t, expression, batch)
		require.NoError(t, err, expression)
		require.Equal(t, want, got, expression)
		typ, cells, _ := strings.Cut(got, " ")
		if strings.HasPrefix(got, "timestamp[ms,") || strings.HasPrefix(got, "decimal") {
			continue // a space in the type
		}
		for _, cut := range [][2]int64{{1, 3}, {2, 3}, {0, 0}} { // slices of longer arrays
			part := batch.NewSlice(cut[0], cut[1])
			got, err := eval(t, expression, part)
			require.NoError(t, err, expression)
			require.Equal(t, strings.TrimSpace(typ+" "+strings.Join(strings.Fields(cells)[cut[0]:cut[1]], " ")), strings.TrimSpace(got), expression)
			part.Release()
		}
	}
}

// TestNoDifference subtracts a time from what is none.
func TestNoDifference(t *testing.T) {
	batch := batchOf(t, types, rows)
	for _, expression := range []string{"null - at", "1 - day", "true - at", "99999999999999999999 - z"} {
		_, err := bind(t, expression, batch.Schema())
		require.ErrorContains(t, err, "there is no difference of", expression)
	}
}
