package jsonl_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/jsonl"
)

func wide(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

const collection = `{"type":"FeatureCollection","crs":null,
"features":[{"id":1,"geometry":{"x":1.5}},
{"id":2,"geometry":null}],"bbox":[1,2]}`

// oddFile is JSON that is no sequence or array of objects, and what becomes of it.
type oddFile struct {
	name, in string
	o        jsonl.Options
	schema   string // "name:type …"
	rows     string // JSON lines; or the error
	notice   string // a part of a notice for each line
}

var oddFiles = []oddFile{
	{"one object with an array", collection, jsonl.Options{}, "type:utf8 crs:json features:list<struct<id: int64, geometry: struct<x: float64>>> bbox:list<int64>",
		`{"type":"FeatureCollection","crs":null,"features":[{"id":1,"geometry":{"x":1.5}},{"id":2,"geometry":null}],"bbox":[1,2]}` + "\n", "is one object, which is the only row: --unnest features makes rows"},
	{"features", collection, jsonl.Options{Unnest: "features"}, "id:int64 geometry:struct<x: float64>", `{"id":1,"geometry":{"x":1.5}}` + "\n" + `{"id":2,"geometry":null}` + "\n",
		`beside "features", the fields "type", "crs", "bbox" are left out: --keep type,crs,bbox repeats them`},
	{"a deep array", `{"data":{"items":[{"x":1},{"x":2}]}}`, jsonl.Options{}, "data:struct<items: list<struct<x: int64>>>", `{"data":{"items":[{"x":1},{"x":2}]}}` + "\n", "--unnest data.items makes rows"},
	{"arrays in many records", "{\"a\":{\"b\":[{\"x\":1},{\"x\":2}]}}\n{\"a\":{\"b\":[]}}\n{\"a\":null}\n{\"c\":1}\n{\"a\":{\"b\":[{\"x\":3}]}}", jsonl.Options{Unnest: "a.b"}, "x:int64", "{\"x\":1}\n{\"x\":2}\n{\"x\":3}\n", `the field "c" is left out`},
	{"arrays in an array of records", `[{"b":[1,2]},{"b":[3]}]`, jsonl.Options{Unnest: "b"}, "value:int64", "{\"value\":1}\n{\"value\":2}\n{\"value\":3}\n", ""},
	{"objects at a path", `[{"b":{"x":1}},{"b":{"x":2}}]`, jsonl.Options{Unnest: "b"}, "x:int64", "{\"x\":1}\n{\"x\":2}\n", ""},
	{"no such path", collection, jsonl.Options{Unnest: "nope"}, "", `no record has anything at the path "nope" in in`, ""},
	{"a path into a number", `{"a":1}`, jsonl.Options{Unnest: "a.b"}, "", `"a.b" is in no object: "1" (line 1) in in`, ""},
	{"objects of objects", `{"p":{"n":1,"s":"x"},"q":{"n":2},"r":{"n":3,"t":true}}`, jsonl.Options{}, "key:utf8 n:int64 s:utf8 t:bool",
		`{"key":"p","n":1,"s":"x","t":null}` + "\n" + `{"key":"q","n":2,"s":null,"t":null}` + "\n" + `{"key":"r","n":3,"s":null,"t":true}` + "\n", `its entries are the rows, with their keys as column "key" (--records)`},
	{"objects of objects with a key", `{"p":{"key":1},"q":{"key":2}}`, jsonl.Options{}, "key_:utf8 key:int64", `{"key_":"p","key":1}` + "\n" + `{"key_":"q","key":2}` + "\n", `with their keys as column "key_"`},
	{"objects of objects as one", `{"p":{"n":1},"q":{"n":2}}`, jsonl.Options{Records: jsonl.Values}, "p:struct<n: int64> q:struct<n: int64>", `{"p":{"n":1},"q":{"n":2}}` + "\n", ""},
	{"objects of different objects", `{"p":{"a":1},"q":{"b":2}}`, jsonl.Options{}, "p:struct<a: int64> q:struct<b: int64>", `{"p":{"a":1},"q":{"b":2}}` + "\n", ""},
	{"entries at a path", `{"meta":{"v":1},"by_id":{"p":{"n":1},"q":{}, "r" : 5}}`, jsonl.Options{Unnest: "by_id", Records: jsonl.Entries}, "key:utf8 n:int64 value:int64",
		`{"key":"p","n":1,"value":null}` + "\n" + `{"key":"q","n":null,"value":null}` + "\n" + `{"key":"r","n":null,"value":5}` + "\n", `the field "meta" is left out`},
	{"names, then arrays", `[["id","s"],[1,"a"],[2,null]]`, jsonl.Options{}, "id:int64 s:utf8", `{"id":1,"s":"a"}` + "\n" + `{"id":2,"s":null}` + "\n", "the first one has the names of the columns (--records)"},
	{"arrays of text", `[["id","s"],["1","a"]]`, jsonl.Options{}, "value:list<utf8>", `{"value":["id","s"]}` + "\n" + `{"value":["1","a"]}` + "\n", ""},
	{"arrays of text behind names", `[["id","s"],["1","a"]]`, jsonl.Options{Records: jsonl.Arrays}, "id:utf8 s:utf8", `{"id":"1","s":"a"}` + "\n", ""},
	{"arrays of another length", `[["id","s"],[1,"a"],[2]]`, jsonl.Options{Records: jsonl.Arrays}, "", `an array has 1 value, but the first one has 2 names (line 1) in in`, ""},
	{"lines of arrays", "[\"id\",\"s\"]\n[1,\"a\"]\n", jsonl.Options{Records: jsonl.Arrays}, "", `the record is not an array, unlike those before: "\"id\"" (line 1) in in`, ""},
	{"numbers", "[1,2.5]", jsonl.Options{}, "value:float64", "{\"value\":1.0}\n{\"value\":2.5}\n", ""},
	{"no space between", `{"a":1}{"a":2} {"a":3}`, jsonl.Options{}, "a:int64", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", ""},
	{"objects over lines", "{\n\"a\":1\n}\n{\n\"a\":2\n}", jsonl.Options{}, "a:int64", "{\"a\":1}\n{\"a\":2}\n", ""},
	{"a huge number", `[{"a":123456789012345678901234567890},{"a":1}]`, jsonl.Options{}, "a:json", `{"a":123456789012345678901234567890}` + "\n" + `{"a":1}` + "\n", "too long for 64 bits"},
	{"a mark of UTF-8", "\xef\xbb\xbf[{\"a\":1}]", jsonl.Options{}, "a:int64", "{\"a\":1}\n", ""},
	{"UTF-16", wide("\ufeff[{\"a\":\"ż\"}]"), jsonl.Options{}, "a:utf8", "{\"a\":\"ż\"}\n", "utf-16le text (--encoding)"},
	{"Windows-1252", "[{\"a\":\"caf\xe9\"}]", jsonl.Options{}, "a:utf8", "{\"a\":\"café\"}\n", "windows-1252 text (--encoding)"},
	{"NaN", "[{\"a\":1},\n{\"a\":NaN}]", jsonl.Options{}, "", `invalid JSON at "NaN}": JSON has no such number; write null, or the string "NaN" (line 2) in in`, ""},
	{"infinity", "[{\"a\":-Infinity}]", jsonl.Options{}, "", `invalid JSON at "Infinity}": JSON has no such number; write null, or the string "Infinity" (line 1) in in`, ""},
	{"comments", "[{\"a\":1}, // one\n{\"a\":2}]", jsonl.Options{}, "", `invalid JSON at "//": JSON has no comments (line 1) in in`, ""},
	{"comments within", "{\n\"a\":1, /* one */\n\"b\":2}", jsonl.Options{}, "", `invalid JSON at "/* one */\n\"b\":2}": JSON has no comments (line 2) in in`, ""},
	{"Python", "[{\"a\":None}]", jsonl.Options{}, "", `invalid JSON at "None}": write null (line 1) in in`, ""},
	{"a comma too many", "[{\"a\":1,}]", jsonl.Options{}, "", `invalid JSON at "}" (line 1) in in`, ""},
}

func TestOddFiles(t *testing.T) {
	for _, c := range oddFiles {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 1000} {
				var said tabletest.Notices
				in := tabletest.Input(c.in)
				in.Reader = &tabletest.TricklingReader{B: []byte(c.in), N: n}
				got, err := tabletest.Read(t, jsonl.NewArray(c.o), in, provider.ReadOptions{Notice: said.Add})
				if c.schema == "" {
					require.EqualError(t, err, c.rows)
					return
				}
				require.NoError(t, err)
				var fields []string
				for _, f := range got.Schema().Fields() {
					fields = append(fields, f.Name+":"+text.Type(f.Type))
				}
				require.Equal(t, c.schema, strings.Join(fields, " "))
				require.Equal(t, c.rows, tabletest.Write(t, jsonl.New(jsonl.Options{}), got))
				if c.notice == "" {
					require.Empty(t, said)
					return
				}
				require.Len(t, said, 1)
				require.Contains(t, said[0], c.notice)
			}
		})
	}
}

// TestAllRows reads values behind the sample that need a wider type.
func TestAllRows(t *testing.T) {
	in := strings.Repeat("{\"a\":1}\n", 20) + "{\"a\":1.5,\"b\":\"x\"}\n"
	o := jsonl.Options{Text: provider.TextOptions{SampleRows: 10}}
	_, err := tabletest.Read(t, jsonl.New(o), tabletest.Input(in), provider.ReadOptions{})
	var v *provider.ValueError
	require.ErrorAs(t, err, &v)
	require.True(t, v.Inferred)
	o.Text.AllRows = true
	for _, random := range []bool{true, false} {
		input := tabletest.Input(in)
		if !random { // a pipe
			input.At, input.Size = nil, -1
		}
		got, err := tabletest.Read(t, jsonl.New(o), input, provider.ReadOptions{TempDir: t.TempDir()})
		require.NoError(t, err)
		require.Equal(t, "a: float64\nb: utf8\n", text.Schema(got.Schema()))
	}
}
