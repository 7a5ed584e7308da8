package provider_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/internal/arrowipc"
	"github.com/amudai/amudai-go/table/provider"
)

const places = `{"id":1,"city":"Oslo","at":{"lat":59.9}}
{"id":2,"city":null,"at":{"lat":-1.5}}
{"id":3,"city":"Lima","at":null}
`

// everyFormat passes a text of JSON lines in formats that filter and project by themselves, and in others.
func everyFormat(t *testing.T, src string, do func(t *testing.T, f provider.Format, in string)) {
	rows := tabletest.MustRead(t, jsonLines, src, provider.ReadOptions{})
	for _, f := range []provider.Format{jsonLines, jsonArray, commas, arrowipc.Format, arrowipc.Stream} {
		t.Run(f.Name, func(t *testing.T) { do(t, f, tabletest.Write(t, f, rows)) })
	}
}

// TestColumnsTwice requests a column twice. It appears once, at its first position.
func TestColumnsTwice(t *testing.T) {
	everyFormat(t, places, func(t *testing.T, f provider.Format, in string) {
		got := tabletest.MustRead(t, f, in, provider.ReadOptions{Columns: []string{"city", "id", "city"}})
		require.Equal(t, "city: utf8\nid: int64\n", text.Schema(got.Schema()))
		got = tabletest.MustRead(t, f, in, provider.ReadOptions{Columns: []string{}})
		require.Zero(t, got.NumCols())
		require.EqualValues(t, 3, got.NumRows())
		_, err := tabletest.Read(t, f, tabletest.Input(in), provider.ReadOptions{Columns: []string{"town"}})
		require.ErrorContains(t, err, `there is no column "town"`)
	})
}

// TestFilter filters formats that cannot filter by themselves, also by columns that are not in the result.
func TestFilter(t *testing.T) {
	for condition, want := range map[string]string{
		"id >= 2":                    `{"city":null}` + "\n" + `{"city":"Lima"}` + "\n",
		"city is not null and id<>1": `{"city":"Lima"}` + "\n",
		"id > 0":                     `{"city":"Oslo"}` + "\n" + `{"city":null}` + "\n" + `{"city":"Lima"}` + "\n",
		"id > 100":                   "",
	} {
		everyFormat(t, places, func(t *testing.T, f provider.Format, in string) {
			e, err := filter.Parse(condition)
			require.NoError(t, err)
			got := tabletest.MustRead(t, f, in, provider.ReadOptions{Filter: e, Columns: []string{"city"}, BatchRows: 2})
			require.Equal(t, want, tabletest.Write(t, jsonLines, got))
			got = tabletest.MustRead(t, f, in, provider.ReadOptions{Filter: e})
			require.EqualValues(t, 3, got.NumCols())
		})
	}
	e, err := filter.Parse("id > 'x'")
	require.NoError(t, err)
	_, err = tabletest.Read(t, jsonLines, tabletest.Input(places), provider.ReadOptions{Filter: e})
	require.ErrorContains(t, err, "write a number")
	require.ErrorContains(t, err, "in in")
}

