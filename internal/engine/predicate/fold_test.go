package predicate

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Folding goes character by character, however many of them are ASCII, and two
// texts fold to the same if they differ in case only.
func TestFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if next := unicode.SimpleFold(r); next != r {
			require.Equal(t, folded1(r), folded1(next), "%q", r)
			require.LessOrEqual(t, folded1(r), r)
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
				want = utf8.AppendRune(want, folded1(r))
			}
			rest = rest[n:]
		}
		require.Equal(t, "x"+string(want), string(appendFolded([]byte("x"), in)))
	})
}
