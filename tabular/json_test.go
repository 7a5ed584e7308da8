package tabular_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/tabular"
)

// TestJSONInference lists what the values of a key make of it.
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
		var said notices
		text := ""
		for _, v := range strings.Split(c.values, "|") {
			text += `{"k":` + v + `,"i":1}` + "\n"
		}
		table := mustRead(t, tabular.JSONLines, text, tabular.ReadOptions{Notice: said.add})
		require.Equal(t, c.want, tabular.TypeText(table.Schema().Field(0).Type), c.values)
		if c.notice == "" {
			require.Empty(t, said, c.values)
		} else {
			require.Len(t, said, 1, c.values)
			require.Contains(t, said[0], c.notice)
		}
		if c.notice != "" && c.want == "json" {
			require.Equal(t, text, write(t, tabular.JSONLines, table, tabular.WriteOptions{}))
		}
	}
}

func TestJSONShapes(t *testing.T) {
	want := `{"a":1,"b":"x"}` + "\n" + `{"a":null,"b":"y"}` + "\n"
	for name, text := range map[string]string{
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
			in := input(text)
			in.Reader = &tricklingReader{b: []byte(text), n: n}
			table, err := read(t, tabular.JSON, in, tabular.ReadOptions{BatchRows: 1, SampleBytes: 25})
			require.NoError(t, err, name)
			require.Equal(t, want, write(t, tabular.JSONLines, table, tabular.WriteOptions{}), name)
			require.JSONEq(t, `[{"a":1,"b":"x"},{"a":null,"b":"y"}]`, write(t, tabular.JSON, table, tabular.WriteOptions{}), name)
		}
	}
	for text, want := range map[string]string{
		`[]`: "", ``: "", `[1,2]`: "value: int64\n", `"x" 1`: "value: json\n", `{"a":1} 5`: "value: json\n", `[[1],[2]]`: "value: list<int64>\n",
	} {
		require.Equal(t, want, tabular.SchemaText(mustRead(t, tabular.JSON, text, tabular.ReadOptions{}).Schema()), text)
	}
}

func TestJSONErrors(t *testing.T) {
	many := strings.Repeat(`{"a":{"b":1},"c":[1]}`+"\n", 20)
	o := tabular.ReadOptions{SampleRows: 10}
	const hint = " keeps any value, or take a larger --sample"
	for _, c := range []struct {
		text       string
		o          tabular.ReadOptions
		want, hint string
	}{
		{many + `{"a":{"b":"x"}}`, o, `column "a.b": the string "x" is not an int64 (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"a":{"b":1.5}}`, o, `column "a.b": "1.5" is not an int64 (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"a":5}`, o, `column "a": 5 is not a struct<b: int64> (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"c":[true]}`, o, `column "c[]": true is not an int64 (line 21 of in)`, "--schema c:json" + hint},
		{many + `{"new key":1}`, o, `column "new key": key "new key" is not in the schema, nor in the sample it was inferred from (line 21 of in)`, "--schema 'new key:json'" + hint},
		{many + `{"a":{"z":1}}`, o, `column "a.z": key "z" is not in the schema, nor in the sample it was inferred from (line 21 of in)`, "--schema a:json" + hint},
		{many + `{"a":null,"a":null}`, o, `column "a": key "a" comes twice in one object (line 21 of in)`, "--schema a:json" + hint},
		{many + `7`, o, `the record is no object, unlike those before: "7" (line 21) in in`, ""},
		{`{"a":1`, tabular.ReadOptions{}, `JSON ends in the middle of a value (line 1) in in`, ""},
		{`[{"a":1}`, tabular.ReadOptions{}, `JSON ends in the middle of a value (line 1) in in`, ""},
		{`[{"a":1} x`, tabular.ReadOptions{}, `invalid JSON: expected , or ] before "x" (line 1) in in`, ""},
		{`[{"a":1}] x`, tabular.ReadOptions{}, `invalid JSON: "x" follows the array (line 1) in in`, ""},
		{`{"a":01}`, tabular.ReadOptions{}, `invalid JSON at "01}" (line 1) in in`, ""},
		{`{"a":tru}`, tabular.ReadOptions{}, `invalid JSON at "tru}" (line 1) in in`, ""},
		{"{\"a\":1}\n{\"a\":'x'}", tabular.ReadOptions{}, `invalid JSON at "'x'}" (line 2) in in`, ""},
		{`{"a":"\ud800"}`, tabular.ReadOptions{}, `invalid JSON at "\\ud800\"}" (line 1) in in`, ""},
		{"{\"a\":\"\xff\"}", tabular.ReadOptions{}, `string "\xff" is not valid UTF-8; convert the input to UTF-8 first (line 1) in in`, ""},
		{strings.Repeat("[", 5000), tabular.ReadOptions{}, `JSON is nested deeper than 200 (line 1) in in`, ""},
		{`{"a":1}`, tabular.ReadOptions{Schema: fields(t, "b:int64 not null")}, `column "b": missing, but declared not null (line 1 of in)`, "--schema b:json" + hint},
	} {
		_, err := read(t, tabular.JSON, input(c.text), c.o)
		require.EqualError(t, err, c.want)
		var v *tabular.ValueError
		if c.hint != "" {
			require.ErrorAs(t, err, &v)
			require.Equal(t, c.hint, v.Hint())
		}
	}
}

