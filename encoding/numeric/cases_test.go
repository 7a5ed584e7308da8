package numeric

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// testCase is a sequence of values, of which Valid says which are not null.
type testCase[T Value] struct {
	name   string
	values []T
	valid  bitmap.Bits
}

// edges are lengths at the borders of chunks and blocks.
var edges = []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 8191, 8192, 8193}

// casesOf are the cases of a type: empty, one value, all null, runs, extremes,
// sorted, few distinct values, noise, odd floats, every border of lengths.
func casesOf[T Value]() []testCase[T] {
	var out []testCase[T]
	add := func(name string, values []T) {
		out = append(out, testCase[T]{name, values, bitmap.All(len(values))})
	}
	add("empty", nil)
	for _, n := range edges {
		add(fmt.Sprintf("ascending %d", n), valuesOf(n, func(i int) T { return T(i) }))
		add(fmt.Sprintf("noise %d", n), valuesOf(n, anyBits[T]))
	}
	const n = 8192
	add("zero", make([]T, n))
	add("constant", valuesOf(n, func(int) T { return 42 }))
	add("two values", valuesOf(n, func(i int) T { return T(mix(i)%2) * 100 }))
	add("few values", valuesOf(n, func(i int) T { return T(mix(i)%13) * 9 }))
	add("descending", valuesOf(n, func(i int) T { return T(n - i) }))
	add("runs", valuesOf(n, func(i int) T { return T(mix(i/37) % 100) }))
	add("long runs", valuesOf(n, func(i int) T { return T(mix(i/1500) % 100) }))
	add("narrow", valuesOf(n, func(i int) T { return T(100 + mix(i)%16) }))
	add("outliers", valuesOf(n, outlier[T]))
	add("mostly zero", valuesOf(n, func(i int) T { return T(mix(i)%97/96) * T(1+mix(i)%50) }))
	add("mostly five", valuesOf(n, func(i int) T { return 5 + T(mix(i)%97/96)*T(1+mix(i)%50) }))
	add("steps", valuesOf(n, func(i int) T { return T(mix(i)%2+1) * T(i/100) }))
	add("in turn", valuesOf(n, func(i int) T { return T(mix(i%89)%120) + T(i/2000) }))
	add("even steps", valuesOf(n, func(i int) T { return T(3 * i) }))
	add("extremes", valuesOf(n, func(i int) T { return fromBits[T](odd[mix(i)%uint64(len(odd))]) }))
	add("decimals", valuesOf(n, func(i int) T { return T(float64(mix(i)%10000) / 100) }))
	add("all null", valuesOf(n, anyBits[T]))
	out[len(out)-1].valid = mask(n, func(int) bool { return false })
	for _, nulls := range []struct {
		name  string
		valid func(i int) bool
	}{
		{"a null", func(i int) bool { return i != 5 }},
		{"half null", func(i int) bool { return mix(i)%2 == 0 }},
		{"mostly null", func(i int) bool { return mix(i)%200 == 0 }},
		{"first null", func(i int) bool { return i > 3000 }},
		{"last null", func(i int) bool { return i < 3000 }},
	} {
		valid := mask(n, nulls.valid)
		add("noise, "+nulls.name, valuesOf(n, anyBits[T]))
		out[len(out)-1].valid = valid
		add("ascending, "+nulls.name, valuesOf(n, func(i int) T { return T(i) }))
		out[len(out)-1].valid = valid
	}
	return out
}

// odd are bit patterns at the borders of types: extremes, both zeros, quiet and
// signalling NaNs with payloads, infinities, subnormals.
var odd = []uint64{0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, math.MaxInt64, 1 << 63, math.MaxUint64,
	0x7ff8000000000001, 0xfff8000000000abc, 0x7ff0000000000001, 0x7ff0000000000000, 0xfff0000000000000, 0x3ff0000000000000,
	0x7fc00001, 0xffc00abc, 0x7f800001, 0x7f800000, 0xff800000, 0x3f800000}

func valuesOf[T Value](n int, f func(i int) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func mask(n int, f func(i int) bool) bitmap.Bits {
	b := bitmap.Bits{Data: make([]byte, (n+7)/8), Len: n}
	for i := range n {
		if f(i) {
			b.Data[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

// mix is a number that looks random and depends on i alone (Steele, Lea and
// Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
func mix(i int) uint64 {
	z := uint64(i)*0x9e3779b97f4a7c15 + 0x1234567
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// anyBits is any bits.
func anyBits[T Value](i int) T { return fromBits[T](mix(i)) }

func outlier[T Value](i int) T {
	if mix(i)%300 == 0 {
		return anyBits[T](i)
	}
	return T(mix(i) % 10)
}
