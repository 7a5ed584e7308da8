package analysis

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b                    string
		insensitive, preserving int
	}{
		{"", "", 0, 0}, {"", "a", -1, -1}, {"a", "a", 0, 0}, {"a", "b", -1, -1}, {"a", "ab", -1, -1},
		{"A", "a", 0, -1}, {"a", "B", -1, -1}, {"Ab", "aB", 0, -1}, {"AB", "aa", 1, 1}, {"abc", "ABD", -1, -1},
		{"ß", "ẞ", 0, -1}, {"straße", "STRASSE", 1, 1}, {"ſ", "S", 0, 1}, {"ı", "I", 0, 1}, {"ÿ", "Ÿ", 0, -1},
		{"ᾳ", "ᾼ", -1, -1}, {"ꭰ", "Ꭰ", 0, 1}, {"_", "a", 1, 1}, {"_", "A", 1, 1}, {"1", "a", -1, -1},
		{"\uffff", "𐐨", -1, -1}, {"𐐨", "𐐀", 0, 1}, {"a\xff", "a\xfe", 0, 1},
	} {
		require.Equal(t, c.insensitive, sign(CaseInsensitive.Compare([]byte(c.a), []byte(c.b))), "%q %q", c.a, c.b)
		require.Equal(t, c.preserving, sign(CasePreserving.Compare([]byte(c.a), []byte(c.b))), "%q %q", c.a, c.b)
	}
}

func sign(n int) int { return cmp.Compare(n, 0) }

func TestHasPrefix(t *testing.T) {
	for _, c := range []struct {
		term, prefix            string
		insensitive, preserving bool
	}{
		{"", "", true, true}, {"a", "", true, true}, {"", "a", false, false}, {"abc", "ab", true, true},
		{"ABc", "ab", true, false}, {"ab", "abc", false, false}, {"ẞa", "ß", true, false}, {"sa", "ſ", true, false},
	} {
		require.Equal(t, c.insensitive, CaseInsensitive.HasPrefix([]byte(c.term), []byte(c.prefix)), "%q %q", c.term, c.prefix)
		require.Equal(t, c.preserving, CasePreserving.HasPrefix([]byte(c.term), []byte(c.prefix)), "%q %q", c.term, c.prefix)
	}
}

func TestCollationNames(t *testing.T) {
	for _, c := range []Collation{CaseInsensitive, CasePreserving} {
		for _, name := range []string{c.String(), strings.ToUpper(c.String())} {
			got, ok := CollationByName(name)
			require.True(t, ok)
			require.Equal(t, c, got)
		}
	}
	_, ok := CollationByName("unicode")
	require.False(t, ok)
}

// Upper is that of Unicode for all characters but a few.
func TestUpper(t *testing.T) {
	same := []rune{0x1fb3, 0x1fc3, 0x1ff3}
	for _, from := range []rune{0x1f80, 0x1f90, 0x1fa0} {
		for r := from; r < from+8; r++ {
			same = append(same, r)
		}
	}
	for r := rune(-1); r <= utf8.MaxRune+1; r++ {
		want := unicode.ToUpper(r)
		switch {
		case r == 0xdf:
			want = 0x1e9e
		case slices.Contains(same, r):
			want = r
		}
		if got := Upper(r); got != want {
			t.Fatalf("%U is %U in upper case, not %U", r, got, want)
		}
	}
}

// A term in upper case stays as it is.
func TestUpperTwice(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if u := Upper(r); Upper(u) != u {
			t.Errorf("%U is %U in upper case, and that %U", r, u, Upper(u))
		}
	}
}

// runesUpper is a text in upper case, by character; bytes that are not UTF-8 are U+FFFD.
func runesUpper(s string) []rune {
	out := []rune(s)
	for i, r := range out {
		out[i] = Upper(r)
	}
	return out
}

// drawTerm generates terms that often differ in case only, or in their length.
func drawTerm() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("aAsSſßẞıIᾳ_1\ufffd𐐨𐐀")), 0, 4, -1),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte("aA\xc3\xa9\x89\xff")), 0, 4), func(b []byte) string { return string(b) }))
}

func TestCompareIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := []byte(drawTerm().Draw(t, "a")), []byte(drawTerm().Draw(t, "b")), []byte(drawTerm().Draw(t, "c"))
		insensitive := slices.Compare(runesUpper(string(a)), runesUpper(string(b)))
		preserving := cmp.Or(insensitive, bytes.Compare(a, b))
		require.Equal(t, insensitive, sign(CaseInsensitive.Compare(a, b)))
		require.Equal(t, preserving, sign(CasePreserving.Compare(a, b)))
		for _, by := range []Collation{CaseInsensitive, CasePreserving} {
			require.Zero(t, by.Compare(a, a))
			require.Equal(t, sign(by.Compare(a, b)), -sign(by.Compare(b, a)))
			if by.Compare(a, b) <= 0 && by.Compare(b, c) <= 0 {
				require.LessOrEqual(t, by.Compare(a, c), 0)
			}
			require.True(t, by.HasPrefix(a, nil) && by.HasPrefix(a, a) && by.HasPrefix(append(bytes.Clone(a), 'x'), a))
		}
		if utf8.Valid(a) && utf8.Valid(b) { // terms of indexes are compared in upper case
			require.Equal(t, insensitive, bytes.Compare(AppendUpper(nil, a), AppendUpper(nil, b)))
			require.Equal(t, bytes.HasPrefix(AppendUpper(nil, a), AppendUpper(nil, b)), CaseInsensitive.HasPrefix(a, b))
		}
	})
}

func FuzzCollation(f *testing.F) {
	f.Add("Straße\xff", "STRAẞE")
	f.Add("12345678aZ", "12345678Az")
	f.Fuzz(func(t *testing.T, a, b string) {
		want := slices.Compare(runesUpper(a), runesUpper(b))
		require.Equal(t, want, sign(CaseInsensitive.Compare([]byte(a), []byte(b))))
		require.Equal(t, cmp.Or(want, strings.Compare(a, b)), sign(CasePreserving.Compare([]byte(a), []byte(b))))
		upper := AppendUpper([]byte("before"), []byte(a))
		require.True(t, bytes.HasPrefix(upper, []byte("before")))
		upper = upper[len("before"):]
		require.Equal(t, runesUpper(a), []rune(string(upper)))
		require.True(t, bytes.Equal(upper, AppendUpper(nil, upper)))
	})
}
