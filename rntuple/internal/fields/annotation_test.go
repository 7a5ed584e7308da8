package fields

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// Every type that RNTuple lacks is found in the description again, and the text in front of it is as it was.
func TestAnnotations(t *testing.T) {
	count := 0
	for _, dt := range arrowgen.Types() {
		if kind, bytes := Storage(dt); kind == 0 && bytes == 0 {
			continue
		}
		count++
		for _, text := range []string{"", "a comment", "[arrow: date32]", "a [arrow: none]", " "} {
			d, err := Annotate(text, dt)
			require.NoError(t, err)
			rest, got, found := types.cut(d)
			require.True(t, found)
			require.Equal(t, text, rest)
			require.True(t, arrow.TypeEqual(dt, got), "%v %v", dt, got)
		}
	}
	require.Greater(t, count, 30)

	// Other types need no annotation, unless the description looks like one.
	for text, want := range map[string]string{
		"": "", "a": "a", "[arrow: no type]": "[arrow: no type]", "x[arrow: date32]": "x[arrow: date32]",
		"x [arrow: date32]": "x [arrow: date32] [arrow: none]", "[arrow: none]": "[arrow: none] [arrow: none]",
	} {
		d, err := Annotate(text, arrow.PrimitiveTypes.Int32)
		require.NoError(t, err)
		require.Equal(t, want, d)
		rest, dt, _ := types.cut(d)
		require.Equal(t, text, rest)
		require.Nil(t, dt)
	}

	_, err := Annotate("", &arrow.TimestampType{Unit: arrow.Second, TimeZone: "a [arrow: date32"})
	require.ErrorContains(t, err, "timestamp")
}

// No text makes the parser fail otherwise than by finding nothing.
func FuzzAnnotation(f *testing.F) {
	for _, dt := range arrowgen.Types() {
		if d, err := Annotate("text", dt); err == nil {
			f.Add(d)
		}
	}
	f.Add("[arrow: decimal128(, )]")
	f.Add("[arrow: time32[")
	f.Fuzz(func(t *testing.T, text string) {
		rest, dt, found := types.cut(text)
		require.True(t, strings.HasPrefix(text, rest))
		if found && dt != nil {
			again, err := Annotate(rest, dt)
			require.NoError(t, err)
			_, back, _ := types.cut(again)
			require.True(t, arrow.TypeEqual(dt, back))
		}
	})
}

// Unions and extension types are found in descriptions again, whatever their names and the text in front of them.
func TestUnionsAndExtensions(t *testing.T) {
	texts := []string{"", "a comment", `[arrow: union 1 "a"]`, `[arrow: extension "a" ""]`, "[arrow: date32]", "x [arrow: none]"}
	for _, text := range texts {
		for _, e := range []Extension{{"arrow.uuid", ""}, {`a "b" [arrow: `, "{}\n"}} {
			d, err := AnnotateExtension(text, e)
			require.NoError(t, err)
			rest, got, _ := extensions.cut(d)
			require.Equal(t, text, rest)
			require.Equal(t, e, got)
		}
		for _, u := range []Union{{{3, "none"}, {0, "a"}}, {{0, "none"}, {1, "]"}, {127, `", 5 "`}}} {
			d, err := AnnotateUnion(text, u)
			require.NoError(t, err)
			rest, got, _ := unions.cut(d)
			require.Equal(t, text, rest)
			require.Equal(t, u, got)
		}
	}
	d, err := AnnotateUnion("text", defaultUnion(3))
	require.NoError(t, err)
	require.Equal(t, "text", d)
	d, err = AnnotateUnion(`[arrow: union 0 "n", 1 "a"]`, defaultUnion(1))
	require.NoError(t, err)
	require.Equal(t, `[arrow: union 0 "n", 1 "a"] [arrow: none]`, d)
	_, err = AnnotateExtension("", Extension{`[arrow: extension "x" "`, ""})
	require.Error(t, err)
	for _, wrong := range []string{`[arrow: union ]`, `[arrow: union 128 "a"]`, `[arrow: union 1 "a", 1 "b"]`, `[arrow: union 1 "a",]`, `[arrow: union 1]`, `[arrow: union -1 "a"]`} {
		_, u, _ := unions.cut(wrong)
		require.Nil(t, u, wrong)
	}
}

func FuzzUnion(f *testing.F) {
	f.Add(`text [arrow: union 0 "none", 5 "a"]`)
	f.Add(`[arrow: extension "arrow.uuid" ""]`)
	f.Fuzz(func(t *testing.T, text string) {
		if rest, u, _ := unions.cut(text); u != nil {
			again, err := AnnotateUnion(rest, u)
			require.NoError(t, err)
			_, back, _ := unions.cut(again)
			require.True(t, back == nil || slices.Equal(u, back))
		}
		if rest, e, _ := extensions.cut(text); e.Name != "" {
			again, err := AnnotateExtension(rest, e)
			require.NoError(t, err)
			_, back, _ := extensions.cut(again)
			require.Equal(t, e, back)
		}
	})
}

// An annotation of a whole type is used if the values of the field suit it, and is part of the description if not.
func TestTypedFields(t *testing.T) {
	text := envelope.Field{Name: "f", TypeName: "std::string"}
	for annotation, want := range map[string]string{
		"dictionary[int32,ordered]/utf8_view": "dictionary<values=string_view, indices=int32, ordered=true>",
		"ree[int16]/large_utf8":               "run_end_encoded<run_ends: int16, values: large_utf8>",
		"utf8_view":                           "string_view",
		"":                                    "utf8", "int32": "utf8", "list_view": "utf8", "dictionary[float32]/utf8": "utf8", "ree[int8]/utf8": "utf8", "map[sorted]": "utf8",
		"extension[no]/utf8": "utf8", "extension[arrow.uuid]/utf8": "utf8", "dictionary[int32]/binary_view[": "utf8", "timestamp[us]": "utf8",
		strings.Repeat("dictionary[int8]/", 100) + "utf8": "utf8",
	} {
		text.Description = "a text [arrow: type " + annotation + "]"
		s := &envelope.Schema{Fields: []envelope.Field{text}, Columns: []envelope.Column{{Type: column.Index64, Bits: 64}, {Type: column.Char, Bits: 8}}}
		require.NoError(t, s.Check())
		tree := New(s, Options{})
		require.Empty(t, tree.Skipped)
		f := tree.Fields[0].Arrow
		require.Equal(t, want, f.Type.String(), annotation)
		description, _ := f.Metadata.GetValue(KeyDescription)
		require.Equal(t, want == "utf8", description == text.Description, annotation)
	}

	for _, text := range []string{"", "a comment", "[arrow: type utf8_view]", "[arrow: date32]"} {
		for _, dt := range arrowgen.Types() {
			d, err := AnnotateType(text, dt)
			require.NoError(t, err)
			if rest, back, _ := wholeTypes.cut(d); NeedsType(dt) {
				require.Equal(t, text, rest)
				require.NotEmpty(t, back)
			} else if text != "[arrow: type utf8_view]" {
				require.Equal(t, text, d)
			}
		}
	}
}
