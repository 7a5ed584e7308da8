package valueset

import (
	"math/big"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSets compares unions, intersections and complements of sets with the membership of every value.
func TestSets(t *testing.T) {
	d := DomainOf(arrow.PrimitiveTypes.Int8)
	number := func(v int) point { return point{n: big.NewInt(int64(v))} }
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Set {
			var spans []span
			for range rapid.IntRange(0, 4).Draw(t, name) {
				bounds := []int{rapid.IntRange(-128, 128).Draw(t, "bound"), rapid.IntRange(-128, 128).Draw(t, "bound")}
				slices.Sort(bounds)
				spans = append(spans, span{number(bounds[0]), number(bounds[1])})
			}
			return newSet(spans, false)
		}
		a, b := draw("a"), draw("b")
		union, both, not := Union(a, b), a.And(b), d.Not(a)
		for v := int64(-128); v < 128; v++ {
			require.Equal(t, a.contains(v) || b.contains(v), union.contains(v), "union, %d", v)
			require.Equal(t, a.contains(v) && b.contains(v), both.contains(v), "and, %d", v)
			require.Equal(t, !a.contains(v), not.contains(v), "not, %d", v)
		}
		require.True(t, d.isAll(Union(a, not)))
		require.True(t, a.And(not).Empty())
	})
}
