package jsonl_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/csv"
	"github.com/amudai/amudai-go/table/text/internal/jsonl"
)

// TestJSONInference lists the type that is inferred from the values of a key.
func TestJSONInference(t *testing.T) {
	for _, c := range []struct{ values, want, notice string }{
		{`1|-2|null`, "int64", ""},
		{`18446744073709551615|1`, "uint64", ""},
		{`18446744073709551616`, "json", "too long for 64 bits"},
		{`1|2.5`, "float64", ""},
		{`9007199254740993|2.5`, "json", "kept as JSON"},
		{`0.1234567890123456789`, "json", "too long"},
		{`1.5|"NaN"|"-Inf"`, "float64", ""},
		{`"NaN"`, "utf8", ""},
		{`"00501"|"x"`, "utf8", ""},
		{`"1"|"2"`, "utf8", ""},
		{`true|null|false`, "bool", ""},
		{`"2012-12-31"`, "date32", ""},
		{`"2012-12-31T01:02:03Z"`, "timestamp[us, UTC]", ""},
		{`"2012-12-31T01:02:03+01:00"`, "timestamp[us, UTC]", "stored in UTC"},
		{`"Jun 12 1998"|"2012-12-31"`, "utf8", ""},
		{`null`, "json", ""},
		{`"text"|1776`, "json", `column "k" is kept as JSON text: it mixes strings ("text") and numbers (1776)`},
		{`[]|[1,2.5]|null`, "list<float64>", ""},
		{`[]`, "list<json>", ""},
		{`[1]|["x"]`, "list<json>", `column "k[]" is kept as JSON text`},
		{`{"a":1}|{"b":[{"c":true}]}`, "struct<a: int64, b: list<struct<c: bool>>>", ""},
		{`{}`, "json", ""},
		{`{"a":1}|[1]`, "json", "arrays"},
	} {
		var said tabletest.Notices
		src := ""
		for _, v := range strings.Split(c.values, "|") {
			src += `{"k":` + v + `,"i":1}` + "\n"
		}
		got := tabletest.MustRead(t, jsonl.New(jsonl.Options{}), src, provider.ReadOptions{Notice: said.Add})
		require.Equal(t, c.want, text.Type(got.Schema().Field(0).Type), c.values)
		if c.notice == "" {
			require.Empty(t, said, c.values)
		} else {
			require.Len(t, said, 1, c.values)
			require.Contains(t, said[0], c.notice)
		}
		if c.notice != "" && c.want == "json" {
			require.Equal(t, src, tabletest.Write(t, jsonl.New(jsonl.Options{}), got))
		}
	}
}

func TestJSONShapes(t *testing.T) {
	small := jsonl.Options{Text: provider.TextOptions{SampleBytes: 25}}
	want := `{"a":1,"b":"x"}` + "\n" + `{"a":null,"b":"y"}` + "\n"
	for name, src := range map[string]string{
		"lines":      `{"a":1,"b":"x"}` + "\n" + `{"b":"y"}` + "\n",
		"no end":     `{"a":1,"b":"x"}` + "\n" + `{"b":"y"}`,
		"array":      ` [ {"a" : 1 , "b":"x"} , {"b":"y"} ] `,
		"one line":   `{"a":1,"b":"x"}{"b":"y"}`,
		"pretty":     "[\n  {\n    \"a\": 1,\n    \"b\": \"x\"\n  },\n  {\"b\": \"y\"}\n]\n",
		"bom":        "\xef\xbb\xbf" + `[{"a":1,"b":"x"},{"b":"y"}]`,
		"escapes":    `{"\u0061":1,"b":"\u0078"}` + "\n" + `{"b":"\u0079"}`,
		"order":      `{"a":1,"b":"x"} {"b":"y","a":null}`,
		"bare lines": "\n\n" + `{"a":1,"b":"x"}` + "\r\n\r\n" + `{"b":"y"}` + "\r\n",
	} {
		for _, n := range []int{1, 2, 7, 1000} {
			in := tabletest.Input(src)
			in.Reader = &tabletest.TricklingReader{B: []byte(src), N: n}
			got, err := tabletest.Read(t, jsonl.NewArray(small), in, provider.ReadOptions{BatchRows: 1})
			require.NoError(t, err, name)
			require.Equal(t, want, tabletest.Write(t, jsonl.New(jsonl.Options{}), got), name)
			require.JSONEq(t, `[{"a":1,"b":"x"},{"a":null,"b":"y"}]`, tabletest.Write(t, jsonl.NewArray(jsonl.Options{}), got), name)
		}
	}
	for src, want := range map[string]string{
		`[]`: "", ``: "", `[1,2]`: "value: int64\n", `"x" 1`: "value: json\n", `{"a":1} 5`: "value: json\n", `[[1],[2]]`: "value: list<int64>\n",
	} {
		require.Equal(t, want, text.Schema(tabletest.MustRead(t, jsonl.NewArray(jsonl.Options{}), src, provider.ReadOptions{}).Schema()), src)
	}
}

