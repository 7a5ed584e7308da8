package bytestring

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

var frontShapes = []string{"FrontCoding(Plain,Plain)", "FrontCoding(FFOR,OnPair(FFOR,FFOR,FFOR))", "FrontCoding(RunLength(Plain,Plain),FrontCoding(FLBitPack,RadixPack(FFOR)))"}

func sortedPaths(n int) Values {
	return makeValues(n, func(i int) []byte {
		if i%10 == 3 {
			return nil
		}
		return fmt.Appendf(nil, "/usr/share/doc/package-%03d/examples/%d/file_%d.txt", i/100, i/10, i)
	})
}

// Sorted paths take a third of what copies of earlier bytes make of them.
func TestFrontCodingPays(t *testing.T) {
	v := sortedPaths(2000)
	tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), "FrontCoding(FFOR,FlatLZ(Delta(FFOR)))")
	require.NoError(t, err)
	other, err := AppendTreeAs(nil, v, bitmap.All(v.N), "FlatLZ(Delta(FFOR))")
	require.NoError(t, err)
	require.Less(t, 2*len(tree), len(other))
}

// Texts, beginnings and whole values are found exactly, across the ends of prefixes, too, and values come back in any order.
func TestFrontCodingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`(ab{0,3}){0,6}[abc]{0,3}|`), 1, 300).Draw(t, "values")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(texts)
		}
		v := makeValues(len(texts), func(i int) []byte { return []byte(texts[i]) })
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), rapid.SampledFrom(frontShapes[:2]).Draw(t, "shape"))
		require.NoError(t, err)
		var s Scratch
		b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
		require.NoError(t, err)
		for range 40 {
			i := rapid.IntRange(0, v.N-1).Draw(t, "single")
			dst := make([]byte, b.RangeLen(i, i+1))
			require.NoError(t, DecodeRange(b, i, i+1, dst, make([]int64, 1), 0))
			require.Equal(t, texts[i], string(dst))
		}
		for range 5 {
			from := rapid.IntRange(0, v.N-1).Draw(t, "from")
			to := min(v.N, from+rapid.SampledFrom([]int{1, 2, 10, 63, 64, 100}).Draw(t, "count"))
			dst, offsets := make([]byte, b.RangeLen(from, to)), make([]int64, to-from)
			require.NoError(t, DecodeRange(b, from, to, dst, offsets, 0))
			require.Equal(t, strings.Join(texts[from:to], ""), string(dst))
			require.EqualValues(t, len(texts[from]), offsets[0])
			sought := rapid.StringMatching(`[abc]{1,6}`).Draw(t, "sought")
			for _, r := range []Required{{Parts: [][]byte{[]byte(sought)}}, {Prefix: []byte(sought)}, {Prefix: []byte(sought), Equal: true}} {
				found, want, count := bytes.Repeat([]byte{0xa5}, (v.N+63)/64*8), make([]byte, (v.N+63)/64*8), 0
				for i, text := range texts {
					if r.Equal && text == sought || !r.Equal && r.Prefix != nil && strings.HasPrefix(text, sought) || r.Prefix == nil && strings.Contains(text, sought) {
						want[i/8] |= 1 << (i % 8)
						count++
					}
				}
				ok := b.MayMatch(found, r)
				require.True(t, ok || 4*count >= 3*v.N)
				if ok && 4*count < 3*v.N {
					require.Equal(t, want, found, "%q", sought)
				}
			}
		}
	})
}

// Whatever is cut off, and whatever bit is flipped, is an error or decodes to as much as announced.
func TestFrontCodingDamage(t *testing.T) {
	var s Scratch
	v := sortedPaths(70)
	for i, shape := range frontShapes {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
		require.NoError(t, err)
		corrupt := 0
		if i == 0 {
			corrupt = len(tree)
		}
		requireSafe(t, tree, v.N, corrupt, somePlaces, &s)
	}
}

// A prefix of more than there is, one at a restart, and more bytes than may be are errors.
func TestBadFrontCoding(t *testing.T) {
	v := sortedPaths(70)
	tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), "FrontCoding(Plain,Plain)")
	require.NoError(t, err)
	var s Scratch
	at := func(i int) *byte { return &tree[8+2+4*i] }
	*at(64) = 1
	_, err = Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
	require.ErrorContains(t, err, "at a restart")
	*at(64) = 0
	*at(5) = 200
	b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
	require.NoError(t, err)
	require.ErrorIs(t, Decode(b, make([]byte, b.DataLen()), make([]int64, v.N), 0), fault.ErrCorrupt)
	require.ErrorIs(t, DecodeRange(b, 20, 21, make([]byte, b.RangeLen(20, 21)), make([]int64, 1), 0), fault.ErrCorrupt)
	require.NoError(t, DecodeRange(b, 65, 66, make([]byte, b.RangeLen(65, 66)), make([]int64, 1), 0))
	tree[8+2+4*5+3] = 0x7f
	_, err = Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
	_, err = Parse(frame(tree), v.N, 4, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// Neither writing nor reading a block takes memory once there is enough.
func TestFrontCodingAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	v := sortedPaths(5000)
	e := NewEncoder(encoding.Options{Features: edition.E2026.Features()}, 0)
	var blk []byte
	var err error
	write := func() { blk, err = e.AppendBlock(blk[:0], v, bitmap.All(v.N)) }
	write()
	require.NoError(t, err)
	requireNoAllocs(t, blk, v, 64, BlockOptions{Checksums: true})
}
