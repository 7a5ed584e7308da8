package bytestring

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
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
	require.ErrorContains(t, err, "16 bytes for 200 numbers")
}

// Lengths that are not those of the values are found when their group is decoded; those
// that no codes can have, and such of another width, before.
func TestBadLengths(t *testing.T) {
	text := makeValues(200, func(i int) []byte { return fmt.Appendf(nil, "value %d", i) })
	tree, err := AppendTreeAs(nil, text, bitmap.All(text.N), "GroupedFSST(raw,raw)")
	require.NoError(t, err)
	lengths := tree[len(tree)-4*(200+4):] // and four sizes of groups
	require.EqualValues(t, len("value 70"), lengths[4*70])
	var s Scratch
	for _, by := range []int{1, -1} {
		lengths[4*70] += byte(by)
		b, err := Parse(frame(tree), text.N, 0, BlockOptions{}, &s)
		require.NoError(t, err)
		require.Equal(t, len(text.Bytes())+by, b.DataLen())
		ends := make([]int64, text.N)
		require.ErrorIs(t, Decode(b, make([]byte, b.DataLen()), ends, 0), fault.ErrCorrupt)
		require.ErrorIs(t, DecodeRange(b, 70, 71, make([]byte, b.RangeLen(70, 71)), ends[:1], 0), fault.ErrCorrupt)
		dst := make([]byte, b.RangeLen(3, 5))
		require.NoError(t, DecodeRange(b, 3, 5, dst, ends[:2], 0))
		require.Equal(t, "value 3value 4", string(dst))
		lengths[4*70] -= byte(by)
	}
	for _, at := range []int{8, len(tree) - 4*(200+4) + 4*70 + 2} { // their width, and 65,536 more bytes
		damaged := bytes.Clone(tree)
		damaged[at]++
		_, err = Parse(frame(damaged), text.N, 0, BlockOptions{}, &s)
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
}
