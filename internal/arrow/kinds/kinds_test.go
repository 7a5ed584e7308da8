package kinds_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

var (
	numbers = arrow.PrimitiveTypes.Int64
	strings = arrow.BinaryTypes.String
	pair    = []arrow.Field{{Name: "a", Type: numbers, Nullable: true}, {Name: "b", Type: strings, Nullable: true}}
)

// nested are types of each kind.
var nested = map[kinds.Shape][]arrow.DataType{
	kinds.Wrap: {
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: strings, Ordered: true},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, numbers), extension.JSON(strings), extension.Bool8(),
	},
	kinds.Record: {arrow.StructOf(pair...), arrow.StructOf()},
	kinds.List: {
		arrow.ListOf(numbers), arrow.LargeListOf(numbers), arrow.ListViewOf(numbers), arrow.LargeListViewOf(numbers),
		arrow.FixedSizeListOf(3, numbers), arrow.MapOf(strings, numbers), arrow.ListOf(arrow.StructOf(pair...)),
	},
	kinds.Choice: {arrow.SparseUnionOf(pair, []arrow.UnionTypeCode{5, 9}), arrow.DenseUnionOf(pair, []arrow.UnionTypeCode{5, 9})},
}

// replace gives all types inside of a type, then the type itself, to change, and returns what they become.
func replace(dt arrow.DataType, change func(arrow.DataType) arrow.DataType) arrow.DataType {
	fields := kinds.Fields(dt)
	for i := range fields {
		fields[i].Type = replace(fields[i].Type, change)
	}
	return change(kinds.With(dt, fields))
}

func TestTypes(t *testing.T) {
	for shape, types := range nested {
		for _, dt := range types {
			require.Equal(t, shape, kinds.Of(dt), dt)
			fields := kinds.Fields(dt)
			require.Len(t, kinds.Names(dt), len(fields), dt)
			same := kinds.With(dt, fields)
			require.Truef(t, arrow.TypeEqual(dt, same, arrow.CheckMetadata()), "%s became %s", dt, same)
			all := 0
			require.False(t, kinds.Has(dt, func(arrow.DataType) bool { all++; return false }))
			require.GreaterOrEqual(t, all, 1+len(fields))
			wide := replace(dt, func(t arrow.DataType) arrow.DataType {
				if t.ID() == arrow.INT64 {
					return arrow.PrimitiveTypes.Float64
				}
				return t
			})
			require.False(t, kinds.HasID(wide, arrow.INT64), wide)
			require.Equal(t, kinds.HasID(dt, arrow.INT64), kinds.HasID(wide, arrow.FLOAT64))
			require.Equal(t, shape == kinds.Wrap, kinds.Inner(dt) != nil)
		}
	}
	require.Equal(t, kinds.Leaf, kinds.Of(numbers))
	require.Empty(t, kinds.Fields(numbers))
	deep := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: extension.JSON(strings)}
	require.Equal(t, "utf8", text.Type(kinds.Unwrapped(deep)))
	require.Equal(t, "json", text.Type(kinds.Decoded(deep)))
	require.Equal(t, deep, kinds.Storage(deep))
	require.Equal(t, []string{"key", "value"}, kinds.Names(arrow.MapOf(strings, numbers)))
	// An extension is of its storage only.
	require.Equal(t, arrow.BinaryTypes.Binary, kinds.WithTypes(extension.JSON(strings), []arrow.DataType{arrow.BinaryTypes.Binary}))
}

// union makes a union of numbers and strings: 1, "x", null, 4, "y".
func union(dt arrow.DataType) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	dense, _ := b.(*array.DenseUnionBuilder)
	add := func(code arrow.UnionTypeCode, child int, value string) {
		b.(interface{ Append(arrow.UnionTypeCode) }).Append(code)
		for i := range 2 {
			c := b.(array.UnionBuilder).Child(i)
			switch {
			case i != child && dense != nil:
			case i != child || value == "":
				c.AppendNull()
			default:
				if err := c.AppendValueFromString(value); err != nil {
					panic(err)
				}
			}
		}
	}
	add(5, 0, "1")
	add(9, 1, "x")
	add(9, 1, "")
	add(5, 0, "4")
	add(9, 1, "y")
	return b.NewArray()
}

