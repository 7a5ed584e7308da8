package arrowutil_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// TestUnions takes rows of unions, alone and in lists, checks them, and makes nulls of them: a row in the table of kinds is all they need.
func TestUnions(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}
	for _, dt := range []arrow.DataType{
		arrow.DenseUnionOf(fields, []arrow.UnionTypeCode{5, 2}), arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{5, 2}),
	} {
		b := array.NewBuilder(mem, arrow.ListOf(dt)).(*array.ListBuilder)
		require.NoError(t, b.UnmarshalJSON([]byte(`[[[5, 7], [2, ["a", null]]], null, [], [[2, []], [5, null], [5, -1]]]`)))
		lists := b.NewArray().(*array.List)
		b.Release()
		slice := array.NewSlice(lists.ListValues(), 1, 4)
		for _, arr := range []arrow.Array{lists, lists.ListValues(), slice} {
			require.NoError(t, arrowutil.Check(arr))
			indices := []int64{int64(arr.Len()) - 1, -1, 0, 0}
			got, err := arrowutil.Take(mem, arr, indices)
			require.NoError(t, err)
			require.NoError(t, arrowutil.Check(got))
			require.True(t, arrow.TypeEqual(arr.DataType(), got.DataType()))
			for i, k := range indices {
				_, _, ok := kinds.Inside(got, i)
				if k < 0 {
					require.False(t, ok)
				} else {
					a, b := array.NewSlice(arr, k, k+1), array.NewSlice(got, int64(i), int64(i)+1)
					require.Equal(t, -1, arrowutil.Difference(a, b))
					a.Release()
					b.Release()
				}
			}
			got.Release()
			nulls := arrowutil.Nulls(mem, arr.DataType(), 3)
			require.NoError(t, arrowutil.Check(nulls))
			_, _, ok := kinds.Inside(nulls, 2)
			require.False(t, ok)
			nulls.Release()
		}
		slice.Release()
		lists.Release()
	}
}
