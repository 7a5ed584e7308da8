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
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
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

// TestConcatenateTypes joins slices of arrays of every type.
func TestConcatenateTypes(t *testing.T) {
	for _, dt := range arrowgen.Types() {
		if d, ok := dt.(*arrow.DictionaryType); ok && d.ValueType.ID() == arrow.LARGE_BINARY {
			continue // which arrow-go does not join
		}
		t.Run(fmt.Sprint(dt), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			g := arrowgen.New(3)
			var parts []arrow.Array
			defer func() { arrowutil.ReleaseAll(parts) }()
			for _, span := range [][2]int64{{0, 30}, {7, 7}, {5, 60}, {0, 100}} {
				whole := g.Array(dt, 100)
				parts = append(parts, array.NewSlice(whole, span[0], span[1]))
				whole.Release()
			}
			got, err := arrowutil.Concatenate(mem, parts)
			require.NoError(t, err)
			defer got.Release()
			require.True(t, arrow.TypeEqual(dt, got.DataType()))
			row := 0
			for _, p := range parts {
				part := array.NewSlice(got, int64(row), int64(row+p.Len()))
				require.Equal(t, -1, arrowutil.Difference(p, part))
				part.Release()
				row += p.Len()
			}
			require.Equal(t, row, got.Len())
		})
	}
}
