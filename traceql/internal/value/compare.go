package value

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Comparable reports whether two values have an order or can be equal: two numbers, or two values of one kind.
func Comparable(a, b Value) bool {
	return a.kind.IsNumber() && b.kind.IsNumber() || a.kind == b.kind && a.kind != Nil && a.kind < Array
}

// Compare orders two comparable values. ok is false for values that are not comparable, and for NaN.
func Compare(a, b Value) (order int, ok bool) {
	switch {
	case !Comparable(a, b):
		return 0, false
	case a.kind == String:
		return strings.Compare(a.text, b.text), true
	case a.kind == Float && b.kind == Float:
		x, y := a.Float64(), b.Float64()
		return cmp.Compare(x, y), x == x && y == y
	case a.kind == Float:
		order, ok = compareMixed(b.Int64(), a.Float64())
		return -order, ok
	case b.kind == Float:
		return compareMixed(a.Int64(), b.Float64())
	}
	return cmp.Compare(a.Int64(), b.Int64()), true
}

// compareMixed compares exactly, without rounding the integer.
func compareMixed(a int64, b float64) (int, bool) {
	switch {
	case math.IsNaN(b):
		return 0, false
	case b >= 1<<63:
		return -1, true
	case b < -1<<63:
		return 1, true
	}
	whole := math.Floor(b)
	if order := cmp.Compare(a, int64(whole)); order != 0 || whole == b {
		return order, true
	}
	return -1, true
}

// Ordered reports whether two numbers or two strings are such that test accepts their order. Of an Any, one value suffices; of an Array, one
// element.
func Ordered(a, b Value, test func(order int) bool) bool {
	return anyPair(a, b, func(a, b Value) bool {
		order, ok := Compare(a, b)
		return ok && (a.kind == String || a.kind.IsNumber()) && test(order)
	})
}

func anyPair(a, b Value, test func(a, b Value) bool) bool {
	return each(a, func(a Value) bool {
		return each(b, func(b Value) bool { return test(a, b) })
	})
}

// each reports whether f is true for a value, or for any in a list.
func each(v Value, f func(Value) bool) bool {
	if v.kind != Array && v.kind != Any {
		return f(v)
	}
	return slices.ContainsFunc(v.list, func(e Value) bool { return each(e, f) })
}

// eachOf splits an Any, but not an Array.
func eachOf(v Value, f func(Value) bool) bool {
	if v.kind != Any {
		return f(v)
	}
	return slices.ContainsFunc(v.list, f)
}

// Equal reports whether two values are equal. An array equals its elements.
func Equal(a, b Value) bool {
	return anyPair(a, b, func(a, b Value) bool {
		order, ok := Compare(a, b)
		return ok && order == 0
	})
}

// Differ reports whether two values are comparable but not equal. An array differs from a value that none of its elements equals. Of
// an Any, one value that differs suffices. NaN differs from all numbers.
func Differ(a, b Value) bool {
	return eachOf(a, func(a Value) bool {
		return eachOf(b, func(b Value) bool {
			return anyPair(a, b, Comparable) && !Equal(a, b)
		})
	})
}

// Matches reports whether a string, or one in an array, matches.
func Matches(v Value, match func(string) bool) bool {
	return each(v, func(v Value) bool { return v.kind == String && match(v.text) })
}

// MatchesNot reports whether a string does not match, or no string of an array does, which has some. Of an Any, one value suffices.
func MatchesNot(v Value, match func(string) bool) bool {
	return eachOf(v, func(v Value) bool {
		return Matches(v, func(string) bool { return true }) && !Matches(v, match)
	})
}

// Arithmetic is the kind of a calculation.
type Arithmetic uint8

// The calculations.
const (
	Add Arithmetic = iota
	Sub
	Mul
	Div
	Mod
	Pow
)

// Calculate computes with two numbers; of an Array or Any, with each. The result is nil if one is no number. Integers and durations give an
// integer, or a duration where that makes sense, if the result is one and has at most 64 bits. Otherwise the result is a float.
func Calculate(op Arithmetic, a, b Value) Value {
	if list, ok := spread(a, func(a Value) Value { return Calculate(op, a, b) }); ok {
		return list
	}
	if list, ok := spread(b, func(b Value) Value { return Calculate(op, a, b) }); ok {
		return list
	}
	if !a.kind.IsNumber() || !b.kind.IsNumber() {
		return Value{}
	}
	if a.kind != Float && b.kind != Float {
		if n, ok := integers(op, a.Int64(), b.Int64()); ok {
			return Value{kind: resultKind(op, a.kind, b.kind), bits: uint64(n)}
		}
	}
	return OfFloat(floats(op, a.Float64(), b.Float64()))
}

// spread applies a function to the values of a list; ok is false for other values.
func spread(v Value, f func(Value) Value) (list Value, ok bool) {
	if v.kind != Array && v.kind != Any {
		return v, false
	}
	out := make([]Value, 0, len(v.list))
	for _, e := range v.list {
		if r := f(e); !r.IsNil() {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return Value{}, true
	}
	return Value{kind: v.kind, list: out}, true
}

func resultKind(op Arithmetic, a, b Kind) Kind {
	one, other := a == Duration, b == Duration
	switch {
	case (op == Add || op == Sub || op == Mod) && (one || other), op == Mul && one != other, op == Div && one && !other:
		return Duration
	}
	return Int
}

// integers computes exactly; ok is false if the result is not an integer of 64 bits.
func integers(op Arithmetic, a, b int64) (int64, bool) {
	switch op {
	case Add:
		n := a + b
		return n, (n > a) == (b > 0)
	case Sub:
		n := a - b
		return n, (n < a) == (b > 0)
	case Mul:
		n := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		return n.Int64(), n.IsInt64()
	case Div:
		if b == 0 || a == math.MinInt64 && b == -1 || a%b != 0 {
			return 0, false
		}
		return a / b, true
	case Mod:
		if b == 0 || b == -1 {
			return 0, b != 0
		}
		return a % b, true
	}
	return power(a, b)
}

func power(a, b int64) (int64, bool) {
	if b < 0 || b > 63 && a != 0 && a != 1 && a != -1 {
		return 0, false
	}
	if b > 63 {
		b = b&1 + 2 // the same power of 0, 1 and -1
	}
	n := new(big.Int).Exp(big.NewInt(a), big.NewInt(b), nil)
	return n.Int64(), n.IsInt64()
}

func floats(op Arithmetic, a, b float64) float64 {
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div:
		return a / b
	case Mod:
		return math.Mod(a, b)
	}
	return math.Pow(a, b)
}

// Negative is the number with the other sign; nil for other values.
func Negative(v Value) Value { return Calculate(Sub, OfInt(0), v) }

// Key is a text that equal values of one kind have in common, and no others.
func (v Value) Key() string { return string(rune('0'+v.kind)) + v.Plain() }
