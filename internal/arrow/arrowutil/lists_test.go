package arrowutil_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/text/values"
)

// TestRelist makes lists of each kind out of lists of each kind, whole, sliced and without rows.
func TestRelist(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	item := arrow.BinaryTypes.String
	types := []arrow.ListLikeType{arrow.ListOf(item), arrow.LargeListOf(item), arrow.ListViewOf(item), arrow.LargeListViewOf(item), arrow.FixedSizeListOf(2, item)}
	for _, from := range types {
		g := arrowgen.New(11)
		g.Mem = mem
		whole := g.Array(from, 60)
		for _, bounds := range [][2]int64{{0, 60}, {7, 41}, {20, 20}} {
			arr := array.NewSlice(whole, bounds[0], bounds[1])
			for _, to := range types {
				name := fmt.Sprintf("%s as %s, %d rows", from, to, arr.Len())
				got, err := arrowutil.Relist(mem, arr, to, nil)
				if to.ID() == arrow.FIXED_SIZE_LIST && from.ID() != arrow.FIXED_SIZE_LIST && arr.Len() > 0 {
					require.ErrorContains(t, err, "items, where", name)
					continue
				}
				require.NoError(t, err, name)
				require.NoError(t, arrowutil.Check(got), name)
				require.Equal(t, to, got.DataType(), name)
				require.Equal(t, arr.Len(), got.Len(), name)
				want, have := values.JSON(arr), values.JSON(got)
				for i := range arr.Len() {
					require.Equal(t, string(want(nil, i)), string(have(nil, i)), name)
				}
				got.Release()
			}
			arr.Release()
		}
		whole.Release()
	}
}

func TestRelistConverts(t *testing.T) {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64)
	for _, n := range []int{2, 0, 3} {
		b.Append(true)
		for range n {
			b.ValueBuilder().(*array.Int64Builder).Append(7)
		}
	}
	b.AppendNull()
	var rows []int
	_, err := arrowutil.Relist(memory.DefaultAllocator, b.NewArray(), arrow.LargeListOf(arrow.BinaryTypes.String), func(items arrow.Array, row func(int) int) (arrow.Array, error) {
		for i := range items.Len() {
			rows = append(rows, row(i))
		}
		return nil, fmt.Errorf("stop")
	})
	require.EqualError(t, err, "stop")
	require.Equal(t, []int{0, 0, 2, 2, 2}, rows)
}
