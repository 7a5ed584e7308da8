// Package numbers computes with integers, floats and decimals, and tells which results are out of range.
package numbers

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/amudai/amudai-go/internal/engine/ast"
)

// Int128 is the coefficient of a decimal.
type Int128 = decimal128.Num

// Loop computes some values. It reports whether all of them are right.
type Loop[T any] func(dst, a, b []T) bool

// Int64Loops are the operations on int64.
var Int64Loops = map[ast.Op]Loop[int64]{
	ast.OpAdd: func(dst, a, b []int64) bool {
		over := int64(0)
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			s := a[i] + b[i]
			over |= (a[i] ^ s) & (b[i] ^ s)
			dst[i] = s
		}
		return over >= 0
	},
	ast.OpSub: func(dst, a, b []int64) bool {
		over := int64(0)
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			s := a[i] - b[i]
			over |= (a[i] ^ b[i]) & (a[i] ^ s)
			dst[i] = s
		}
		return over >= 0
	},
	ast.OpMul: func(dst, a, b []int64) bool {
		var bitsA, bitsB uint64
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			x, y := a[i], b[i]
			dst[i] = x * y
			bitsA |= uint64(x ^ x>>63)
			bitsB |= uint64(y ^ y>>63)
		}
		if bits.Len64(bitsA)+bits.Len64(bitsB) < 63 {
			return true
		}
		ok := true
		for i := range dst {
			ok = ok && fits(a[i], b[i])
		}
		return ok
	},
	ast.OpIntDiv: func(dst, a, b []int64) bool {
		ok := true
		for i, y := range b {
			switch {
			case y == 0:
				dst[i] = 0
			case y == -1:
				dst[i] = -a[i]
				ok = ok && a[i] != math.MinInt64
			default:
				dst[i] = a[i] / y
			}
		}
		return ok
	},
	ast.OpMod: remainder[int64], // that of the least one and -1 is 0
}

func remainder[T int64 | uint64](dst, a, b []T) bool {
	for i, y := range b {
		if dst[i] = 0; y != 0 {
			dst[i] = a[i] % y
		}
	}
	return true
}

// fits reports whether a product is an int64.
func fits(x, y int64) bool {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	return int64(hi)-x>>63&y-y>>63&x == int64(lo)>>63
}

// Int64Fails says why an operation on int64 has no result, or "".
func Int64Fails(o ast.Op) func(x, y int64) string {
	exact := exactly(o)
	return func(x, y int64) string {
		if y == 0 && (o == ast.OpIntDiv || o == ast.OpMod) || exact(big.NewInt(x), big.NewInt(y)).IsInt64() {
			return ""
		}
		return TooLarge(fmt.Sprint(x), o, fmt.Sprint(y), "an int64")
	}
}

// exactly computes an operation on numbers of any size.
func exactly(o ast.Op) func(x, y *big.Int) *big.Int {
	return func(x, y *big.Int) *big.Int {
		switch o {
		case ast.OpAdd:
			return x.Add(x, y)
		case ast.OpSub:
			return x.Sub(x, y)
		case ast.OpMul:
			return x.Mul(x, y)
		case ast.OpIntDiv:
			return x.Quo(x, y)
		}
		return x.Rem(x, y)
	}
}

// TooLarge is the message about a result that its type does not hold.
func TooLarge(x string, o ast.Op, y, typ string) string {
	return fmt.Sprintf("%s %s %s is out of the range of %s", x, ast.Words[o], y, typ)
}

// Uint64Loops are the operations on uint64.
var Uint64Loops = map[ast.Op]Loop[uint64]{
	ast.OpAdd: func(dst, a, b []uint64) bool {
		over := uint64(0)
		for i := range dst {
			s, carry := bits.Add64(a[i], b[i], 0)
			dst[i], over = s, over|carry
		}
		return over == 0
	},
	ast.OpSub: func(dst, a, b []uint64) bool {
		over := uint64(0)
		for i := range dst {
			s, borrow := bits.Sub64(a[i], b[i], 0)
			dst[i], over = s, over|borrow
		}
		return over == 0
	},
	ast.OpMul: func(dst, a, b []uint64) bool {
		over := uint64(0)
		for i := range dst {
			hi, lo := bits.Mul64(a[i], b[i])
			dst[i], over = lo, over|hi
		}
		return over == 0
	},
	ast.OpIntDiv: func(dst, a, b []uint64) bool {
		for i, y := range b {
			if dst[i] = 0; y != 0 {
				dst[i] = a[i] / y
			}
		}
		return true
	},
	ast.OpMod: remainder[uint64],
}

// Uint64Fails is Int64Fails for uint64.
func Uint64Fails(o ast.Op) func(x, y uint64) string {
	exact := exactly(o)
	return func(x, y uint64) string {
		if y == 0 && (o == ast.OpIntDiv || o == ast.OpMod) || exact(new(big.Int).SetUint64(x), new(big.Int).SetUint64(y)).IsUint64() {
			return ""
		}
		return TooLarge(fmt.Sprint(x), o, fmt.Sprint(y), "a uint64")
	}
}

