package bytestring

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
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
		blk := frame(tree)
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
				require.Equal(t, string(v.Data[v.Offsets[from]:v.Offsets[to]]), string(dst), shape)
				for i, end := range ends {
					require.Equal(t, v.Offsets[from+i+1]-v.Offsets[from]+5, end)
				}
			}
		})
	}
}
