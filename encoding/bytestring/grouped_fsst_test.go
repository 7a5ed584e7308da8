package bytestring

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/bitmap"
)

// Ranges of slots, in any order, are those of the whole block.
func TestRangesOfGroups(t *testing.T) {
	const n = 1000
	text := makeValues(n, func(i int) []byte {
		return fmt.Appendf(nil, "%.*s and then %d", i%20, "the same beginning of all", i*i)
	})
	for _, shape := range []string{"GroupedFSST(raw,raw)", "GroupedFSST(Delta(FFOR),FFOR)", "FSST(raw)", "LZ4(raw)"} {
		tree, err := AppendTreeAs(nil, text, bitmap.All(n), shape)
		require.NoError(t, err)
		blk := frame(tree)
		var s Scratch
		rapid.Check(t, func(t *rapid.T) {
			b, err := Parse(blk, n, 0, BlockOptions{}, &s)
			require.NoError(t, err)
			for range rapid.IntRange(1, 8).Draw(t, "ranges") {
				from := rapid.IntRange(0, n).Draw(t, "from")
				to := min(n, from+rapid.SampledFrom([]int{0, 1, 2, 63, 64, 65, 300, n}).Draw(t, "slots"))
				part, ends := make([]byte, b.RangeLen(from, to)), make([]int64, to-from)
				require.NoError(t, DecodeRange(b, from, to, part, ends, 0))
				require.Equal(t, string(text.Slice(from, to).Bytes()), string(part))
			}
		})
	}
}

// Sizes of groups that are not those of the values are found when a group is decoded,
// and those that do not make up the stream before.
func TestBadGroups(t *testing.T) {
	text := makeValues(200, func(i int) []byte { return fmt.Appendf(nil, "value %d", i) })
	tree, err := AppendTreeAs(nil, text, bitmap.All(text.N), "GroupedFSST(raw,raw)")
	require.NoError(t, err)
	sizes := tree[len(tree)-16:]
	add := func(group int, by uint32) {
		at := sizes[4*group:]
		binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+by)
	}
	var s Scratch
	add(1, 1)
	_, err = Parse(frame(tree), text.N, 0, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "groups of")
	add(2, ^uint32(0))
	b, err := Parse(frame(tree), text.N, 0, BlockOptions{}, &s)
	require.NoError(t, err)
	err = DecodeRange(b, 70, 71, make([]byte, b.RangeLen(70, 71)), make([]int64, 1), 0)
	require.ErrorIs(t, err, fault.ErrCorrupt)

	binary.LittleEndian.PutUint16(tree[10:], 0)
	_, err = Parse(frame(tree), text.N, 0, BlockOptions{}, &s)
	require.ErrorContains(t, err, "groups of no values")
	binary.LittleEndian.PutUint16(tree[10:], 63)
	_, err = Parse(frame(tree), text.N, 0, BlockOptions{}, &s)
	require.NoError(t, err, "as many groups: only their values do not fit")
	binary.LittleEndian.PutUint16(tree[10:], 1)
	_, err = Parse(frame(tree), text.N, 0, BlockOptions{}, &s)
	require.ErrorContains(t, err, "16 bytes of sizes for 200 groups")
}
