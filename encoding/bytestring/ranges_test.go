package bytestring

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Parts of a block, few or many and in any order, are what the whole block has there.
func TestDecodeRanges(t *testing.T) {
	const n = 1000
	v := Values{N: n, Offsets: make([]int64, n+1)}
	for i := range n {
		if i%9 > 0 {
			v.Data = append(v.Data, fmt.Sprintf("request %d of server %d took %d ms\xf1", i*i, i%5, i*77%1000)...)
		}
		v.Offsets[i+1] = int64(len(v.Data))
	}
	for _, shape := range []string{"Plain", "FSST(Delta(FFOR))", "LZ4(raw)", "FlatLZ(raw)", "Zstd(raw)", "OnPair(Plain,Plain,Plain)", "OnPair(FLBitPack,FLBitPack,FLBitPack)", "RadixPack(raw)", "RadixPack(FFOR)", "FrontCoding(Plain,Plain)", "FrontCoding(FFOR,OnPair(FFOR,FFOR,FFOR))"} {
		tree, err := AppendTreeAs(nil, v, bitmap.All(n), shape)
		require.NoError(t, err)
		requireRanges(t, v, frame(tree))
	}
}

// Parts of long values, which are unpacked from the frame that they are in up to where they end: of one frame, of blocks of 64 and 128 KiB,
// and of several.
func TestDecodeFrames(t *testing.T) {
	const n = 150
	v := Values{N: n, Offsets: make([]int64, n+1)}
	for i := range n {
		for k := range i % 3 * 300 {
			v.Data = append(v.Data, fmt.Sprintf("%x and %d\n", mix(i*1000+k), k)...)
		}
		v.Offsets[i+1] = int64(len(v.Data))
	}
	for _, shape := range []string{"Zstd[1](raw)", "Zstd[2](raw)"} {
		tree, err := AppendTreeAs(nil, v, bitmap.All(n), shape)
		require.NoError(t, err)
		requireRanges(t, v, frame(tree))
	}
	blk, err := NewEncoder(encoding.Options{Features: edition.E2026.Features(), NoChecksums: true}, 0).AppendBlock(nil, v, bitmap.All(n))
	require.NoError(t, err)
	require.Greater(t, bytes.Count(blk, []byte{0x28, 0xb5, 0x2f, 0xfd}), 1, "frames")
	requireRanges(t, v, blk)
}

// requireRanges reads parts of a block of some values.
func requireRanges(t *testing.T, v Values, blk []byte) {
	n := v.N
	var s Scratch
	rapid.Check(t, func(t *rapid.T) {
		b, err := Parse(blk, n, 0, BlockOptions{}, &s)
		require.NoError(t, err)
		end := n
		if rapid.Bool().Draw(t, "want") {
			end = rapid.IntRange(0, n).Draw(t, "end")
			b.Want(end)
		}
		for range rapid.IntRange(1, 30).Draw(t, "parts") {
			from := rapid.IntRange(0, end).Draw(t, "from")
			to := min(end, from+rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(63, 65), rapid.IntRange(0, n)).Draw(t, "rows"))
			dst, ends := make([]byte, b.RangeLen(from, to)), make([]int64, to-from)
			require.NoError(t, DecodeRange(b, from, to, dst, ends, 5))
			require.Equal(t, string(v.Data[v.Offsets[from]:v.Offsets[to]]), string(dst), b.Code())
			for i, end := range ends {
				require.Equal(t, v.Offsets[from+i+1]-v.Offsets[from]+5, end)
			}
			lengths := make([]int64, to-from)
			require.NoError(t, b.AddLengths(lengths, from))
			for i, n := range lengths {
				require.Equal(t, v.Offsets[from+i+1]-v.Offsets[from+i], n, b.Code())
			}
		}
	})
}
