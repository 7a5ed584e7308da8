package decimal

import (
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Integers are decimals as integers that share an exponent. They are used again for others.
type Integers struct {
	Exponent int
	// Reduced means that a decimal is its integer × 10^Exponent without zeros at the end of the coefficient, as far as its
	// exponent stays at most 0. Otherwise the integer is the coefficient.
	Reduced    bool
	Numbers    []int64  // of nulls and exceptions without meaning
	Exceptions []uint32 // where decimals are that no integer gives bit for bit, ascending

	exponents []int16
	others    []uint32 // memory for exceptions
}

// noExponent marks slots that are null or have no integer.
const noExponent = -1 << 15

// Set finds the integers of decimals. ok is false if most have none.
func (t *Integers) Set(src []Decimal, valid bitmap.Bits) (ok bool) {
	if !t.take(src, valid) {
		return false
	}
	t.chooseExponent()
	t.scale(src)
	return true
}

// take finds coefficient and exponent of each value; false if the first
// values show that few have them. Exceptions are those that have none.
func (t *Integers) take(src []Decimal, valid bitmap.Bits) (ok bool) {
	const probe = 64
	coefficients, exponents := scratch.Slice(&t.Numbers, len(src)), scratch.Slice(&t.exponents, len(src))
	t.Exceptions = t.Exceptions[:0]
	for i := 0; i < len(src); i++ {
		i += Coefficients(coefficients[i:], exponents[i:], src[i:])
		if i >= len(src) {
			break
		}
		coefficients[i], exponents[i] = 0, noExponent
		if valid.At(i) {
			t.Exceptions = append(t.Exceptions, uint32(i))
		}
		if i < probe && 2*len(t.Exceptions) > probe {
			return false
		}
	}
	if valid.Data != nil {
		for i := range exponents {
			if !valid.At(i) {
				coefficients[i], exponents[i] = 0, noExponent
			}
		}
	}
	return 2*len(t.Exceptions) <= len(src)
}

// chooseExponent chooses the exponent of all values, or, if they differ, the least of
// them where trailing zeros explain the others, or the most frequent.
func (t *Integers) chooseExponent() {
	count := map[int16]int{}
	last, run := int16(noExponent), 0
	for _, e := range t.exponents {
		if e != last {
			count[last] += run
			last, run = e, 0
		}
		run++
	}
	count[last] += run
	delete(count, noExponent)
	least, most := int16(0), int16(0)
	first := true
	for e, n := range count {
		if first || e < least {
			least = e
		}
		if first || n > count[most] || n == count[most] && e < most {
			most = e
		}
		first = false
	}
	const widest = 18 // powers of ten that fit an int64
	t.Exponent, t.Reduced = int(most), len(count) > 1 && least < 0 && least > -widest
	if t.Reduced {
		t.Exponent = int(least)
	}
}

// scale turns coefficients into integers for the exponent; a value that does not come
// back bit for bit becomes an exception.
func (t *Integers) scale(src []Decimal) {
	known := t.Exceptions
	all := t.others[:0]
	for i, e := range t.exponents {
		if len(known) > 0 && known[0] == uint32(i) {
			known = known[1:]
		} else if e == noExponent || t.scaleOne(src, i) {
			continue
		}
		all = append(all, uint32(i))
		if i > 0 {
			t.Numbers[i] = t.Numbers[i-1]
		}
	}
	t.Exceptions, t.others = all, t.Exceptions
}

func (t *Integers) scaleOne(src []Decimal, i int) (ok bool) {
	if !t.Reduced {
		return int(t.exponents[i]) == t.Exponent
	}
	one := src[i : i+1]
	return t.exponents[i] <= 0 && one[0].Reduce() == one[0] && ToInt64(t.Numbers[i:i+1], one, -t.Exponent) == 1
}
