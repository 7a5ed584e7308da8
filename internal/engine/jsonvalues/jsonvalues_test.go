package jsonvalues_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
)

func textsOf(list ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for _, text := range list {
		if text == "" {
			b.AppendNull()
		} else {
			b.Append(text)
		}
	}
	return b.NewArray()
}

// Values of another kind are null, as is what is missing, and what is no JSON up to the value.
func TestExtract(t *testing.T) {
	texts := textsOf(`{"a":{"b":"x"}}`, `{"a":{"b":5}}`, `{"a":{"b":true}}`, `{"a":{"b":null}}`, `{"a":{"b":[1, 2]}}`, `{"a":1}`, `{"a":{"b"`, "")
	for kind, want := range map[jsonvalues.Kind]string{
		jsonvalues.Any:    "[true true true (null) true (null) (null) (null)]",
		jsonvalues.String: `["x" (null) (null) (null) (null) (null) (null) (null)]`,
		jsonvalues.Bool:   "[(null) (null) true (null) (null) (null) (null) (null)]",
		jsonvalues.Text:   `["x" "5" "true" (null) "[1,2]" (null) (null) (null)]`,
	} {
		for from := range 2 {
			got, err := jsonvalues.Column{Path: []string{"a", "b"}, Kind: kind}.Extract(array.NewSlice(texts, int64(from), int64(texts.Len())))
			require.NoError(t, err)
			if from == 0 {
				require.Equal(t, want, fmt.Sprint(got))
			}
			require.Equal(t, texts.Len()-from, got.Len())
		}
	}
	numbers, err := jsonvalues.Column{Path: []string{"a", "b"}, Kind: jsonvalues.Number}.Extract(texts)
	require.NoError(t, err)
	require.Equal(t, texts.Len()-1, numbers.NullN())
	_, err = jsonvalues.Column{}.Extract(array.NewNull(1))
	require.ErrorContains(t, err, "array of type null has no JSON")
}

// The elements of an array are rows of their own.
func TestElements(t *testing.T) {
	arrays, err := jsonvalues.FindArrays(textsOf(`{"a":[{"b":"x"},{"b":"y"}]}`, `{"a":{}}`, `{"a":[]}`, `[{"a":{"b":"z"}}]`, `{"a":[1`, ""), []string{"a"})
	require.NoError(t, err)
	require.Equal(t, []byte{0b1101}, arrays.Valid)
	require.Equal(t, []int{0, 2, 2, 2, 3, 3, 3}, arrays.Ends)
	got := jsonvalues.Column{Path: []string{"a", "b"}, Kind: jsonvalues.String}.Elements(arrays, 1)
	require.Equal(t, `["x" "y" "z"]`, fmt.Sprint(got))
}

func FuzzExtract(f *testing.F) {
	f.Add(`{"a":{"b":"x"}}`)
	f.Add(`{"a":[{"b":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for kind := jsonvalues.Any; kind <= jsonvalues.Text; kind++ {
			c := jsonvalues.Column{Path: []string{"a", "b"}, Kind: kind}
			arr, err := c.Extract(textsOf(text, "", text))
			require.NoError(t, err)
			require.Equal(t, 3, arr.Len())
			arrays, err := jsonvalues.FindArrays(textsOf(text), []string{"a"})
			require.NoError(t, err)
			require.Equal(t, arrays.Ends[1], c.Elements(arrays, 1).Len())
		}
	})
}
