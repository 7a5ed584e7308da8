package bytestring

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/bitmap"
)

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
