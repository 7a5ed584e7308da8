package decimal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bounds"
)

// Int128 is a two's complement number of 128 bits, with the layout of Arrow's decimal128.
type Int128 struct {
	Lo uint64 // the lower 64 bits
	Hi int64  // the upper ones, with the sign
}

// Narrow copies numbers that fit 64 bits. It stops at the first that does not, and returns its index, or len(src).
func Narrow(dst []int64, src []Int128) int {
	dst = dst[:len(src)]
	for i, v := range src {
		if v.Hi != int64(v.Lo)>>63 {
			return i
		}
		dst[i] = int64(v.Lo)
	}
	return len(src)
}

// Within returns the index of the first number with more digits than the precision, 1 to 38, or len(src).
func Within(src []Int128, precision int) int {
	limit := pow10[precision]
	if precision <= 18 { // -limit < v < limit as one comparison: only for such v does v+limit-1 not wrap around
		below, span := limit.lo-1, 2*limit.lo-1
		for i, v := range src {
			if v.Hi != int64(v.Lo)>>63 || v.Lo+below >= span {
				return i
			}
		}
		return len(src)
	}
	for i, v := range src {
		hi, lo := uint64(v.Hi), v.Lo
		if v.Hi < 0 {
			var borrow uint64
			lo, borrow = bits.Sub64(0, lo, 0)
			hi, _ = bits.Sub64(0, hi, borrow)
		}
		if !less(hi, lo, limit) {
			return i
		}
	}
	return len(src)
}

// FromInt64 sets dst[i] to src[i] × 10^exponent. dst has at least the length of src. It panics if the exponent is out
// of range.
func FromInt64(dst []Decimal, src []int64, exponent int) {
	dst = dst[:len(src)]
	base := columnTop(exponent)
	for i, v := range src {
		mag := uint64(v)
		neg := mag >> 63
		mag = (mag ^ -neg) + neg
		putSmall(&dst[i], mag, base|neg<<63)
	}
}

// FromInt128 is FromInt64 for numbers of 128 bits. It stops at the first with more than 34 digits, and returns its
// index, or len(src).
func FromInt128(dst []Decimal, src []Int128, exponent int) int {
	dst = dst[:len(src)]
	base := columnTop(exponent)
	for i, v := range src {
		neg := uint64(v.Hi) >> 63
		lo, borrow := v.Lo, uint64(0)
		hi := uint64(v.Hi)
		if neg != 0 {
			lo, borrow = bits.Sub64(0, lo, 0)
			hi, _ = bits.Sub64(0, hi, borrow)
		}
		if hi == 0 && lo < 1e19 {
			putSmall(&dst[i], lo, base|neg<<63)
			continue
		}
		d, ok := FromCoefficient(neg != 0, hi, lo, exponent)
		if !ok {
			return i
		}
		dst[i] = d
	}
	return len(src)
}

func columnTop(exponent int) uint64 {
	if exponent < MinExponent || exponent > MaxExponent {
		panic("decimal: exponent out of range")
	}
	return top(false, 0, exponent)
}

// putSmall writes a number with a coefficient below 10^20: six declets in the
// lower word, the seventh across both.
func putSmall(d *Decimal, mag, head uint64) {
	lo := uint64(0)
	if mag < 1e9 { // the usual case: no 64-bit division
		m := uint32(mag)
		q := m / 1000
		lo = uint64(toDeclet[m-q*1000])
		p := q / 1000
		lo |= uint64(toDeclet[q-p*1000])<<10 | uint64(toDeclet[p])<<20
	} else {
		for s := 0; s <= 50; s += 10 {
			q := mag / 1000
			lo |= uint64(toDeclet[mag-q*1000]) << s
			mag = q
		}
		last := uint64(toDeclet[mag])
		lo |= last << 60
		head |= last >> 4
	}
	binary.LittleEndian.PutUint64(d[:8], lo)
	binary.LittleEndian.PutUint64(d[8:], head)
}

// ToInt64 sets dst[i] to src[i] × 10^scale. It stops at the first value that is not exactly an int64, and returns its
// index, or len(src).
func ToInt64(dst []int64, src []Decimal, scale int) int {
	dst = dst[:len(src)]
	want := smallTop(-scale)
	for i := range src {
		hi, lo := src[i].words()
		if hi&^(1<<63) == want && lo>>60 == 0 {
			dst[i] = small(hi, lo)
			continue
		}
		h, l, ok := src[i].Rescale(scale)
		if !ok || h != int64(l)>>63 {
			return i
		}
		dst[i] = int64(l)
	}
	return len(src)
}

