package learn

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every byte, alone among others, is in the class that the grammar has for it.
func TestClassesOfEightBytes(t *testing.T) {
	for b := range 256 {
		for i := range 8 {
			for _, other := range []uint64{0, '0', '9', 'z', 0xff} {
				w := other*eachByte&^(0xff<<(8*i)) | uint64(b)<<(8*i)
				require.Equal(t, alnum(byte(b)), alnums(w)>>(8*i)&0x80 != 0, "%#x at %d in %#x", b, i, w)
			}
		}
	}
}

func TestNumbersOfEightBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{0,19}`).Draw(t, "digits")
		around := rapid.StringN(0, 12, -1).Draw(t, "around")
		data := []byte(around + text + around)
		s := span{uint32(len(around)), uint32(len(around) + len(text))}
		x, ok := decimal(data, s)
		require.Equal(t, text != "", ok)
		if ok {
			want, err := strconv.ParseUint(text, 10, 64)
			require.NoError(t, err)
			require.Equal(t, want, x)
			i := rapid.IntRange(0, len(text)-1).Draw(t, "i")
			b := rapid.Byte().Draw(t, "byte")
			data[int(s.from)+i] = b
			_, ok = decimal(data, s)
			require.Equal(t, b >= '0' && b <= '9', ok, "%q", data)
		}
		hex := rapid.StringMatching(`[0-9a-f]{1,8}|[0-9A-F]{1,8}`).Draw(t, "hex")
		want, err := strconv.ParseUint(hex, 16, 64)
		require.NoError(t, err)
		require.Equal(t, want, hexOf(load([]byte(hex+around), 0), len(hex)))
	})
}
