package simd

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// Bytes that begin and end ranges of UTF-8, two to four in a row, at each place of two blocks, are as valid as package utf8 says.
func TestUTF8Bounds(t *testing.T) {
	defer use(tiers()[len(tiers())-1])
	bounds := []byte{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	for _, tier := range tiers() {
		use(tier)
		b := make([]byte, 70)
		for at := range len(b) - 4 {
			if at > 4 && at < 26 || at > 33 && at < 58 {
				continue // far from the bounds of blocks
			}
			for i := range len(bounds) * len(bounds) * len(bounds) * 3 {
				copy(b, strings.Repeat("ab", 35))
				for k, j := 0, i/3; k < 3; k, j = k+1, j/len(bounds) {
					b[at+k] = bounds[j%len(bounds)]
				}
				b[at+3] = "a\x80\xbf"[i%3]
				if utf8.Valid(b[at:at+4]) != ValidUTF8(b) {
					require.Equal(t, utf8.Valid(b[at:at+4]), ValidUTF8(b), "%s: % x at %d", tier, b[at:at+4], at)
				}
			}
		}
	}
}

func TestUTF8(t *testing.T) {
	defer use(tiers()[len(tiers())-1])
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.StringN(0, 200, -1).Draw(t, "text"))
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			if len(b) > 0 {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		for _, tier := range tiers() {
			use(tier)
			require.Equal(t, utf8.Valid(b), ValidUTF8(b), "%s: % x", tier, b)
		}
	})
}

func BenchmarkUTF8(b *testing.B) {
	text := bytes.Repeat([]byte("погода в москве 2013 "), 5000)
	defer use(tiers()[len(tiers())-1])
	for _, tier := range tiers() {
		use(tier)
		b.Run(tier, func(b *testing.B) {
			microbench.Output(b, len(text))
			for b.Loop() {
				ValidUTF8(text)
			}
		})
	}
}
