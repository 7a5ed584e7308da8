package valueset

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
)

// Values are the values of a set in the form that they have in Arrow arrays: [Bools], [Ints], [Uints], [Floats],
// [Decimals] or [Bytes].
type Values interface{ isValues() }

// Interval is the values from Lo to Hi, both included.
type Interval[T any] struct{ Lo, Hi T }

// Bools is a set of booleans.
type Bools struct{ False, True bool }

// Ints is a set of signed numbers as Arrow arrays have them: integers, dates and times in their unit, coefficients of
// decimal32 and decimal64. Intervals are in ascending order and do not touch.
type Ints []Interval[int64]

// Uints is [Ints] for unsigned integers.
type Uints []Interval[uint64]

// Floats is [Ints] for floats of all widths. Bounds are values of the column's type; they may be infinite. An interval
// with one zero has both.
type Floats struct {
	Intervals []Interval[float64]
	NaN       bool
}

// Decimals is [Ints] for the coefficients of decimal128 and decimal256.
type Decimals []Interval[Int256]

// Bytes is a set of byte strings: ranges in ascending order that do not touch.
type Bytes []ByteRange

// ByteRange is the byte strings from Lo up to (not including) Hi, or without end if NoHi is set. Those that begin with
// "ab" lie from "ab" up to "ac"; "ab" alone lies from "ab" up to "ab\x00".
type ByteRange struct {
	Lo, Hi []byte
	NoHi   bool
}

func (Bools) isValues()    {}
func (Ints) isValues()     {}
func (Uints) isValues()    {}
func (Floats) isValues()   {}
func (Decimals) isValues() {}
func (Bytes) isValues()    {}

// WithPrefix is the byte strings that begin with a prefix.
func WithPrefix(prefix []byte) ByteRange {
	next := successor(string(prefix))
	return ByteRange{Lo: prefix, Hi: []byte(next.s), NoHi: next.end}
}

// Constant is the only value in the range, if there is only one.
func (r ByteRange) Constant() (value []byte, ok bool) {
	n := len(r.Lo)
	return r.Lo, !r.NoHi && len(r.Hi) == n+1 && r.Hi[n] == 0 && bytes.Equal(r.Hi[:n], r.Lo)
}

// Prefix is a byte string that exactly the values in the range begin with, if there is one.
func (r ByteRange) Prefix() (prefix []byte, ok bool) {
	next := successor(string(r.Lo))
	return r.Lo, next.end == r.NoHi && next.s == string(r.Hi)
}

// Holds reports whether a value is in the range.
func (r ByteRange) Holds(value []byte) bool {
	return bytes.Compare(value, r.Lo) >= 0 && (r.NoHi || bytes.Compare(value, r.Hi) < 0)
}

// Constants are the values of the set if they can be listed: those to look up in a Bloom filter or a dictionary.
func (t Bytes) Constants() (values [][]byte, ok bool) {
	for _, r := range t {
		v, ok := r.Constant()
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// Int64 is the set for coefficients that are known to fit into 64 bits.
func (t Decimals) Int64() Ints {
	out := make(Ints, 0, len(t))
	for _, i := range t {
		if i.Hi.Compare(int256(math.MinInt64)) < 0 || i.Lo.Compare(int256(math.MaxInt64)) > 0 {
			continue
		}
		out = append(out, Interval[int64]{i.Lo.saturate(), i.Hi.saturate()})
	}
	return out
}

// Values is the typed form of a set that is not empty, nil if the set has all values.
func (d *Domain) Values(s Set) Values {
	if d.isAll(s) {
		return nil
	}
	switch d.family {
	case famBool:
		return Bools{False: s.contains(0), True: s.contains(1)}
	case famBool8:
		if s.contains(0) {
			return Ints{{0, 0}}
		}
		return Ints{{math.MinInt8, -1}, {1, math.MaxInt8}}
	case famUint:
		return Uints(closed(s, func(n *big.Int) uint64 { return n.Uint64() }))
	case famFloat:
		return Floats{closed(s, func(n *big.Int) float64 { return d.float(n.Int64()) }), s.nan}
	case famDecimal:
		return Decimals(closed(s, bigToInt256))
	case famString, famBinary, famUUID, famNumber:
		out := make(Bytes, len(s.spans))
		for i, r := range s.spans {
			out[i] = ByteRange{Lo: []byte(r.lo.s), Hi: []byte(r.hi.s), NoHi: r.hi.end}
		}
		return out
	}
	return Ints(closed(s, func(n *big.Int) int64 { return n.Int64() }))
}

// contains reports whether a set of numbers has a number.
func (a Set) contains(v int64) bool {
	n := point{n: big.NewInt(v)}
	for _, s := range a.spans {
		if s.lo.cmp(n) <= 0 && n.cmp(s.hi) < 0 {
			return true
		}
	}
	return false
}

// closed turns spans of integers, which exclude their end, into intervals, which include it.
func closed[T any](set Set, convert func(*big.Int) T) []Interval[T] {
	out := make([]Interval[T], len(set.spans))
	for i, s := range set.spans {
		out[i] = Interval[T]{convert(s.lo.n), convert(new(big.Int).Sub(s.hi.n, one))}
	}
	return out
}

// Int256 is a signed integer of 256 bits in two's complement, the lowest word first.
type Int256 [4]uint64

// Compare is negative, zero or positive as a is less than b, equal or greater.
func (a Int256) Compare(b Int256) int {
	if a[3] != b[3] {
		return cmp.Compare(int64(a[3]), int64(b[3]))
	}
	for i := 2; i >= 0; i-- {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}

// saturate is the nearest number of 64 bits.
func (a Int256) saturate() int64 {
	if a == int256(int64(a[0])) {
		return int64(a[0])
	}
	return int64(a[3])>>63 ^ math.MaxInt64
}

// int256 extends a number of 64 bits.
func int256(v int64) Int256 {
	sign := uint64(v >> 63)
	return Int256{uint64(v), sign, sign, sign}
}

// bigToInt256 converts a number that fits into 256 bits.
func bigToInt256(n *big.Int) (out Int256) {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(one, 256))
	}
	var b [32]byte
	n.FillBytes(b[:])
	for i := range out {
		for k := range 8 {
			out[i] |= uint64(b[31-8*i-k]) << (8 * k)
		}
	}
	return out
}
