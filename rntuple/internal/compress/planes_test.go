package compress

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Blocks of planes give their content back, whatever the planes are like, and those that do not shrink are stored
// as they are.
func TestPlanes(t *testing.T) {
	for _, s := range []Settings{501, 505, 404} {
		e, err := NewEncoder(s)
		require.NoError(t, err)
		var d Decoder
		rapid.Check(t, func(t *rapid.T) {
			planes := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "planes")
			n := rapid.SampledFrom([]int{1, 100, 255, 256, 257, 1 << 14, 20_000, 128<<10 - 1, 128<<10 + 1}).Draw(t, "elements")
			var content []byte
			for range planes {
				part := rapid.SampledFrom([][]byte{text(n), noise(n), make([]byte, n), append(noise(n/3), make([]byte, n-n/3)...)}).Draw(t, "plane")
				content = append(content, part...)
			}
			block, err := e.AppendPlanes([]byte("before"), content, planes)
			require.NoError(t, err)
			require.Equal(t, "before", string(block[:6]))
			block = block[6:]
			require.LessOrEqual(t, len(block), len(content))
			require.NoError(t, Check(block, uint64(len(content))))
			got := noise(len(content))
			require.NoError(t, d.Decode(got, block))
			require.True(t, bytes.Equal(content, got))
			again, err := e.AppendPlanes(nil, content, planes)
			require.NoError(t, err)
			require.True(t, bytes.Equal(block, again))
		})
	}
}

// Planes of bytes with frequencies of their own are packed better than all bytes together.
func TestPlanesAreSmaller(t *testing.T) {
	few, many := noise(20_000), noise(20_000)
	for i := range few {
		few[i] &= 3
	}
	content := append(few, many...)
	e, err := NewEncoder(501)
	require.NoError(t, err)
	packed, err := e.AppendPlanes(nil, content, 2)
	require.NoError(t, err)
	require.Less(t, len(packed), 20_000+20_000/4+200)
}