// ToInt128 is ToInt64 for results of 128 bits.
func ToInt128(dst []Int128, src []Decimal, scale int) int {
	dst = dst[:len(src)]
	want := smallTop(-scale)
	for i := range src {
		hi, lo := src[i].words()
		if hi&^(1<<63) == want && lo>>60 == 0 {
			v := small(hi, lo)
			dst[i] = Int128{uint64(v), v >> 63}
			continue
		}
		h, l, ok := src[i].Rescale(scale)
		if !ok {
			return i
		}
		dst[i] = Int128{l, h}
	}
	return len(src)
}

// smallTop returns the upper word of a number with this exponent and a coefficient below 10^18, or a word that no
// such number has.
func smallTop(exponent int) uint64 {
	if exponent < MinExponent || exponent > MaxExponent {
		return math.MaxUint64
	}
	return top(false, 0, exponent)
}

// small returns the coefficient of such a number, with its sign.
func small(hi, lo uint64) int64 {
	// Decode half of the declets or all. Their number varies from value to value, and a
	// mispredicted branch costs more than some zeros.
	v := uint64(fromDeclet[lo&1023]) + 1000*uint64(fromDeclet[lo>>10&1023]) + 1e6*uint64(fromDeclet[lo>>20&1023])
	if lo >>= 30; lo != 0 {
		v += 1e9*uint64(fromDeclet[lo&1023]) + 1e12*uint64(fromDeclet[lo>>10&1023]) + 1e15*uint64(fromDeclet[lo>>20&1023])
	}
	neg := hi >> 63
	return int64((v ^ -neg) + neg)
}

// Bounds returns the least and the greatest of v by value, and the number of values that are
// not NaN. If it is 0, lo and hi have no meaning. Of equal values, the result is the first.
func Bounds(v []Decimal) (lo, hi Decimal, n int) {
	var ints [256]int64
	widen := func(d Decimal) {
		if n == 0 || d.Compare(lo) < 0 {
			lo = d
		}
		if n == 0 || d.Compare(hi) > 0 {
			hi = d
		}
	}
	for len(v) > 0 {
		part := v[:min(len(v), len(ints))]
		k := ToInt64(ints[:], part, -part[0].Parts().Exponent) // usually all of them
		if k == 0 {
			if !v[0].IsNaN() {
				widen(v[0])
				n++
			}
			v = v[1:]
			continue
		}
		least, greatest, _ := bounds.Of(ints[:k])
		widen(part[slices.Index(ints[:k], least)])
		n++
		widen(part[slices.Index(ints[:k], greatest)])
		n += k - 1
		v = v[k:]
	}
	return lo, hi, n
}

// Coefficients sets coefficient[i] and exponent[i] so that src[i] is their number, bit for bit:
// FromInt64 gives back the very bytes. It stops at the first value without such a pair (more
// than 63 bits, -0, infinity, NaN, a declet that is not canonical) and gives its index,
// len(src) if there is none.
func Coefficients(coefficient []int64, exponent []int16, src []Decimal) int {
	coefficient, exponent = coefficient[:len(src)], exponent[:len(src)]
	for i := range src {
		hi, lo := src[i].words()
		digit, e, class := head(hi)
		c := int64(0)
		if lo>>60 == 0 && hi&(1<<46-1) == 0 && digit == 0 && class == Finite {
			if c = small(hi, lo); c == 0 && hi>>63 != 0 || !canonical(lo) {
				return i
			}
		} else {
			var ok bool
			if c, ok = exactInt64(src[i]); !ok {
				return i
			}
		}
		coefficient[i], exponent[i] = c, int16(e)
	}
	return len(src)
}

// canonical reports whether the lower six declets are canonical: none has its
// bits v, w, x, s, t all set and p or q as well.
func canonical(lo uint64) bool {
	const first = 1 | 1<<10 | 1<<20 | 1<<30 | 1<<40 | 1<<50
	return lo>>1&(lo>>2)&(lo>>3)&(lo>>5)&(lo>>6)&(lo>>8|lo>>9)&first == 0
}

func exactInt64(d Decimal) (int64, bool) {
	p := d.Parts()
	if p.Class != Finite || p.Hi != 0 || p.Lo > math.MaxInt64 || p.Lo == 0 && p.Negative {
		return 0, false
	}
	if again, _ := FromCoefficient(p.Negative, 0, p.Lo, p.Exponent); again != d {
		return 0, false
	}
	if p.Negative {
		return -int64(p.Lo), true
	}
	return int64(p.Lo), true
}
