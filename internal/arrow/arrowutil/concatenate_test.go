package arrowutil_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Arrays without dictionary codes, or with lists that have none, are joined with others.
func TestConcatenateEmptyDictionaries(t *testing.T) {
	coded := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}
	object := arrow.StructOf(arrow.Field{Name: "c", Type: coded, Nullable: true})
	for _, c := range []struct {
		dt     arrow.DataType
		values []string // elements of arrays
	}{
		{coded, []string{`"a", "b"`, ``, `"c", null`, ``}},
		{object, []string{`{"c": "a"}`, ``, `{"c": "b"}, null`}},
		{arrow.ListOf(coded), []string{`["a", "b"]`, `[], null`, ``, `["c", null]`, `[]`}},
		{arrow.ListOf(object), []string{`[{"c": "a"}]`, `[], []`, ``, `[{"c": "b"}, {"c": "c"}]`, `[]`}},
		{arrow.FixedSizeListOf(2, coded), []string{`["a", "b"]`, ``, `["c", "a"], null`}},
		{arrow.MapOf(arrow.PrimitiveTypes.Int8, coded), []string{`[{"key": 1, "value": "a"}]`, `[]`, `[{"key": 2, "value": "b"}]`, ``}},
	} {
		for first := range c.values {
			t.Run(fmt.Sprint(c.dt, first), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer mem.AssertSize(t, 0)
				var arrays []arrow.Array
				var want []string
				defer func() { arrowutil.ReleaseAll(arrays) }()
				for i := range c.values {
					text := c.values[(first+i)%len(c.values)]
					a, _, err := array.FromJSON(mem, c.dt, strings.NewReader("["+text+"]"))
					require.NoError(t, err)
					arrays = append(arrays, a)
					for row := range a.Len() {
						want = append(want, a.ValueStr(row))
					}
				}
				got, err := arrowutil.Concatenate(mem, arrays)
				require.NoError(t, err)
				defer got.Release()
				require.Equal(t, len(want), got.Len())
				for row, text := range want {
					require.Equal(t, text, got.ValueStr(row))
				}
			})
		}
	}
}
