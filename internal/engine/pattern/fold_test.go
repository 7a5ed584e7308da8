package pattern

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestFold compares the fast path for ASCII with folding character by character. Texts that differ only in case fold
// to the same text.
func TestFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if next := unicode.SimpleFold(r); next != r {
			require.Equal(t, foldRune(r), foldRune(next), "%q", r)
			require.LessOrEqual(t, foldRune(r), r)
		}
	}
	alphabet := rapid.SampledFrom([]string{"a", "B", "z", "Z", "@", "[", "`", "{", "\x7f", "ö", "ß", "ſ", "K", "Ⱥ", "\x80", "\xc3", "日", "aaaaaaaa", "zzzzzzzz"})
	rapid.Check(t, func(t *rapid.T) {
		var in, want []byte
		for _, s := range rapid.SliceOfN(alphabet, 0, 30).Draw(t, "text") {
			in = append(in, s...)
		}
		for rest := in; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 {
				want = append(want, rest[0])
			} else {
				want = utf8.AppendRune(want, foldRune(r))
			}
			rest = rest[n:]
		}
		require.Equal(t, "x"+string(want), string(appendFolded([]byte("x"), in)))
	})
}