func TestJSONErrors(t *testing.T) {
	many := strings.Repeat(`{"a":{"b":1},"c":[1]}`+"\n", 20)
	o := jsonl.Options{Text: provider.TextOptions{SampleRows: 10}}
	const hint = " keeps any value, --sample all finds types that fit all rows"
	for _, c := range []struct {
		text       string
		o          jsonl.Options
		want, hint string
	}{
		{many + `{"a":{"b":"x"}}`, o, `column "a.b": the string "x" is not an int64 (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"a":{"b":1.5}}`, o, `column "a.b": "1.5" is not an int64 (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"a":5}`, o, `column "a": 5 is not a struct<b: int64> (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"c":[true]}`, o, `column "c[]": true is not an int64 (line 21 of in)`, "--schema c:json" + hint},
		{many + `{"new key":1}`, o, `column "new key": key "new key" is not in the schema, nor in the sample it was inferred from (line 21 of in)`, "--schema 'new key:json'" + hint},
		{many + `{"a":{"z":1}}`, o, `column "a.z": key "z" is not in the schema, nor in the sample it was inferred from (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"a":null,"a":null}`, o, `column "a": key "a" occurs twice in an object (line 21 of in)`, "--schema a:json" + hint},
		{many + `7`, o, `the record is not an object, unlike those before: "7" (line 21) in in`, ""},
		{`{"a":1`, jsonl.Options{}, `JSON ends in the middle of a value (line 1) in in`, ""},
		{`[{"a":1}`, jsonl.Options{}, `JSON ends in the middle of a value (line 1) in in`, ""},
		{`[{"a":1} x`, jsonl.Options{}, `invalid JSON: expected , or ] before "x" (line 1) in in`, ""},
		{`[{"a":1}] x`, jsonl.Options{}, `invalid JSON: "x" follows the array (line 1) in in`, ""},
		{`{"a":01}`, jsonl.Options{}, `invalid JSON at "01}" (line 1) in in`, ""},
		{`{"a":tru}`, jsonl.Options{}, `invalid JSON at "tru}" (line 1) in in`, ""},
		{"{\"a\":1}\n{\"a\":'x'}", jsonl.Options{}, `invalid JSON at "'x'}": strings are in double quotes (line 2) in in`, ""},
		{`{"a":"\ud800"}`, jsonl.Options{}, `invalid JSON at "\\ud800\"}" (line 1) in in`, ""},
		{"{\"a\":\"\xff\"}", jsonl.Options{Encoding: "utf-8"}, `string "\xff" is not valid UTF-8; convert the input to UTF-8 first (line 1) in in`, ""},
		{strings.Repeat("[", 5000), jsonl.Options{}, `JSON is nested deeper than 200 (line 1) in in`, ""},
	} {
		_, err := tabletest.Read(t, jsonl.NewArray(c.o), tabletest.Input(c.text), provider.ReadOptions{})
		require.EqualError(t, err, c.want)
		var v *provider.ValueError
		if c.hint != "" {
			require.ErrorAs(t, err, &v)
			require.Equal(t, c.hint, v.Hint())
		}
	}
	_, err := tabletest.Read(t, jsonl.New(jsonl.Options{}), tabletest.Input(`{"a":1,"b":2}{"a":1}`), provider.ReadOptions{Schema: tabletest.Fields(t, "b:int64 not null")})
	require.EqualError(t, err, `column "b": missing, but declared not null (line 1 of in)`)
}