// TestMovies converts the dirty table of the corpus and back: titles that are
// numbers, nulls, and numbers of two kinds keep their values and types.
func TestMovies(t *testing.T) {
	text := corpus(t, "movies.json")
	var said notices
	table := mustRead(t, tabular.JSON, text, tabular.ReadOptions{Notice: said.add})
	require.Len(t, said, 1)
	require.Contains(t, said[0], `column "Title" is kept as JSON text: it mixes strings ("The Land Girls") and numbers`)
	require.EqualValues(t, 3201, table.NumRows())
	for _, f := range []tabular.Format{tabular.JSON, tabular.JSONLines} {
		out := write(t, f, table, tabular.WriteOptions{})
		again := mustRead(t, f, out, tabular.ReadOptions{})
		require.Equal(t, out, write(t, f, again, tabular.WriteOptions{}))
		if f.Name == "json" {
			require.Equal(t, documents(t, text), documents(t, out))
		}
	}
}

// TestWeather and the zip codes: what CSV of real tables becomes, and that it comes back.
func TestTables(t *testing.T) {
	var said notices
	zips := mustRead(t, tabular.CSV, corpus(t, "zipcodes.csv"), tabular.ReadOptions{Notice: said.add})
	require.Equal(t, "zip_code: utf8\nlatitude: float64\nlongitude: float64\ncity: utf8\nstate: utf8\ncounty: utf8\n", tabular.SchemaText(zips.Schema()))
	require.Len(t, said, 1)
	require.Contains(t, said[0], `column "zip_code" is kept as text: it has numbers with leading zeros ("00501")`)
	weather := mustRead(t, tabular.CSV, corpus(t, "weather.csv"), tabular.ReadOptions{})
	require.Equal(t, "location: utf8\ndate: date32\nprecipitation: float64\ntemp_max: float64\ntemp_min: float64\nwind: float64\nweather: utf8\n", tabular.SchemaText(weather.Schema()))
	require.Equal(t, corpus(t, "weather.csv"), strings.TrimSpace(write(t, tabular.CSV, weather, tabular.WriteOptions{}))+"\n")
	for _, table := range []struct{ name, text string }{{"zips", write(t, tabular.CSV, zips, tabular.WriteOptions{})}} {
		again := mustRead(t, tabular.CSV, table.text, tabular.ReadOptions{})
		require.Equal(t, table.text, write(t, tabular.CSV, again, tabular.WriteOptions{}), table.name)
	}
	viaJSON := mustRead(t, tabular.JSONLines, write(t, tabular.JSONLines, zips, tabular.WriteOptions{}), tabular.ReadOptions{Schema: zips.Schema().Fields()})
	require.Equal(t, write(t, tabular.CSV, zips, tabular.WriteOptions{}), write(t, tabular.CSV, viaJSON, tabular.WriteOptions{}))
}

// documents parses JSON with the standard library, keeping numbers as written
// but for those that mean the same.
func documents(t *testing.T, text string) (docs []map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &docs))
	return docs
}

func TestJSONTypes(t *testing.T) {
	testTypes(t, tabular.JSONLines)
}

// TestJSONDocuments keeps any documents as JSON columns, and reads documents
// with the types inferred from all of them.
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
		text, err := json.Marshal(docs)
		require.NoError(r, err)
		table := mustRead(t, tabular.JSON, string(text), tabular.ReadOptions{SampleBytes: int64(rapid.IntRange(1000, 2000).Draw(r, "sample"))})
		out := write(t, tabular.JSON, table, tabular.WriteOptions{})
		require.Equal(r, documents(t, string(text)), documents(t, out))
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`[{"a":[1,{"b":"\ud83d\ude00"}],"c":1.50}]`, int64(9))
	f.Fuzz(func(t *testing.T, text string, sample int64) {
		o := tabular.ReadOptions{SampleBytes: sample % 100, SampleRows: 3, MaxRecordBytes: 1 << 16}
		table, err := read(t, tabular.JSON, input(text), o)
		if err != nil {
			return
		}
		first := write(t, tabular.JSONLines, table, tabular.WriteOptions{})
		for _, line := range strings.Split(strings.TrimSuffix(first, "\n"), "\n") {
			require.True(t, line == "" || json.Valid([]byte(line)), line)
		}
		again := mustRead(t, tabular.JSONLines, first, tabular.ReadOptions{Schema: table.Schema().Fields()})
		require.Equal(t, first, write(t, tabular.JSONLines, again, tabular.WriteOptions{}))
	})
}
