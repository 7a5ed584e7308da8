package bytestring

import (
	"bytes"
	"fmt"
	"strings"
)

// testCase is a sequence of byte strings, each of fixed bytes if that was asked
// for. nil is null.
type testCase struct {
	name   string
	values [][]byte
}

// testCases are the cases of byte strings of fixed bytes or, with fixed 0, of any
// length: empty, one value, all null, all empty, equal, few and many distinct
// ones, runs, text, noise, all bytes, one long value among short ones, every
// border of lengths.
func testCases(fixed int) []testCase {
	var out []testCase
	add := func(name string, n int, f func(i int) []byte) {
		s := testCase{name: name, values: make([][]byte, n)}
		for i := range s.values {
			if v := f(i); v != nil {
				s.values[i] = fit(v, fixed)
			}
		}
		out = append(out, s)
	}
	word := func(i int) []byte { return fmt.Appendf(nil, "item %d of many", mix(i)%1000) }
	add("empty", 0, word)
	for _, n := range []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 8191, 8192, 8193} {
		add(fmt.Sprintf("words %d", n), n, word)
	}
	const n = 3000
	add("all null", n, func(int) []byte { return nil })
	add("no bytes", n, func(int) []byte { return []byte{} })
	add("equal", n, func(int) []byte { return []byte("the same") })
	add("equal or null", n, func(i int) []byte { return nullUnless(mix(i)%2 == 0, []byte("the same")) })
	add("equal or empty", n, func(i int) []byte { return []byte("value")[:5*(mix(i)%2)] })
	add("two values", n, func(i int) []byte { return []byte(strings.Repeat("ab", 1+int(mix(i)%2))) })
	add("few values", n, func(i int) []byte { return fmt.Appendf(nil, "%d", mix(i)%13) })
	add("few long values", n, func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%d.", mix(i)%7), 40) })
	add("few values and nulls", n, func(i int) []byte { return nullUnless(mix(i)%5 > 0, fmt.Appendf(nil, "%d", mix(i)%3)) })
	add("few values, empty and null", n, func(i int) []byte {
		return [][]byte{nil, {}, []byte("a"), {0}, []byte("a\x00")}[mix(i)%5]
	})
	add("runs", n, func(i int) []byte { return fmt.Appendf(nil, "run %d", i/37) })
	add("ascending", n, func(i int) []byte { return fmt.Appendf(nil, "%08d", i) })
	add("text", n, func(i int) []byte {
		return fmt.Appendf(nil, "GET /api/v%d/users/%d?sort=%c HTTP/1.1 200 %d", 1+mix(i)%2, mix(i)>>40, 'a'+rune(mix(i)%3), mix(i)%5000)
	})
	add("noise", n, func(i int) []byte { return noiseBytes(i, int(mix(i)%23)) })
	add("long noise", 100, func(i int) []byte { return noiseBytes(i, 1000+int(mix(i)%1000)) })
	add("all bytes", 256, func(i int) []byte { return []byte{byte(i), 255, byte(i)} })
	add("escapes", n, func(i int) []byte { return bytes.Repeat([]byte{255}, int(mix(i)%9)) })
	add("one long value", 500, func(i int) []byte {
		if i == 250 {
			return bytes.Repeat([]byte("long "), 40_000)
		}
		return []byte("s")
	})
	add("first null", n, func(i int) []byte { return nullUnless(i > 1000, word(i)) })
	add("last null", n, func(i int) []byte { return nullUnless(i < 1000, word(i)) })
	add("mostly null", n, func(i int) []byte { return nullUnless(mix(i)%200 == 0, word(i)) })
	add("a null", n, func(i int) []byte { return nullUnless(i != 5, word(i)) })
	return out
}

func nullUnless(ok bool, v []byte) []byte {
	if ok {
		return v
	}
	return nil
}

func noiseBytes(i, n int) []byte {
	v := make([]byte, n)
	for k := range v {
		v[k] = byte(mix(i*4096+k) >> 20)
	}
	return v
}

// fit cuts v or adds zeros to it, if it should be of fixed bytes.
func fit(v []byte, fixed int) []byte {
	if fixed == 0 {
		return v
	}
	return append(append(make([]byte, 0, len(v)+fixed), v...), make([]byte, fixed)...)[:fixed]
}

// mix is a number that looks random and depends on i alone (Steele, Lea and
// Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
func mix(i int) uint64 {
	z := uint64(i)*0x9e3779b97f4a7c15 + 0x1234567
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
