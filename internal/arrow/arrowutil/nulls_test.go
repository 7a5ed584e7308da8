package arrowutil_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// TestNulls makes null arrays of every type, alone and within other types.
func TestNulls(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for _, dt := range arrowgen.Types() {
		field := arrow.Field{Name: "x", Type: dt, Nullable: true}
		for _, dt := range []arrow.DataType{
			dt, arrow.StructOf(field), arrow.ListOfField(field), arrow.LargeListOf(arrow.StructOf(field)),
			arrow.ListViewOf(dt), arrow.LargeListViewOf(dt), arrow.FixedSizeListOf(3, dt), arrow.MapOf(arrow.BinaryTypes.String, dt),
		} {
			for _, n := range []int{0, 1, 20} {
				a := arrowutil.Nulls(mem, dt, n)
				require.True(t, arrow.TypeEqual(dt, a.DataType()), dt)
				require.Equal(t, n, a.Len())
				for i := range n {
					_, _, ok := kinds.Inside(a, i)
					require.False(t, ok, "%v", dt)
				}
				joined, err := array.Concatenate([]arrow.Array{a, a}, mem)
				if err == nil {
					require.Equal(t, 2*n, joined.Len())
					joined.Release()
				}
				a.Release()
			}
		}
	}
}

// TestRepeatNull repeats a null of every type.
func TestRepeatNull(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for _, dt := range arrowgen.Types() {
		one, want := arrowutil.Nulls(mem, dt, 1), arrowutil.Nulls(mem, dt, 9)
		got, err := arrowutil.Repeat(mem, one, 9)
		require.NoError(t, err, "%v", dt)
		require.True(t, arrow.TypeEqual(dt, got.DataType()), "%v", dt)
		require.True(t, array.Equal(want, got), "%v", dt)
		for _, a := range []arrow.Array{one, want, got} {
			a.Release()
		}
	}
}
