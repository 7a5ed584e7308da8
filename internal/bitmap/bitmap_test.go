package bitmap

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every operation must agree with a slice of bools, at any offset.
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
		lo := rapid.IntRange(0, len(want)).Draw(t, "lo")
		s := b.Slice(lo, len(want))
		for i := range s.Len {
			require.Equal(t, want[lo+i], s.At(i))
		}
	})
}
