package chunk

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// padded is bytes as pages have them in memory.
func padded(b ...byte) []byte { return append(b, make([]byte, padding)...)[:len(b)] }

// Runs of one value and packed groups, decoded whole, in parts, and skipped.
func TestHybrid(t *testing.T) {
	b := padded(10<<1, 2, 1<<1|1, 0b11_10_01_00, 0b00_01_10_11) // ten times 2, then eight values of two bits
	want := []uint32{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 1, 2, 3, 3, 2, 1, 0}
	for from := range want {
		for to := from; to <= len(want); to++ {
			h := newHybrid(b, 2)
			require.True(t, h.skip(from))
			got := make([]uint32, to-from)
			require.True(t, h.decode(got))
			require.Equal(t, want[from:to], got)
		}
	}
	h := newHybrid(b, 2)
	require.False(t, h.decode(make([]uint32, len(want)+1)), "there are no more values")
}

// Bits are counted and copied to any place.
func TestHybridBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		groups := 1 + r.IntN(12)
		b := []byte{byte(groups<<1 | 1)}
		for range groups {
			b = append(b, byte(r.Uint32()))
		}
		skip, at := r.IntN(8*groups), r.IntN(70)
		n := r.IntN(8*groups - skip + 1)
		h := newHybrid(padded(b...), 1)
		require.True(t, h.skip(skip))
		dst := make([]byte, (at+n+7)/8+padding)
		ones, ok := h.bits(dst, at, n)
		require.True(t, ok)
		for i := range n {
			bit := b[1+(skip+i)/8] >> ((skip + i) % 8) & 1
			require.Equal(t, bit, dst[(at+i)/8]>>((at+i)%8)&1)
			ones -= int(bit)
		}
		require.Zero(t, ones)
	}
}

// Headers that are cut off are short; sizes that no page has are errors.
func TestPageHeader(t *testing.T) {
	header := []byte{0x15, 0, 0x15, 20, 0x15, 16, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0, 0} // a data page of 3 values, 10 bytes in 8
	h, err := parsePageHeader(header)
	require.NoError(t, err)
	require.Equal(t, pageHeader{size: len(header), kind: pageData, decoded: 10, encoded: 8, values: 3, encoding: plain, levels: rle, rows: -1, isEncoded: true}, h)
	for n := range header {
		_, err := parsePageHeader(header[:n])
		require.Error(t, err, n)
	}
	header[3] = 1 // -1 bytes
	_, err = parsePageHeader(header)
	require.ErrorContains(t, err, "impossible sizes")

	huge := []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01} // 1<<62 bytes of levels, twice: their sum is negative
	header = append([]byte{0x15, 6, 0x15, 20, 0x15, 20, 0x5c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 0, 0x15}, huge...)
	header = append(append(append(header, 0x15), huge...), 0, 0)
	_, err = parsePageHeader(header)
	require.ErrorContains(t, err, "impossible sizes")
}

func FuzzHybrid(f *testing.F) {
	f.Add([]byte{10 << 1, 5, 3, 0xe4, 0x1b}, uint8(2), uint16(18))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, uint8(32), uint16(300))
	f.Fuzz(func(t *testing.T, b []byte, width uint8, n uint16) {
		h := newHybrid(padded(b...), uint(width%33))
		if h.skip(int(n) / 2) {
			h.decode(make([]uint32, n))
		}
		if width == 1 {
			h = newHybrid(padded(b...), 1)
			h.bits(make([]byte, int(n)/8+1+padding), 0, int(n))
		}
	})
}

// Packed values of every width are what their bits say, from any value on.
func TestWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const groups = 5
	for width := uint(1); width <= 32; width++ {
		b := []byte{groups<<1 | 1}
		for range groups * width {
			b = append(b, byte(r.Uint32()))
		}
		for from := range 8 * groups {
			h := newHybrid(padded(b...), width)
			require.True(t, h.skip(from))
			got := make([]uint32, 8*groups-from)
			require.True(t, h.decode(got))
			for i, v := range got {
				for k := range width {
					at := uint(from+i)*width + k
					require.Equal(t, uint32(b[1+at/8]>>(at%8)&1), v>>k&1, "value %d of %d bits", from+i, width)
				}
			}
		}
	}
}