// arrays are arrays of a type: whole, sliced, without rows.
func arrays(dt arrow.DataType) []arrow.Array {
	var whole arrow.Array
	if kinds.Of(dt) == kinds.Choice {
		whole = union(dt)
	} else {
		whole = arrowgen.New(7).Array(dt, 50)
	}
	n := int64(whole.Len())
	return []arrow.Array{whole, array.NewSlice(whole, 2, n-1), array.NewSlice(whole, n/2, n/2), arrowutil.Nulls(memory.DefaultAllocator, arrow.Null, 3)}
}

func TestArrays(t *testing.T) {
	for _, types := range nested {
		for _, dt := range types {
			for k, arr := range arrays(dt) {
				name := fmt.Sprintf("%s, %d rows, %d", dt, arr.Len(), k)
				v, isNull, asJSON := kinds.Open(arr), kinds.Nulls(arr), values.JSON(arr)
				for i := range arr.Len() {
					at, in, ok := kinds.Inside(arr, i)
					require.Equal(t, isNull != nil && isNull(i), !ok, name)
					if !ok {
						require.Equal(t, "null", string(asJSON(nil, i)), name)
						continue
					}
					require.NotEqual(t, kinds.Wrap, kinds.Of(at.DataType()))
					if v.Shape == kinds.Choice || v.Shape == kinds.Wrap && dt.ID() != arrow.EXTENSION {
						require.Equal(t, string(values.JSON(at)(nil, in)), string(asJSON(nil, i)), name)
					}
					if v.Shape == kinds.List {
						from, to := v.Range(i)
						require.LessOrEqual(t, from, to, name)
						for _, p := range v.Parts {
							require.LessOrEqual(t, to, int64(p.Len()), name)
						}
					}
				}
				if v.Shape == kinds.List && dt.ID() != arrow.LIST_VIEW && dt.ID() != arrow.LARGE_LIST_VIEW {
					from, to := v.Span(arr.Len())
					total := int64(0)
					for i := range arr.Len() {
						a, b := v.Range(i)
						total += b - a
					}
					require.Equal(t, to-from, total, name)
				}
				same, err := kinds.Rebuild(arr.Data(), arr.DataType(), func(_ int, part arrow.ArrayData) (arrow.ArrayData, error) {
					part.Retain()
					return part, nil
				})
				require.NoError(t, err)
				again := array.MakeFromData(same)
				require.NoError(t, arrowutil.Check(again), name)
				require.Negative(t, arrowutil.Difference(arr, again), name)
				for i := range arr.Len() {
					require.Equal(t, string(asJSON(nil, i)), string(values.JSON(again)(nil, i)), name)
				}
			}
		}
	}
}

func TestUnion(t *testing.T) {
	for _, dt := range nested[kinds.Choice] {
		arr := union(dt)
		var got string
		for i := range arr.Len() {
			got += string(values.JSON(arr)(nil, i)) + " "
		}
		require.Equal(t, `1 "x" null 4 "y" `, got)
	}
}

func TestRebuildKeepsErrors(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	g := arrowgen.New(3)
	g.Mem = mem
	for _, dt := range []arrow.DataType{arrow.StructOf(pair...), arrow.MapOf(strings, numbers), extension.JSON(strings), nested[kinds.Wrap][0]} {
		arr := g.Array(dt, 20)
		last := len(kinds.Fields(dt)) - 1
		_, err := kinds.Rebuild(arr.Data(), dt, func(i int, part arrow.ArrayData) (arrow.ArrayData, error) {
			if i == last {
				return nil, fmt.Errorf("part %d", i)
			}
			part.Retain()
			return part, nil
		})
		require.EqualError(t, err, fmt.Sprintf("part %d", last))
		arr.Release()
	}
}