// Float64Loops are the operations on floats.
var Float64Loops = map[ast.Op]Loop[float64]{
	ast.OpAdd: func(dst, a, b []float64) bool {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
		return true
	},
	ast.OpSub: func(dst, a, b []float64) bool {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
		return true
	},
	ast.OpMul: func(dst, a, b []float64) bool {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
		return true
	},
	ast.OpDiv: func(dst, a, b []float64) bool {
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] / b[i]
		}
		return true
	},
	ast.OpMod: func(dst, a, b []float64) bool {
		for i := range dst {
			dst[i] = math.Mod(a[i], b[i])
		}
		return true
	},
}

// Limit is the least number of more than some digits.
func Limit(digits int32) Int128 {
	if digits <= 38 {
		return decimal128.GetScaleMultiplier(int(digits))
	}
	return decimal128.New(math.MaxInt64, math.MaxUint64)
}

// Within reports whether -most < v < most.
func Within(v, most Int128) bool {
	return !v.Abs().GreaterEqual(most) && v != decimal128.New(math.MinInt64, 0)
}

// decimalOps are the operations on decimals of the same scale. They report whether the result has at most 128 bits.
var decimalOps = map[ast.Op]func(x, y Int128) (Int128, bool){
	ast.OpAdd: func(x, y Int128) (Int128, bool) {
		s := x.Add(y)
		return s, (x.HighBits()^s.HighBits())&(y.HighBits()^s.HighBits()) >= 0
	},
	ast.OpSub: func(x, y Int128) (Int128, bool) {
		s := x.Sub(y)
		return s, (x.HighBits()^y.HighBits())&(x.HighBits()^s.HighBits()) >= 0
	},
	ast.OpMul: multiply,
	ast.OpIntDiv: func(x, y Int128) (Int128, bool) {
		if y == (Int128{}) {
			return y, true
		}
		q, _ := x.Div(y)
		return q, true
	},
	ast.OpMod: func(x, y Int128) (Int128, bool) {
		if y == (Int128{}) {
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

// DecimalLoop computes with decimals of the same scale whose results have at most 38 digits.
func DecimalLoop(o ast.Op) Loop[Int128] {
	one, most := decimalOps[o], Limit(38)
	return func(dst, a, b []Int128) bool {
		ok := true
		for i := range dst {
			r, fits := one(a[i], b[i])
			dst[i] = r
			ok = ok && fits && Within(r, most)
		}
		return ok
	}
}

// narrow is a number as an int64, if it is one.
func narrow(v Int128) (int64, bool) {
	lo := int64(v.LowBits())
	return lo, v.HighBits() == lo>>63
}

// multiply is the product of two numbers, if it fits.
func multiply(x, y Int128) (Int128, bool) {
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

// Rescale changes the scale of a number. Digits behind the point are rounded half away from zero.
func Rescale(v Int128, by int32) (Int128, bool) {
	switch {
	case by == 0:
		return v, true
	case by > 38:
		return v, v == (Int128{})
	case by > 0:
		return multiply(v, decimal128.GetScaleMultiplier(int(by)))
	case by < -38:
		return Int128{}, true
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

// ToFloat is the float nearest to a decimal.
func ToFloat(v Int128, scale int32) float64 {
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

// FromFloat is the decimal of a scale nearest to a float.
func FromFloat(v float64, scale int32, most Int128) (Int128, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Int128{}, false
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
		return Int128{}, false
	}
	out := decimal128.FromBigInt(n)
	return out, Within(out, most)
}

// RoundAt rounds the last digits of a number away.
func RoundAt(v Int128, digits int64) (Int128, bool) {
	if digits > 38 {
		return Int128{}, true
	}
	r, _ := Rescale(v, -int32(digits))
	return Rescale(r, int32(digits))
}

// Whole rounds a decimal of a scale down to a whole number, or up.
func Whole(v Int128, scale int32, up bool) Int128 {
	q, r := v.Div(decimal128.GetScaleMultiplier(int(scale)))
	switch one := decimal128.FromI64(1); {
	case !up && r.Sign() < 0:
		return q.Sub(one)
	case up && r.Sign() > 0:
		return q.Add(one)
	}
	return q
}

// Roundings are the functions that round floats, and abs.
var Roundings = map[string]func(float64) float64{"abs": math.Abs, "round": math.Round, "floor": math.Floor, "ceil": math.Ceil}

// RoundFloat rounds a float to digits behind the point, or with negative ones before it.
func RoundFloat(v float64, digits int) float64 {
	power := math.Pow10(max(digits, -digits))
	if digits > 0 {
		if r := math.Round(v*power) / power; !math.IsInf(r, 0) && r == r {
			return r
		}
		return v
	}
	if r := math.Round(v/power) * power; !math.IsInf(r, 0) && r == r {
		return r
	}
	return 0
}

// CompareMixed compares an integer with a float exactly. The order is 2 for NaN.
func CompareMixed(i int64, f float64) int {
	switch {
	case f != f:
		return 2
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if order := cmp.Compare(i, int64(whole)); order != 0 {
		return order
	}
	return cmp.Compare(whole, f)
}

// CompareUint is CompareMixed for unsigned integers.
func CompareUint(i uint64, f float64) int {
	if i <= math.MaxInt64 {
		return CompareMixed(int64(i), f)
	}
	switch {
	case f != f:
		return 2
	case f < 1<<63:
		return 1
	}
	exact, _ := big.NewFloat(f).Int(nil)
	if exact == nil {
		return -1
	}
	return new(big.Int).SetUint64(i).Cmp(exact)
}
