package bitmap

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// Every operation agrees with a slice of bools, at any offset.
func TestAgainstBools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Bool(), 0, 300).Draw(t, "bits")
		off := rapid.IntRange(0, 70).Draw(t, "off")
		data := make([]byte, (off+len(want)+7)/8)
		count := 0
		for i, v := range want {
			if v {
				data[(off+i)>>3] |= 1 << ((off + i) & 7)
				count++
			}
		}
		b := Bits{Data: data, Off: off, Len: len(want)}
		require.Equal(t, count, b.Count())
		to := rapid.IntRange(0, 70).Draw(t, "to")
		dst := make([]byte, (to+len(want)+7)/8+1)
		for i := range dst {
			dst[i] = 0xA5
		}
		b.CopyTo(dst, to)
		got := Bits{Data: dst, Off: to, Len: len(want)}
		for i, v := range want {
			require.Equal(t, v, b.At(i))
			require.Equal(t, v, got.At(i))
			require.Equal(t, v, b.Word(i)&1 != 0)
		}
		outside := Bits{Data: dst, Len: len(dst) * 8}
		for i := range len(dst) * 8 {
			if i < to || i >= to+len(want) {
				require.Equal(t, byte(0xA5)>>(i&7)&1 != 0, outside.At(i))
			}
		}
		SetRange(dst, to, len(want))
		require.Equal(t, len(want), got.Count())
		ClearRange(dst, to, len(want))
		require.Zero(t, got.Count())
		for i := range len(dst) * 8 {
			if i < to || i >= to+len(want) {
				require.Equal(t, byte(0xA5)>>(i&7)&1 != 0, outside.At(i))
			}
		}
		lo := rapid.IntRange(0, len(want)).Draw(t, "lo")
		s := b.Slice(lo, len(want))
		for i := range s.Len {
			require.Equal(t, want[lo+i], s.At(i))
		}
		s.EachClear(func(i int) {
			require.False(t, want[lo+i])
			want[lo+i] = true
		})
		require.NotContains(t, want[lo:], false)
	})
}

// Benchmark copies bits from an unaligned offset to aligned and unaligned ones, and counts them.
func Benchmark(b *testing.B) {
	const n = 1 << 16
	bits := Bits{Data: make([]byte, n/8+1), Off: 3, Len: n}
	for i := range bits.Data {
		bits.Data[i] = byte(i * 37)
	}
	dst := make([]byte, n/8+1)
	for name, f := range map[string]func(){
		"CopyTo/byte": func() { bits.CopyTo(dst, 0) },
		"CopyTo/bit":  func() { bits.CopyTo(dst, 5) },
		"SetRange":    func() { SetRange(dst, 5, n) },
		"Count":       func() { bits.Count() },
	} {
		b.Run(name, func(b *testing.B) {
			microbench.Output(b, n/8)
			for b.Loop() {
				f()
			}
		})
	}
}