// TestSchemaWithoutColumn sets the types of columns that records lack: an error as soon as all records are known.
func TestSchemaWithoutColumn(t *testing.T) {
	read := func(f provider.Format, src, schema string) (arrow.Table, tabletest.Notices, error) {
		var said tabletest.Notices
		got, err := tabletest.Read(t, f, tabletest.Input(src), provider.ReadOptions{Schema: tabletest.Fields(t, schema), Notice: said.Add, Columns: []string{}})
		return got, said, err
	}
	for _, f := range []provider.Format{jsonl.New(jsonl.Options{}), jsonl.NewArray(jsonl.Options{})} {
		const rec = `{"a":1,"b":{"c":2,"d":[1]},"x.y":3}`
		_, _, err := read(f, rec, "a:int64,nope:int64")
		require.EqualError(t, err, `column "nope" of the schema is not in in (its columns: a, b, x.y)`)
		_, _, err = read(f, rec, "b.c:int32")
		require.EqualError(t, err, `"b.c" of the schema is no column of in, only a path in the column "b" (its columns: a, b, x.y)`)
		var hint interface{ Hint() string }
		require.ErrorAs(t, err, &hint)
		require.Equal(t, `--schema 'b: struct<c: int32, d: list<int64>>' sets the type of the whole column`, hint.Hint())
		_, _, err = read(f, rec, "b.z:int32")
		require.ErrorContains(t, err, `only a path in the column "b"`)
		require.False(t, errors.As(err, &hint))
		_, _, err = read(f, `7 8`, "nope:int64")
		require.EqualError(t, err, `column "nope" of the schema is not in in (its columns: value)`)
		for _, good := range []string{rec, ""} {
			_, said, err := read(f, good, "x.y:int32")
			require.NoError(t, err)
			require.Empty(t, said)
		}
	}
	// Records behind the sample may have the column.
	f := jsonl.New(jsonl.Options{Text: provider.TextOptions{SampleRows: 2}})
	const warning = `column "b" of the schema is in no record of the sample of in`
	got, said, err := read(f, strings.Repeat(`{"a":1}`, 9)+`{"b":5}`, "b:int64")
	require.NoError(t, err)
	require.EqualValues(t, 10, got.NumRows())
	require.Equal(t, tabletest.Notices{warning}, said)
	_, said, err = read(f, strings.Repeat(`{"a":1}`, 9), "b:int64")
	require.EqualError(t, err, `column "b" of the schema is not in in (its columns: a)`)
	require.Equal(t, tabletest.Notices{warning}, said)
}

// TestMovies converts a table of the corpus with inconsistent values, and converts it back. Titles that are numbers,
// nulls, and numbers of two kinds keep their values and types.
func TestMovies(t *testing.T) {
	src := corpus(t, "movies.json")
	var said tabletest.Notices
	got := tabletest.MustRead(t, jsonl.NewArray(jsonl.Options{}), src, provider.ReadOptions{Notice: said.Add})
	require.Len(t, said, 1)
	require.Contains(t, said[0], `column "Title" is kept as JSON text: it mixes strings ("The Land Girls") and numbers`)
	require.EqualValues(t, 3201, got.NumRows())
	for _, f := range []provider.Format{jsonl.NewArray(jsonl.Options{}), jsonl.New(jsonl.Options{})} {
		out := tabletest.Write(t, f, got)
		again := tabletest.MustRead(t, f, out, provider.ReadOptions{})
		require.Equal(t, out, tabletest.Write(t, f, again))
		if f.Name == "json" {
			require.Equal(t, documents(t, src), documents(t, out))
		}
	}
}

// TestTables reads CSV of real tables. The types are as expected, and the text comes back.
func TestTables(t *testing.T) {
	var said tabletest.Notices
	zips := tabletest.MustRead(t, csv.New(csv.Options{}), corpus(t, "zipcodes.csv"), provider.ReadOptions{Notice: said.Add})
	require.Equal(t, "zip_code: utf8\nlatitude: float64\nlongitude: float64\ncity: utf8\nstate: utf8\ncounty: utf8\n", text.Schema(zips.Schema()))
	require.Len(t, said, 1)
	require.Contains(t, said[0], `column "zip_code" is kept as text: it has numbers with leading zeros ("00501")`)
	weather := tabletest.MustRead(t, csv.New(csv.Options{}), corpus(t, "weather.csv"), provider.ReadOptions{})
	require.Equal(t, "location: utf8\ndate: date32\nprecipitation: float64\ntemp_max: float64\ntemp_min: float64\nwind: float64\nweather: utf8\n", text.Schema(weather.Schema()))
	require.Equal(t, corpus(t, "weather.csv"), strings.TrimSpace(tabletest.Write(t, csv.New(csv.Options{}), weather))+"\n")
	out := tabletest.Write(t, csv.New(csv.Options{}), zips)
	require.Equal(t, out, tabletest.Write(t, csv.New(csv.Options{}), tabletest.MustRead(t, csv.New(csv.Options{}), out, provider.ReadOptions{})))
	viaJSON := tabletest.MustRead(t, jsonl.New(jsonl.Options{}), tabletest.Write(t, jsonl.New(jsonl.Options{}), zips), provider.ReadOptions{Schema: zips.Schema().Fields()})
	require.Equal(t, tabletest.Write(t, csv.New(csv.Options{}), zips), tabletest.Write(t, csv.New(csv.Options{}), viaJSON))
}

