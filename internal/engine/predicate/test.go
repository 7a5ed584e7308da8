package predicate

import (
	"bytes"
	"math"
	"math/big"
)

// Test is what a leaf asks of each value of its column: [Bools], [Ints],
// [Uints], [Floats], [Decimals] and [Bytes] hold the values it wants, which are
// never all or none; [*Text] looks into byte strings; [Nulls] does not look at
// values. No test but Nulls is met by null.
type Test interface{ isTest() }

// Interval is the values from Lo to Hi, both included.
type Interval[T any] struct{ Lo, Hi T }

// Bools are the booleans that a leaf wants.
type Bools struct{ False, True bool }

// Ints are the signed numbers that a leaf wants, as they are in the Arrow array:
// integers, dates and times in their unit, coefficients of decimal32 and
// decimal64. Intervals are in ascending order and do not touch.
type Ints []Interval[int64]

// Uints is [Ints] for unsigned integers.
type Uints []Interval[uint64]

// Floats is [Ints] for floats of all widths, which are within what the column's
// type holds. The intervals include infinities, and zeros of both signs where
// they include zero.
type Floats struct {
	Intervals []Interval[float64]
	NaN       bool
}

// Decimals is [Ints] for the coefficients of decimal128 and decimal256.
type Decimals []Interval[Int256]

// Int256 is a signed integer of 256 bits in two's complement, the lowest word first.
type Int256 [4]uint64

// ByteRange is the byte strings from Lo up to (not including) Hi, or without end
// if NoHi is set. All that begin with "ab" lie from "ab" up to "ac"; "ab" alone
// from "ab" up to "ab\x00".
type ByteRange struct {
	Lo, Hi []byte
	NoHi   bool
}

// Bytes are the byte strings that a leaf wants: ranges in ascending order that do
// not touch.
type Bytes []ByteRange

// Nulls is met by null, or with Not by any value.
type Nulls struct{ Not bool }

func (Bools) isTest()    {}
func (Ints) isTest()     {}
func (Uints) isTest()    {}
func (Floats) isTest()   {}
func (Decimals) isTest() {}
func (Bytes) isTest()    {}
func (Nulls) isTest()    {}
func (*Text) isTest()    {}

// Constant is the only value in the range, if there is only one.
func (r ByteRange) Constant() (value []byte, ok bool) {
	n := len(r.Lo)
	return r.Lo, !r.NoHi && len(r.Hi) == n+1 && r.Hi[n] == 0 && bytes.Equal(r.Hi[:n], r.Lo)
}

// Prefix is a byte string that exactly the values in the range begin with, if
// there is one.
func (r ByteRange) Prefix() (prefix []byte, ok bool) {
	next := successor(string(r.Lo))
	return r.Lo, next.end == r.NoHi && next.s == string(r.Hi)
}

// Holds tells whether a value is in the range.
func (r ByteRange) Holds(value []byte) bool {
	return bytes.Compare(value, r.Lo) >= 0 && (r.NoHi || bytes.Compare(value, r.Hi) < 0)
}

// Constants are all values that the leaf wants, if it wants no ranges of them:
// what to ask a Bloom filter or a dictionary for.
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

// Int64 is the test for coefficients that are known to be within 64 bits.
func (t Decimals) Int64() Ints {
	out := make(Ints, 0, len(t))
	for _, i := range t {
		if i.Hi.cmp(int256(math.MinInt64)) < 0 || i.Lo.cmp(int256(math.MaxInt64)) > 0 {
			continue
		}
		out = append(out, Interval[int64]{i.Lo.saturate(), i.Hi.saturate()})
	}
	return out
}

// int256 widens a number.
func int256(v int64) Int256 {
	sign := uint64(v >> 63)
	return Int256{uint64(v), sign, sign, sign}
}

func (a Int256) cmp(b Int256) int {
	if a[3] != b[3] {
		return boolToInt(int64(a[3]) > int64(b[3])) - boolToInt(int64(a[3]) < int64(b[3]))
	}
	for i := 2; i >= 0; i-- {
		if a[i] != b[i] {
			return boolToInt(a[i] > b[i]) - boolToInt(a[i] < b[i])
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

// bigToInt256 converts a number that fits.
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

// successor is the first byte string above all that begin with prefix.
func successor(prefix string) point {
	for last := len(prefix) - 1; last >= 0; last-- {
		if prefix[last] < 0xff {
			return point{s: prefix[:last] + string([]byte{prefix[last] + 1})}
		}
	}
	return point{end: true}
}

// test gives a set that is not empty its type.
func (d *domain) test(set valueSet) Test {
	if d.full(set) {
		return Nulls{Not: true}
	}
	switch d.family {
	case famBool:
		return Bools{False: set.contains(0), True: set.contains(1)}
	case famBool8:
		if set.contains(0) {
			return Ints{{0, 0}}
		}
		return Ints{{math.MinInt8, -1}, {1, math.MaxInt8}}
	case famUint:
		return Uints(closed(set, func(n *big.Int) uint64 { return n.Uint64() }))
	case famFloat:
		return Floats{closed(set, func(n *big.Int) float64 { return d.float(n.Int64()) }), set.nan}
	case famDecimal:
		return Decimals(closed(set, bigToInt256))
	case famString, famBinary, famUUID:
		out := make(Bytes, len(set.spans))
		for i, s := range set.spans {
			out[i] = ByteRange{Lo: []byte(s.lo.s), Hi: []byte(s.hi.s), NoHi: s.hi.end}
		}
		return out
	}
	return Ints(closed(set, func(n *big.Int) int64 { return n.Int64() }))
}

func (a valueSet) contains(v int64) bool {
	n := point{n: big.NewInt(v)}
	for _, s := range a.spans {
		if s.lo.cmp(n) <= 0 && n.cmp(s.hi) < 0 {
			return true
		}
	}
	return false
}

func closed[T any](set valueSet, convert func(*big.Int) T) []Interval[T] {
	out := make([]Interval[T], len(set.spans))
	for i, s := range set.spans {
		out[i] = Interval[T]{convert(s.lo.n), convert(new(big.Int).Sub(s.hi.n, one))}
	}
	return out
}
