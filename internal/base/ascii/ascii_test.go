package ascii

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUpper8(t *testing.T) {
	for c := range byte(0x80) {
		for at := range 8 {
			b := []byte("a{Zz@`[0")
			b[at] = c
			var got [8]byte
			binary.LittleEndian.PutUint64(got[:], Upper8(binary.LittleEndian.Uint64(b)))
			require.Equal(t, bytes.ToUpper(b), got[:])
		}
	}
}

func TestOnly(t *testing.T) {
	for n := range 80 {
		b := bytes.Repeat([]byte{0x7f}, n)
		require.True(t, Only(b))
		for i := range b {
			b[i] = 0x80
			require.False(t, Only(b))
			b[i] = 0x7f
		}
	}
}