// documents parses JSON with the standard library.
func documents(t *testing.T, src string) (docs []map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(src), &docs))
	return docs
}

func TestJSONTypes(t *testing.T) {
	tabletest.RoundTripTypes(t, jsonl.New(jsonl.Options{}))
}

// TestJSONDocuments keeps arbitrary documents as JSON columns, and reads documents with the types inferred from all
// of them.
func TestJSONDocuments(t *testing.T) {
	scalar := rapid.Custom(func(r *rapid.T) any {
		switch rapid.IntRange(0, 4).Draw(r, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(r, "bool")
		case 2:
			return float64(rapid.Int32().Draw(r, "int")) / 8
		case 3:
			return rapid.StringOfN(rapid.SampledFrom([]rune("a\"\\\n\t\x01é🐢")), 0, 4, -1).Draw(r, "string")
		}
		return []any{}
	})
	rapid.Check(t, func(r *rapid.T) {
		var docs []map[string]any
		for range rapid.IntRange(1, 5).Draw(r, "rows") {
			docs = append(docs, map[string]any{
				"a": scalar.Draw(r, "a"),
				"b": rapid.SliceOfN(scalar, 0, 3).Draw(r, "b"),
				"c": map[string]any{"x y": scalar.Draw(r, "c"), "z": scalar.Draw(r, "d")},
			})
		}
		src, err := json.Marshal(docs)
		require.NoError(r, err)
		o := jsonl.Options{Text: provider.TextOptions{SampleBytes: int64(rapid.IntRange(1000, 2000).Draw(r, "sample"))}}
		got := tabletest.MustRead(t, jsonl.NewArray(o), string(src), provider.ReadOptions{})
		out := tabletest.Write(t, jsonl.NewArray(jsonl.Options{}), got)
		require.Equal(r, documents(t, string(src)), documents(t, out))
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`[{"a":[1,{"b":"\ud83d\ude00"}],"c":1.50}]`, int64(9), uint8(0))
	for i, c := range oddFiles {
		f.Add(c.in, int64(i), uint8(i))
	}
	f.Add(`{"b": 1, "a": [{"x": 1}, {"b": 2}, 3]} {"a": {"x": 1}, "b": [1]} {"a": null}`, int64(0), uint8(36))
	f.Add(`{"data": {"n": 1, "items": [{"x": 1}]}, "b": 2}`, int64(7), uint8(44))
	f.Fuzz(func(t *testing.T, src string, sample int64, layout uint8) {
		o := jsonl.Options{Text: provider.TextOptions{SampleBytes: sample % 100, SampleRows: 3, MaxRecordBytes: 1 << 16, AllRows: layout&16 != 0},
			Records: jsonl.Records(layout & 3), Unnest: []string{"", "a", "features", "data.items"}[layout>>2&3]}
		if layout&32 != 0 {
			o.Keep = []string{"b", "data.n"}
		}
		got, err := tabletest.Read(t, jsonl.NewArray(o), tabletest.Input(src), provider.ReadOptions{})
		if err != nil {
			return
		}
		first := tabletest.Write(t, jsonl.New(jsonl.Options{}), got)
		for _, line := range strings.Split(strings.TrimSuffix(first, "\n"), "\n") {
			require.True(t, line == "" || json.Valid([]byte(line)), line)
		}
		again := tabletest.MustRead(t, jsonl.New(jsonl.Options{}), first, provider.ReadOptions{Schema: got.Schema().Fields()})
		require.Equal(t, first, tabletest.Write(t, jsonl.New(jsonl.Options{}), again))
	})
}

// corpus reads a file of the shared tables.
func corpus(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "tables", name))
	require.NoError(t, err)
	return string(b)
}
