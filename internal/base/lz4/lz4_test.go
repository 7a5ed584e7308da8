package lz4

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	reference "github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func unpack(t require.TestingT, block []byte, n int) []byte {
	dst := make([]byte, n)
	got, err := reference.UncompressBlock(block, dst)
	require.NoError(t, err)
	require.Equal(t, n, got)
	return dst
}

func TestExample(t *testing.T) {
	var e Encoder
	block := e.Append(nil, []byte("abcabcabcabcabcabc12345"))
	require.Equal(t, "3b616263 0300 503132333435", fmt.Sprintf("%x %x %x", block[:4], block[4:6], block[6:]))
}

func TestRoundTrip(t *testing.T) {
	var e Encoder
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 30), 1, 8).Draw(t, "words")
		var src []byte
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(words)-1), 1, 400).Draw(t, "text") {
			src = append(src, words[i]...)
		}
		block := e.Append([]byte("x"), src)[1:]
		require.Equal(t, src, unpack(t, block, len(src)))
		var fresh Encoder
		require.Equal(t, block, fresh.Append(nil, src), "the same after other sources")
	})
}

// The ends of blocks have special rules: all short lengths, long runs, far offsets and incompressible bytes.
func TestSizes(t *testing.T) {
	var e Encoder
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for n := 1; n < 300; n++ {
		for _, src := range [][]byte{bytes.Repeat([]byte{7}, n), bytes.Repeat([]byte("abcde"), n)[:n], noise[:n]} {
			require.Equal(t, src, unpack(t, e.Append(nil, src), n))
		}
	}
	for _, gap := range []int{65_000, 65_534, 65_535, 65_536, 70_000} {
		src := append(append([]byte(nil), noise[:gap]...), noise[:500]...)
		require.Equal(t, src, unpack(t, e.Append(nil, src), len(src)))
	}
	block := e.Append(nil, noise)
	require.Equal(t, noise, unpack(t, block, len(noise)))
	require.Less(t, len(block), len(noise)+len(noise)/255+16)
	run := make([]byte, 1<<20)
	block = e.Append(nil, run)
	require.Equal(t, run, unpack(t, block, len(run)))
	require.Less(t, len(block), len(run)/250)
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabcabcabcabcabc"))
	var e Encoder
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 0 {
			require.Equal(t, src, unpack(t, e.Append(nil, src), len(src)))
		}
	})
}

// Text of a few thousand words with skewed frequencies.
func text(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var src []byte
	for len(src) < n {
		src = fmt.Appendf(src, "%x ", uint32(float64(1<<24)*rnd.Float64()*rnd.Float64()*rnd.Float64())>>12*2654435761)
	}
	return src[:n]
}

func BenchmarkAppend(b *testing.B) {
	src := text(128 << 10)
	dst := make([]byte, 0, len(src))
	b.Run("ours", func(b *testing.B) {
		var e Encoder
		microbench.Output(b, len(src))
		for b.Loop() {
			dst = e.Append(dst[:0], src)
		}
		b.ReportMetric(float64(len(dst))/float64(len(src)), "ratio")
	})
	b.Run("pierrec", func(b *testing.B) {
		var c reference.Compressor
		out := make([]byte, reference.CompressBlockBound(len(src)))
		n := 0
		microbench.Output(b, len(src))
		for b.Loop() {
			n, _ = c.CompressBlock(src, out)
		}
		b.ReportMetric(float64(n)/float64(len(src)), "ratio")
	})
}
