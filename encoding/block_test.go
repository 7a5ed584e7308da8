package encoding

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.ReplaceAll(s, " ", ""), "\n", ""))
	require.NoError(t, err)
	return b
}

func TestChecksum(t *testing.T) {
	require.Equal(t, uint32(0x15d514c7), BlockChecksum(nil))
	require.Equal(t, uint32(0x59981402), BlockChecksum([]byte("testdata")))
}

// The reference writes these blocks for 10, 20, 30 and for 10, null, 30.
func TestReferenceBytes(t *testing.T) {
	for _, c := range []struct{ name, presence, values, want string }{
		{"no nulls", "", "0100 0a000000 14000000 1e000000",
			"00000000 0e000000 0100 0a000000 14000000 1e000000 000000000000 6cb54703"},
		{"a null", "02010001", "0100 0a000000 00000000 1e000000",
			"04000000 0e000000 02010001 00000000 0100 0a000000 00000000 1e000000 000000000000 8c1a4fde"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst, mark := BeginBlock([]byte("xyz"))
			require.Equal(t, 3, mark)
			dst = EndPresence(append(dst, unhex(t, c.presence)...), mark)
			dst = EndBlock(append(dst, unhex(t, c.values)...), mark, true)
			require.Equal(t, unhex(t, c.want), dst[mark:])
		})
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		presence := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "presence")
		values := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "values")
		checksum := rapid.Bool().Draw(t, "checksum")
		dst, mark := BeginBlock(nil)
		dst = EndPresence(append(dst, presence...), mark)
		dst = EndBlock(append(dst, values...), mark, checksum)
		require.Zero(t, len(dst)%8)
		b, err := ParseBlock(dst, checksum)
		require.NoError(t, err)
		require.Equal(t, presence, append([]byte{}, b.Presence...))
		require.Equal(t, values, append([]byte{}, b.Values...))
		require.Zero(t, b.ValuesOffset%8)
		if checksum {
			bit := rapid.IntRange(0, len(dst)*8-1).Draw(t, "bit")
			dst[bit/8] ^= 1 << (bit % 8)
			_, err = ParseBlock(dst, true)
			require.ErrorIs(t, err, fault.ErrChecksum)
		}
	})
}

func TestBadBlocks(t *testing.T) {
	for _, c := range []struct {
		bytes    string
		checksum bool
		want     string
	}{
		{"", false, "no room"},
		{"00000000000000", false, "no room"},
		{"0000000000000000", true, "no room"},
		{"0000000001000000", false, "do not fit"},
		{"0100000000000000 01", false, "do not fit"},
		{"ffffffffffffffff", false, "do not fit"},
	} {
		_, err := ParseBlock(unhex(t, c.bytes), c.checksum)
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, c.want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, false)
	f.Fuzz(func(t *testing.T, b []byte, checksum bool) {
		p, err := ParseBlock(b, checksum)
		if err == nil {
			require.LessOrEqual(t, len(p.Presence)+len(p.Values)+BlockHeaderLen, len(b))
		}
	})
}

// BenchmarkChecksum computes the checksum of a block. GB/s are those of its bytes.
func BenchmarkChecksum(b *testing.B) {
	for _, kib := range []int{4, 64} {
		block := []byte(strings.Repeat("0123456789abcdef", kib*64))
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			microbench.Output(b, len(block))
			for b.Loop() {
				BlockChecksum(block)
			}
		})
	}
}
