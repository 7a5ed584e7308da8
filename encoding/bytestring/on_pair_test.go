package bytestring

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

var onPairShapes = []string{"OnPair(Plain,Plain,Plain)", "OnPair(FFOR,FLBitPack,FLBitPack)"}

// sentences are texts that repeat words, but no lines.
func sentences(n int) Values {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 1000)
	for i := range words {
		for range 1 + rnd.IntN(4) {
			words[i] += string("bcdfgklmnprst"[rnd.IntN(13)]) + string("aeiou"[rnd.IntN(5)])
		}
	}
	return makeValues(n, func(i int) (v []byte) {
		for range rnd.IntN(12) {
			v = fmt.Appendf(v, "%s ", words[int(math.Pow(1000, rnd.Float64()))-1])
		}
		return v
	})
}

// Whatever is cut off, and whatever bit is flipped, is an error or decodes to as
// much as announced.
func TestOnPairDamage(t *testing.T) {
	var s Scratch
	v := sentences(30)
	for _, shape := range onPairShapes {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
		require.NoError(t, err)
		requireSafe(t, tree, v.N, len(tree), somePlaces, &s)
	}
}

// A few bytes do not ask for much memory.
func TestOnPairLimit(t *testing.T) {
	v := makeValues(2, func(int) []byte { return make([]byte, 1<<20) })
	tree, err := AppendTreeAs(nil, v, bitmap.All(2), "OnPair(Plain,SingleValue,SingleValue)")
	require.NoError(t, err)
	require.Less(t, len(tree), 1000)
	var s Scratch
	_, err = Parse(frame(tree), 2, 0, BlockOptions{MaxDecoded: 1 << 20}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
	_, err = Parse(frame(tree), 1<<20, 0, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, err = Parse(frame(tree), 2, 4, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// Texts become long blocks, and small ones of a dictionary that fits them; those after the first are written with the dictionary of that.
func TestOnPairBlocks(t *testing.T) {
	v := sentences(150_000)
	e := NewEncoder(encoding.Options{Features: edition.Only(edition.OnPair)}, 0)
	var s Scratch
	blocks := 0
	for at := 0; at < v.N; blocks++ {
		rest := v.Slice(at, v.N)
		n := e.Plan(int64(at), rest, bitmap.All(rest.N))
		require.Equal(t, min(64<<10, rest.N), n)
		part := rest.Slice(0, n)
		blk, err := e.AppendBlock(nil, part, bitmap.All(n))
		require.NoError(t, err)
		require.Equal(t, "OnPair", root(treeOf(t, blk, n, 0)))
		require.Equal(t, quoted(part, bitmap.All(n)), decodeAll(t, blk, n, 0, BlockOptions{Checksums: true}, &s))
		at += n
	}
	require.Equal(t, 3, blocks)
}

// Values that contain a needle are found by their codes: all of them, and of others only such as lie in two chunks.
func TestOnPairFind(t *testing.T) {
	v := sentences(3000)
	var s Scratch
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, shape := range onPairShapes {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
		require.NoError(t, err)
		b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
		require.NoError(t, err)
		found := make([]byte, (v.N+7)/8)
		for range 300 {
			value := v.At(rnd.IntN(v.N))
			if len(value) < 4 {
				continue
			}
			at := rnd.IntN(len(value) - 3)
			needle := value[at : at+3+rnd.IntN(min(len(value)-at-2, 30))]
			if !b.MayContain(found, [][]byte{needle[:1], needle}) {
				continue
			}
			wrong := 0
			for i := range v.N {
				has, may := bytes.Contains(v.At(i), needle), found[i/8]>>(i%8)&1 != 0
				require.False(t, has && !may, "%q in %q", needle, v.At(i))
				if may && !has {
					wrong++
				}
			}
			require.Less(t, wrong, 40, "%q", needle)
		}
		require.True(t, b.MayContain(found, [][]byte{[]byte("no value has this")}))
		require.Zero(t, bitmap.Bits{Data: found, Len: v.N}.Count())
	}
}

// Decoding takes no memory once the Scratch has it.
func TestOnPairAllocates(t *testing.T) {
	v := sentences(3000)
	for _, shape := range onPairShapes {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
		require.NoError(t, err)
		requireNoAllocs(t, frame(tree), v, 0, BlockOptions{})
	}
}
