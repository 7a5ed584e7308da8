package flatlz

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// referenceDecode decodes a stream byte by byte, as its definition says. It returns false if the stream does not
// decode to n bytes.
func referenceDecode(seqs, literals []byte, n int) (out []byte, ok bool) {
	if len(seqs)%SequenceLen != 0 {
		return nil, false
	}
	for ; len(seqs) > 0; seqs = seqs[SequenceLen:] {
		lits, match, back := int(seqs[0]), int(seqs[1]), int(le.Uint16(seqs[2:]))
		if lits > len(literals) {
			return nil, false
		}
		out = append(out, literals[:lits]...)
		literals = literals[lits:]
		if back < minBack || match > 0 && back > len(out) {
			return nil, false
		}
		for range match {
			out = append(out, out[len(out)-back])
		}
		if len(out) > n {
			return nil, false
		}
	}
	return out, len(out) == n && len(literals) == 0
}

// checkDecode compares Decode with referenceDecode, with extra capacity behind dst and literals.
func checkDecode(t require.TestingT, seqs, literals []byte, n int) (out []byte, ok bool) {
	want, good := referenceDecode(seqs, literals, n)
	for _, slack := range []int{0, 1, 64, 2000} {
		const canary = 0xa5
		memory := bytes.Repeat([]byte{canary}, 16+n+slack+16)
		lits := append(make([]byte, 0, len(literals)+slack), literals...)
		dst := memory[16 : 16+n : 16+n+slack]
		err := Decode(dst, seqs, lits)
		require.Equal(t, good, err == nil, "%v", err)
		if good {
			require.True(t, bytes.Equal(want, dst))
		} else {
			require.ErrorIs(t, err, fault.ErrCorrupt)
		}
		for i := range 16 {
			require.EqualValues(t, canary, memory[i])
			require.EqualValues(t, canary, memory[16+n+slack+i])
		}
		for _, part := range []int{0, min(1, n), n / 3, n} {
			checkPrefix(t, seqs, lits, part, slack, want, good)
		}
	}
	return want, good
}

// checkPrefix decodes the first n bytes of a valid or invalid stream.
func checkPrefix(t require.TestingT, seqs, literals []byte, n, slack int, want []byte, good bool) {
	const canary = 0xa5
	memory := bytes.Repeat([]byte{canary}, 16+n+slack+16)
	dst := memory[16 : 16+n : 16+n+slack]
	err := DecodePrefix(dst, seqs, literals)
	if good {
		require.NoError(t, err)
		require.True(t, bytes.Equal(want[:n], dst))
	}
	for i := range 16 {
		require.EqualValues(t, canary, memory[i])
		require.EqualValues(t, canary, memory[16+n+slack+i])
	}
}

func checkRoundTrip(t require.TestingT, e *Encoder, src []byte) {
	seqs, literals := e.Encode(src)
	out, ok := checkDecode(t, seqs, literals, len(src))
	require.True(t, ok)
	require.True(t, bytes.Equal(src, out))
	require.LessOrEqual(t, len(src), MaxRatio*(len(seqs)+len(literals)))
}

func TestExample(t *testing.T) {
	var e Encoder
	seqs, literals := e.Encode([]byte("abcdefghijklmnopabcdefghijkl!"))
	require.Equal(t, "100c100001001000", hex.EncodeToString(seqs))
	require.Equal(t, "abcdefghijklmnop!", string(literals))
}

func TestRoundTrip(t *testing.T) {
	var e Encoder
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 40), 1, 8).Draw(t, "words")
		var src []byte
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(words)-1), 1, 400).Draw(t, "text") {
			src = append(src, words[i]...)
		}
		checkRoundTrip(t, &e, src)
		seqs, literals := e.Encode(src)
		var fresh Encoder
		s, l := fresh.Encode(src)
		require.True(t, bytes.Equal(seqs, s) && bytes.Equal(literals, l), "the same after other sources")
	})
}

// Short lengths, long runs, long literals, far matches.
func TestSizes(t *testing.T) {
	var e Encoder
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for n := range 700 {
		for _, src := range [][]byte{bytes.Repeat([]byte{7}, n), bytes.Repeat([]byte("abcde"), n)[:n], noise[:n], append(noise[:300:300], noise[:n]...)} {
			checkRoundTrip(t, &e, src)
		}
	}
	for _, gap := range []int{65_000, 65_534, 65_535, 65_536, 70_000} {
		checkRoundTrip(t, &e, append(append([]byte(nil), noise[:gap]...), noise[:500]...))
	}
	checkRoundTrip(t, &e, noise)
	seqs, literals := e.Encode(noise)
	require.Less(t, len(seqs)+len(literals), len(noise)+len(noise)/50)
	run := make([]byte, 1<<20)
	checkRoundTrip(t, &e, run)
	seqs, literals = e.Encode(run)
	require.Less(t, len(seqs)+len(literals), len(run)/60)
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabcabcabcabcabc"))
	var e Encoder
	f.Fuzz(func(t *testing.T, src []byte) { checkRoundTrip(t, &e, src) })
}

// FuzzDecode decodes arbitrary bytes to their number of bytes, and to one byte more.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x10, 0x0c, 0x10, 0, 1, 0, 0x10, 0}, []byte("abcdefghijklmnop!"), uint16(29))
	f.Add(bytes.Repeat([]byte{20, 40, 16, 0}, 50), make([]byte, 1000), uint16(3000))
	f.Fuzz(func(t *testing.T, seqs, literals []byte, n uint16) {
		checkDecode(t, seqs, literals, int(n))
		sum := 0
		for i := 0; i+SequenceLen <= len(seqs) && sum < 1<<20; i += SequenceLen {
			sum += int(seqs[i]) + int(seqs[i+1])
		}
		checkDecode(t, seqs, literals, sum)
	})
}

// text returns text that resembles lines of a log.
func text(n int) (src []byte) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for len(src) < n {
		src = fmt.Appendf(src, "2026-11-%02d %02d:%02d:%02d node-%d kernel: %s done in %d us\n", len(src)>>13, len(src)>>9&7, rnd.IntN(60), rnd.IntN(60),
			rnd.IntN(40), []string{"request", "flush of page cache", "sync"}[rnd.IntN(3)], rnd.IntN(1000))
	}
	return src[:n]
}

func BenchmarkEncode(b *testing.B) {
	src := text(128 << 10)
	var e Encoder
	var size int
	microbench.Output(b, len(src))
	for b.Loop() {
		s, l := e.Encode(src)
		size = len(s) + len(l)
	}
	b.ReportMetric(float64(size)/float64(len(src)), "ratio")
}

func BenchmarkDecode(b *testing.B) {
	src := text(128 << 10)
	var e Encoder
	seqs, literals := e.Encode(src)
	dst := make([]byte, len(src), len(src)+64)
	microbench.Output(b, len(src))
	for b.Loop() {
		if err := Decode(dst, seqs, literals); err != nil {
			b.Fatal(err)
		}
	}
}
