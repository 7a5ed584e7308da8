package text_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/text"
)

func TestTypeText(t *testing.T) {
	for _, c := range arrowtest.Columns() {
		src := text.Type(c.Type)
		got, err := text.ParseType(src)
		require.NoError(t, err, src)
		require.True(t, arrow.TypeEqual(c.Type, got), "%s: %s", src, got)
		require.Equal(t, src, text.Type(got))
	}
	s := `"a:b": int64 not null` + "\n" + `"": struct<"x,y": utf8, z: map<utf8, list<int8 not null>, sorted>>` + "\n"
	f, err := text.ParseSchema(s)
	require.NoError(t, err)
	require.Equal(t, s, text.Schema(arrow.NewSchema(f, nil)))
	f, err = text.ParseSchema(" a:string,b : double # comment, c:int8\n# all of it\n\nd:decimal(5,2), e:date, f:dictionary<int8,text,ordered>")
	require.NoError(t, err)
	require.Equal(t, "a: utf8\nb: float64\nd: decimal128(5, 2)\ne: date32\nf: dictionary<int8, utf8, ordered>\n", text.Schema(arrow.NewSchema(f, nil)))
	for src, want := range map[string]string{
		"a":                          `write name:type`,
		"a:":                         `expected a type`,
		"a:int65":                    `unknown type "int65"`,
		"a:float":                    `use float32 or float64`,
		"a:list<int64":               `expected '>'`,
		"a:timestamp[h]":             `unknown unit`,
		"a:time32[ns]":               `unknown unit in time32[ns]`,
		"a:decimal(99,2)":            `precision`,
		"a:decimal":                  `needs precision and scale`,
		"a:fixed_size_list<int8>[0]": `do not suit`,
		"a:dense_union<int8>":        `name:type`,
		"a:extension<x, int8>":       `unknown type "extension"`,
		"a:int64 b:int64":            `unexpected "b:int64"`,
		":int64":                     `no name`,
		`"a:int64`:                   `the quotes are not closed`,
		"a:map<utf8>":                `needs two types`,
		"a:dictionary<utf8,utf8>":    `codes are integers`,
		"a:" + strings.Repeat("list<", 100) + "int8": `nested deeper`,
	} {
		_, err := text.ParseSchema(src)
		require.ErrorContains(t, err, want, src)
	}
}

// TestHiddenCharacters quotes names with characters that move the cursor or change the direction of text, and reads
// them back.
func TestHiddenCharacters(t *testing.T) {
	for name, want := range map[string]string{
		"a\u202eb": `"a\u202eb": int64`, "\x1b[31m": `"\x1b[31m": int64`, "a\u2066": `"a\u2066": int64`, "a\xff": `"a\xff": int64`,
		"\u200b": `"\u200b": int64`, "żółw": "żółw: int64", "🐢": "🐢: int64",
	} {
		f := arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		require.Equal(t, want, text.Field(f))
		got, err := text.ParseSchema(text.Field(f))
		require.NoError(t, err)
		require.Equal(t, []arrow.Field{f}, got)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`a:list<struct<"b c":decimal(3,1) not null>>`)
	f.Fuzz(func(t *testing.T, src string) {
		fs, err := text.ParseSchema(src)
		if err != nil {
			return
		}
		first := text.Schema(arrow.NewSchema(fs, nil))
		again, err := text.ParseSchema(first)
		require.NoError(t, err, first)
		require.Equal(t, first, text.Schema(arrow.NewSchema(again, nil)))
	})
}
