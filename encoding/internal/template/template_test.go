package template

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func masked(text string) (template, digits string) {
	template = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			digits += string(r)
			return '0'
		}
		return r
	}, text)
	return template, digits
}

// drawTexts draws texts with few templates, and long parts of all kinds.
func drawTexts(t *rapid.T) []string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.StringMatching(`[a-z:/ü]{0,20}`), rapid.StringMatching(`[0-9]{1,40}`),
		rapid.SampledFrom([]string{"", strings.Repeat("x", 64), strings.Repeat("long ", 40), strings.Repeat("7", 64), "\x00", "/", ":"}),
	), 1, 6).Draw(t, "parts")
	seed := rapid.Uint64().Draw(t, "seed")
	rnd := rand.New(rand.NewPCG(seed, 1))
	texts := make([]string, rapid.IntRange(0, 200).Draw(t, "n"))
	for i := range texts {
		for range rnd.IntN(5) {
			texts[i] += parts[rnd.IntN(len(parts))]
		}
		texts[i] = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '0' + rune(rnd.IntN(10))
			}
			return r
		}, texts[i])
	}
	return texts
}

// eachTier runs a test with every set of kernels that this machine has.
func eachTier(t *testing.T, test func(t *testing.T)) {
	all := tiers()
	defer use(all[len(all)-1])
	for _, tier := range all {
		use(tier)
		t.Run(tier, test)
	}
}

// Texts are split as the definition says, and come back, with canaries around them.
func TestSplit(t *testing.T) { eachTier(t, testSplit) }

func testSplit(t *testing.T) { rapid.Check(t, checkSplit()) }

// FuzzSplit lets the fuzzer draw texts, with every set of kernels.
func FuzzSplit(f *testing.F) {
	all := tiers()
	f.Cleanup(func() { use(all[len(all)-1]) })
	check := checkSplit()
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		use(rapid.SampledFrom(all).Draw(t, "tier"))
		check(t)
	}))
}

// checkSplit is a check that uses an encoder and a set again and again.
func checkSplit() func(t *rapid.T) {
	var e Encoder
	var s Set
	return func(t *rapid.T) {
		texts := drawTexts(t)
		data, offsets := []byte("0"), []int64{1}
		var digits string
		for _, text := range texts {
			data = append(data, text...)
			offsets = append(offsets, int64(len(data)))
			_, d := masked(text)
			digits += d
		}
		require.True(t, e.Encode(data, offsets, len(texts)))
		require.Equal(t, digits, string(e.Digits))

		lengths := e.Lengths(nil)
		require.Len(t, lengths, e.Len())
		require.NoError(t, s.Reset(append(make([]byte, 0, len(e.Text())+Slack), e.Text()...), lengths))
		seen := map[string]uint32{}
		for i, text := range texts {
			template, _ := masked(text)
			if _, ok := seen[template]; !ok {
				seen[template] = uint32(len(seen))
			}
			require.Equal(t, seen[template], e.Codes[i])
		}
		require.Len(t, lengths, len(seen))

		ends, marks := make([]uint64, len(texts)+1), make([]uint64, len(texts)/MarkEvery+1)
		count, err := s.Offsets(ends, marks, e.Codes)
		require.NoError(t, err)
		require.EqualValues(t, len(digits), count)
		for i, end := range ends {
			require.EqualValues(t, offsets[i]-1, end)
		}

		words := AppendWords(nil, e.Digits)
		require.EqualValues(t, WordsLen(count), len(words))
		unpacked := make([]byte, len(words)/8*WordDigits+Slack)
		require.True(t, UnpackWords(unpacked, words))
		require.Equal(t, digits, string(unpacked[:count]))
		from := rapid.IntRange(0, len(texts)).Draw(t, "from")
		skip := s.Digits(e.Codes[:from])
		for _, exact := range []bool{false, true} {
			want := data[offsets[from]:]
			memory := bytes.Repeat([]byte{0xa5}, 8+len(want)+Slack+8)
			s.Expand(memory[8:], e.Codes[from:], unpacked[skip:], exact)
			require.Equal(t, string(want), string(memory[8:8+len(want)]))
			slack := Slack
			if exact {
				slack = 0
			}
			for _, b := range append(memory[:8:8], memory[8+len(want)+slack:]...) {
				require.EqualValues(t, 0xa5, b)
			}
		}
	}
}

func TestTooMany(t *testing.T) {
	var data []byte
	offsets := []int64{0}
	for i := range 1000 {
		data = append(data, bytes.Repeat([]byte{'a' + byte(i%20)}, 1+i/20)...)
		offsets = append(offsets, int64(len(data)))
	}
	var e Encoder
	require.False(t, e.Encode(data, offsets, 100))
	require.True(t, e.Encode(data, offsets, 1000))
	require.Equal(t, 1000, e.Len())
	require.Empty(t, e.Digits)
}

