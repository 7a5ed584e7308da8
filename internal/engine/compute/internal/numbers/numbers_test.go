package numbers

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/engine/ast"
)

// Sums, differences and products of decimals are those of numbers of any size, and a loop reports those of more than 38 digits.
func TestDecimalLoop(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) Int128 {
		lo := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64})).Draw(t, "low")
		if rapid.IntRange(0, 9).Draw(t, "wide") > 0 {
			return decimal128.FromI64(lo)
		}
		return decimal128.New(rapid.Int64().Draw(t, "high")>>rapid.IntRange(2, 60).Draw(t, "shift"), uint64(lo))
	})
	most := Limit(38).BigInt()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		a, b := rapid.SliceOfN(number, n, n).Draw(t, "a"), rapid.SliceOfN(number, n, n).Draw(t, "b")
		for op, exact := range map[ast.Op]func(z, x, y *big.Int) *big.Int{ast.OpAdd: (*big.Int).Add, ast.OpSub: (*big.Int).Sub, ast.OpMul: (*big.Int).Mul} {
			dst, fits := make([]Int128, n), true
			ok := DecimalLoop(op)(dst, a, b)
			for i := range dst {
				want := exact(new(big.Int), a[i].BigInt(), b[i].BigInt())
				if want.CmpAbs(most) >= 0 {
					fits = false
					continue
				}
				require.Equal(t, want.String(), dst[i].BigInt().String(), "%v %s %v", a[i].BigInt(), ast.Words[op], b[i].BigInt())
			}
			require.Equal(t, fits, ok, ast.Words[op])
		}
	})
}
