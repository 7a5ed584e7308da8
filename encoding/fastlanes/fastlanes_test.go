package fastlanes

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// TestKnownBytes checks chunks whose bytes were computed by other means.
func TestKnownBytes(t *testing.T) {
	t.Run("uint8 in 3 bits", func(t *testing.T) {
		b := packed(t, 3, func(i int) uint8 { return uint8(i % 8) })
		require.Equal(t, unhex(t, "00 49 92 db 24 6d b6 ff"), b[:8])
		require.Equal(t, unhex(t, "00 92 24 b6 49 db 6d ff"), b[128:136])
		require.Equal(t, unhex(t, "00 24 49 6d 92 b6 db ff"), b[256:264])
	})
	t.Run("uint16 in 5 bits", func(t *testing.T) {
		b := packed(t, 5, func(i int) uint16 { return uint16(i % 32) })
		require.Equal(t, unhex(t, "00 00 21 84 42 08 63 8c 84 10 a5 94 c6 18 e7 9c"), b[:16])
		require.Len(t, b, 640)
	})
	t.Run("uint32 in 10 bits", func(t *testing.T) {
		b := packed(t, 10, func(i int) uint32 { return uint32(i) })
		require.Equal(t, unhex(t, "00 00 02 10 01 04 12 50 02 08 22 90 03 0c 32 d0"+
			"04 10 42 10 05 14 52 50 06 18 62 90 07 1c 72 d0"), b[:32])
		require.Equal(t, unhex(t, "fa eb b7 ff fe fb f7 ff"), b[1272:])
		require.Len(t, b, 1280)
	})
	t.Run("uint64 in 7 bits", func(t *testing.T) {
		b := packed(t, 7, func(i int) uint64 { return uint64(i % 128) })
		require.Equal(t, unhex(t, "00 00 00 00 00 00 00 40 81 40 20 10 08 04 02 c1"), b[:16])
	})
	t.Run("uint32 in 2 bits", func(t *testing.T) {
		b := packed(t, 2, func(i int) uint32 {
			if i < 3 {
				return uint32(i + 1)
			}
			return 0
		})
		want := make([]byte, 256)
		want[0], want[4], want[8] = 1, 2, 3
		require.Equal(t, want, b)
	})
}

// packed packs f(0), f(1), ... and checks that they come back.
func packed[W Word](t *testing.T, w int, f func(i int) W) []byte {
	t.Helper()
	var src, back [ChunkLen]W
	for i := range src {
		src[i] = f(i)
	}
	b := make([]byte, PackedLen(w))
	Pack(b, &src, 0, w)
	Unpack(&back, b, 0, w)
	require.Equal(t, src, back)
	return b
}