// TestCast converts columns of typed formats to other types. A value that does not fit is an error that names its
// place.
func TestCast(t *testing.T) {
	for _, c := range []struct{ from, to, value, want string }{
		{"int64", "int8", "-128", "-128"},
		{"int64", "int8", "128", `"128" is out of the range of int8`},
		{"int64", "uint8", "-1", "out of the range"},
		{"int64", "float64", "9007199254740992", "9007199254740992.0"},
		{"int64", "float64", "9007199254740993", "more digits"},
		{"int64", "utf8", "5", `"5"`},
		{"int64", "decimal(10,2)", "5", `"5.00"`},
		{"int64", "bool", "1", "is not a bool"},
		{"float64", "int64", "2.0", "2"},
		{"float64", "int64", "2.5", "is not an int64"},
		{"float64", "int64", "-0.0", "exactly"},
		{"float64", "float32", "0.5", "0.5"},
		{"float64", "float32", "0.1", "exactly"},
		{"float64", "float16", "1e-9", "exactly"},
		{"utf8", "int32", `"007"`, "7"},
		{"utf8", "int32", `"x"`, `"x" is not an int32`},
		{"utf8", "date32", `"2001-01-05"`, `"2001-01-05"`},
		{"utf8", "binary", `"ab"`, `"YWI="`},
		{"binary", "utf8", `"YWI="`, `"ab"`},
		{"binary", "utf8", `"/w=="`, "not valid UTF-8"},
		{"utf8", "fixed_size_binary[3]", `"ab"`, "has 2 bytes, not 3"},
		{"utf8", "json", `"{\"a\":1}"`, `{"a":1}`},
		{"timestamp[ns]", "timestamp[us]", `"2001-01-05T10:00:00.000001"`, `"2001-01-05T10:00:00.000001"`},
		{"timestamp[ns]", "timestamp[us]", `"2001-01-05T10:00:00.000000001"`, "smaller fraction"},
		{"timestamp[us]", "timestamp[us, UTC]", `"2001-01-05T10:00:00"`, "has no time zone"},
		{"date32", "timestamp[s]", `"2001-01-05"`, `"2001-01-05T00:00:00"`},
		{"list<int64>", "list<int8>", "[1,null]", "[1,null]"},
		{"list<int64>", "list<int8>", "[1,300]", `column "v[]"`},
		{"struct<a: int64>", "struct<a: int64, b: utf8>", `{"a":1}`, `{"a":1,"b":null}`},
		{"int64", "int64 not null", "null", "null in a column that is declared not null"},
		{"null", "int64", "null", "null"},
	} {
		in := `{"v":null,"w":1}` + "\n" + `{"v":` + c.value + `,"w":2}` + "\n"
		if c.want == "null in a column that is declared not null" {
			in = `{"v":1,"w":1}` + "\n" + `{"v":null,"w":2}` + "\n"
		}
		rows := tabletest.MustRead(t, jsonLines, in, provider.ReadOptions{Schema: tabletest.Fields(t, "v:"+c.from)})
		file := tabletest.Write(t, arrowipc.Format, rows)
		o := provider.ReadOptions{Schema: tabletest.Fields(t, "v:"+c.to), Columns: []string{"v"}}
		got, err := tabletest.Read(t, arrowipc.Format, tabletest.Input(file), o)
		if err != nil {
			require.ErrorContains(t, err, c.want, "%s as %s", c.from, c.to)
			require.ErrorContains(t, err, "row 2 of in")
			continue
		}
		require.Equal(t, o.Schema, got.Schema().Fields())
		require.Equal(t, `{"v":null}`+"\n"+`{"v":`+c.want+"}\n", tabletest.Write(t, jsonLines, got), "%s as %s", c.from, c.to)
	}
	_, err := tabletest.Read(t, arrowipc.Format, tabletest.Input(tabletest.Write(t, arrowipc.Format, tabletest.MustRead(t, jsonLines, places, provider.ReadOptions{}))),
		provider.ReadOptions{Schema: []arrow.Field{{Name: "town", Type: arrow.BinaryTypes.String}}})
	require.EqualError(t, err, `column "town" of the schema is not in in (its columns: id, city, at)`)
}

// A table path may follow a file name whose extension belongs to a format with several tables in a file.
func TestSplitTable(t *testing.T) {
	tables := func(context.Context, provider.Input) ([]provider.Entry, error) { return nil, nil }
	formats := provider.Formats{{Name: "many", Extensions: []string{".many"}, Tables: tables}, {Name: "one", Extensions: []string{".one"}}}
	for location, want := range map[string][2]string{
		"a.many":                       {"a.many", ""},
		"a.many:x/y":                   {"a.many", "x/y"},
		"A.MANY:/x":                    {"A.MANY", "x"},
		"http://h:80/a.many:x":         {"http://h:80/a.many", "x"},
		"a.many:b.many:x":              {"a.many:b.many", "x"},
		"a.one:x":                      {"a.one:x", ""},
		`C:\dir\a.many`:                {`C:\dir\a.many`, ""},
		"a.many:":                      {"a.many", ""},
		"http://h/a.manyfold?q=.many:": {"http://h/a.manyfold?q=.many", ""},
	} {
		file, path := formats.SplitTable(location)
		require.Equal(t, want, [2]string{file, path}, location)
	}
}