func TestBadTemplates(t *testing.T) { eachTier(t, testBadTemplates) }

func testBadTemplates(t *testing.T) {
	text := func(s string) []byte { return append(make([]byte, 0, len(s)+Slack), s...) }
	var s Set
	require.NoError(t, s.Reset(text("a00b"), []uint32{3, 0, 1}))
	for _, bad := range []string{"a10b", "a000000000000009", "9", strings.Repeat("a", 70) + "00000004"} {
		require.ErrorIs(t, s.Reset(text(bad), []uint32{uint32(len(bad))}), fault.ErrCorrupt, bad)
	}
	require.ErrorIs(t, s.Reset(text("a00b"), []uint32{3}), fault.ErrCorrupt)
	require.ErrorIs(t, s.Reset(text("a00b"), []uint32{3, 2}), fault.ErrCorrupt)
	require.NoError(t, s.Reset(text("a00b"), []uint32{4}))
	_, err := s.Offsets(make([]uint64, 3), make([]uint64, 1), []uint32{0, 1})
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func TestBadWords(t *testing.T) {
	dst := make([]byte, WordDigits+Slack)
	for shift := 0; shift < 60; shift += groupBits {
		for v := range uint64(1 << groupBits) {
			word := le.AppendUint64(nil, v<<shift)
			require.Equal(t, v < 1000, UnpackWords(dst, word))
			if v < 1000 {
				at := shift / groupBits * groupDigits
				require.Equal(t, fmt.Sprintf("%03d", v), string(dst[at:at+groupDigits]))
			}
		}
	}
	for bit := 60; bit < 64; bit++ {
		require.False(t, UnpackWords(dst, le.AppendUint64(nil, 1<<bit)))
	}
}

func TestAllDigits(t *testing.T) {
	for n := range 20 {
		digits := bytes.Repeat([]byte{'9'}, n)
		require.True(t, AllDigits(digits))
		for i := range digits {
			for b := range 256 {
				digits[i] = byte(b)
				require.Equal(t, b >= '0' && b <= '9', AllDigits(digits))
			}
			digits[i] = '0'
		}
	}
}

func BenchmarkTemplate(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var data []byte
	offsets := []int64{0}
	for range 20_000 {
		data = fmt.Appendf(data, "2026-11-%02d %02d:%02d:%02d,%03d INFO worker-%d took %d ms for block blk_%d of %s",
			1+rnd.IntN(30), rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000), rnd.IntN(12), rnd.IntN(2000), rnd.Int64(),
			strings.Repeat("a file ", rnd.IntN(4)))
		offsets = append(offsets, int64(len(data)))
	}
	var e Encoder
	b.Run("split", func(b *testing.B) {
		microbench.Output(b, len(data))
		for b.Loop() {
			e.Encode(data, offsets, 64)
		}
	})
	text := append(make([]byte, 0, len(e.Text())+Slack), e.Text()...)
	dst, digits := make([]byte, len(data)+Slack), append(e.Digits, make([]byte, Slack)...)
	all := tiers()
	defer use(all[len(all)-1])
	for _, tier := range all {
		use(tier)
		var s Set
		lengths := e.Lengths(nil)
		b.Run("reset/"+tier, func(b *testing.B) {
			microbench.Output(b, len(text))
			for b.Loop() {
				require.NoError(b, s.Reset(text, lengths))
			}
		})
		b.Run("expand/"+tier, func(b *testing.B) {
			microbench.Output(b, len(data))
			for b.Loop() {
				s.Expand(dst, e.Codes, digits, false)
			}
		})
	}
	words := AppendWords(nil, e.Digits)
	unpacked := make([]byte, len(e.Digits)+2*Slack)
	b.Run("words", func(b *testing.B) {
		microbench.Output(b, len(e.Digits))
		for b.Loop() {
			UnpackWords(unpacked, words)
		}
	})
}

// What a text contains its template may contain, with 0 for digits.
func TestContaining(t *testing.T) {
	var s Set
	var scratch []byte
	rapid.Check(t, func(t *rapid.T) {
		templates := rapid.SliceOfN(rapid.StringMatching(`[ab0]{0,7}`), 0, 20).Draw(t, "templates")
		part := rapid.StringMatching(`[ab059]{1,3}`).Draw(t, "part")
		text, lengths := []byte(strings.Join(templates, "")), make([]uint32, len(templates))
		for i, template := range templates {
			lengths[i] = uint32(len(template))
		}
		require.NoError(t, s.Reset(append(make([]byte, 0, len(text)+Slack), text...), lengths))
		keep, want := bytes.Repeat([]byte{1}, len(templates)), make([]byte, len(templates))
		m, _ := masked(part)
		for i, template := range templates {
			if keep[i] = byte(i % 2); i%2 == 1 && strings.Contains(template, m) {
				want[i] = 1
			}
		}
		s.Containing(keep, []byte(part), &scratch)
		require.Equal(t, want, keep)
	})
}
