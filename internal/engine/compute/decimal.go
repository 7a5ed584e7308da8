package compute

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/text"
)

// int128 is the coefficient of a decimal.
type int128 = decimal128.Num

// decimals binds arithmetic of two decimals, exactly. dt is the type that holds the values of both.
func (b *binder) decimals(n *ast.Node, x, y *expr, dt arrow.DataType) (*expr, error) {
	ap, as := decimalOf(x.dt)
	bp, bs := decimalOf(y.dt)
	precision, scale := decimalOf(dt)
	var err error
	if n.Op == ast.OpMul {
		if scale = as + bs; scale > 38 {
			return nil, fail(n, "the product of %s and %s has %d digits behind the point, more than 38", text.Type(x.dt), text.Type(y.dt), scale)
		}
		precision = ap + bp
		if x, err = b.widened(x, decimalType(ap, as)); err == nil {
			y, err = b.widened(y, decimalType(bp, bs))
		}
	} else {
		if n.Op != ast.OpMod {
			precision++
		}
		if x, err = b.widened(x, decimalType(max(precision, ap-as+scale), scale)); err == nil {
			y, err = b.widened(y, decimalType(max(precision, bp-bs+scale), scale))
		}
	}
	if err != nil {
		return nil, err
	}
	out := function(n, decimalType(precision, scale), []*expr{x, y}, nil)
	most := decimalLimit(38)
	one := decimalOps[n.Op]
	// Results of fewer than 38 digits are never too large.
	work := func(dst, a, b []int128) bool {
		ok := true
		for i := range dst {
			r, fits := one(a[i], b[i])
			dst[i] = r
			ok = ok && fits && within(r, most)
		}
		return ok
	}
	fails := func(x, y int128) string {
		if r, fits := one(x, y); fits && within(r, most) {
			return ""
		}
		return tooLarge(x.ToString(scaleOf(as, scale, n.Op)), n.Op, y.ToString(scaleOf(bs, scale, n.Op)), "38 digits")
	}
	out.eval = func(e *env) (arrow.Array, error) { return binary(e, out, x, y, work, fails) }
	return out, nil
}

// scaleOf is the scale of an operand: its own in products, that of the result elsewhere.
func scaleOf(own, result int32, o ast.Op) int32 {
	if o == ast.OpMul {
		return own
	}
	return result
}

// decimalLimit is the least number of more than some digits.
func decimalLimit(digits int32) int128 {
	if digits <= 38 {
		return decimal128.GetScaleMultiplier(int(digits))
	}
	return decimal128.New(math.MaxInt64, math.MaxUint64)
}

// within reports whether -most < v < most.
func within(v, most int128) bool {
	return !v.Abs().GreaterEqual(most) && v != decimal128.New(math.MinInt64, 0)
}

var decimalOps = map[ast.Op]func(x, y int128) (int128, bool){
	ast.OpAdd: func(x, y int128) (int128, bool) {
		s := x.Add(y)
		return s, (x.HighBits()^s.HighBits())&(y.HighBits()^s.HighBits()) >= 0
	},
	ast.OpSub: func(x, y int128) (int128, bool) {
		s := x.Sub(y)
		return s, (x.HighBits()^y.HighBits())&(x.HighBits()^s.HighBits()) >= 0
	},
	ast.OpMul: multiply,
	ast.OpMod: func(x, y int128) (int128, bool) {
		if y == (int128{}) {
			return y, true
		}
		if a, ok := narrow(x); ok {
			if b, ok := narrow(y); ok && b != -1 {
				return decimal128.FromI64(a % b), true
			}
		}
		_, rest := x.Div(y)
		return rest, true
	},
}

// narrow is a number as an int64, if it is one.
func narrow(v int128) (int64, bool) {
	lo := int64(v.LowBits())
	return lo, v.HighBits() == lo>>63
}

// multiply is the product of two numbers, if it fits.
func multiply(x, y int128) (int128, bool) {
	negative := (x.HighBits() ^ y.HighBits()) < 0
	x, y = x.Abs(), y.Abs()
	xh, xl, yh, yl := uint64(x.HighBits()), x.LowBits(), uint64(y.HighBits()), y.LowBits()
	hi, lo := bits.Mul64(xl, yl)
	over1, m1 := bits.Mul64(xh, yl)
	over2, m2 := bits.Mul64(xl, yh)
	hi, c1 := bits.Add64(hi, m1, 0)
	hi, c2 := bits.Add64(hi, m2, 0)
	ok := over1|over2|c1|c2 == 0 && (xh == 0 || yh == 0) && int64(hi) >= 0
	out := decimal128.New(int64(hi), lo)
	if negative {
		out = out.Negate()
	}
	return out, ok
}

// rescale changes the scale of a number. Digits behind the point are rounded half away from zero.
func rescale(v int128, by int32) (int128, bool) {
	switch {
	case by == 0:
		return v, true
	case by > 38:
		return v, v == (int128{})
	case by > 0:
		return multiply(v, decimal128.GetScaleMultiplier(int(by)))
	case by < -38:
		return int128{}, true
	}
	q, r := v.Div(decimal128.GetScaleMultiplier(int(-by)))
	if half := decimal128.GetHalfScaleMultiplier(int(-by)); !r.Abs().Less(half) {
		if v.Sign() < 0 {
			return q.Sub(decimal128.FromI64(1)), true
		}
		return q.Add(decimal128.FromI64(1)), true
	}
	return q, true
}

// toFloat is the float nearest to a decimal.
func toFloat(v int128, scale int32) float64 {
	if n, ok := narrow(v); ok && n > -1<<53 && n < 1<<53 && scale >= 0 && scale <= 22 {
		return float64(n) / math.Pow10(int(scale)) // both are exact
	}
	r := new(big.Rat).SetInt(v.BigInt())
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale < 0 {
		r.Mul(r, new(big.Rat).SetInt(power))
	} else {
		r.Quo(r, new(big.Rat).SetInt(power))
	}
	f, _ := r.Float64()
	return f
}

// fromFloat is the decimal of a scale nearest to a float.
func fromFloat(v float64, scale int32, most int128) (int128, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return int128{}, false
	}
	r := new(big.Rat).SetFloat64(v)
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	if scale < 0 {
		power.Inv(power)
	}
	r.Mul(r, power)
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice.Abs(twice), r.Denom())
	n := twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1))
	if r.Sign() < 0 {
		n.Neg(n)
	}
	if n.BitLen() > 127 {
		return int128{}, false
	}
	out := decimal128.FromBigInt(n)
	return out, within(out, most)
}

func outOfRange(v, typ string) string { return fmt.Sprintf("%s is out of the range of %s", v, typ) }
