package bytestring

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// templateShapes are all forms of the parts of a Template tree.
var templateShapes = []string{"Template(Plain,Plain)", "Template(FLBitPack,FFOR)", "Template[1](Plain,Plain)", "Template[2](RunLength(Plain,Plain),FLBitPack)"}

func logLines(n int) Values {
	rnd := rand.New(rand.NewPCG(1, 2))
	return makeValues(n, func(i int) []byte {
		return fmt.Appendf(nil, "%02d:%02d host-%d took %d ms%s", i/60%24, i%60, rnd.IntN(20), rnd.IntN(3000), []string{"", " in all", "\n"}[i%3])
	})
}

// Whatever is cut off, and whatever bit is flipped, is an error or decodes to as
// much as announced.
func TestTemplateDamage(t *testing.T) {
	var s Scratch
	v := logLines(90)
	for _, shape := range templateShapes {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
		require.NoError(t, err)
		corrupt := 0
		if shape == templateShapes[0] {
			corrupt = len(tree) - 8
		}
		requireSafe(t, tree, v.N, corrupt, somePlaces, &s)
	}
}

// A few bytes do not ask for much memory.
func TestTemplateLimit(t *testing.T) {
	v := makeValues(1, func(int) []byte { return make([]byte, 1<<20) })
	tree, err := AppendTreeAs(nil, v, bitmap.All(1), "Template[1](SingleValue,Plain)")
	require.NoError(t, err)
	require.Less(t, len(tree), 1000)
	var s Scratch
	_, err = Parse(frame(tree), 1000, 0, BlockOptions{MaxDecoded: 1 << 24}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
	_, err = Parse(frame(tree), 1, 0, BlockOptions{MaxDecoded: 1 << 16}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
	_, err = Parse(frame(tree), 2, 4, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// withTemplates is the features of shards in which nothing is better for log lines.
var withTemplates = edition.E2026.Features() &^ edition.Only(edition.OnPair) &^ edition.Only(edition.Fields)

// Templates are planned in long blocks that end where readers' batches do, and
// what is planned changes nothing else.
func TestTemplatePlan(t *testing.T) {
	v := logLines(200_000)
	for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
		if p == encoding.MinimalSize && !sweep.All() {
			continue
		}
		e := NewEncoder(encoding.Options{Profile: p, Features: withTemplates}, 0)
		var s Scratch
		at, blocks := 0, 0
		for at < v.N {
			rest := v.Slice(at, v.N)
			n := e.Plan(int64(at), rest, bitmap.All(rest.N))
			require.Equal(t, min(64<<10, rest.N), n)
			part := rest.Slice(0, n)
			blk, err := e.AppendBlock(nil, part, bitmap.All(n))
			require.NoError(t, err)
			require.Equal(t, "Template", root(treeOf(t, blk, n, 0)))
			require.Equal(t, quoted(part, bitmap.All(n)), decodeAll(t, blk, n, 0, BlockOptions{Checksums: true}, &s))
			at += n
			blocks++
		}
		require.Equal(t, 4, blocks)
		require.Equal(t, 64<<10, e.Plan(0, v, bitmap.All(v.N)))
		long := Values{Data: v.Data, N: 1 << 16}
		for i := range int64(1<<16 + 1) {
			long.Offsets = append(long.Offsets, i*300)
		}
		require.Equal(t, 16<<10, e.Plan(0, long, bitmap.All(long.N)), "300 bytes each, at most 8 MiB, and halves")
	}
	reference := NewEncoder(encoding.Options{}, 0)
	require.Less(t, reference.Plan(0, v, bitmap.All(v.N)), 16<<10)
}

// Where texts come to have too many templates, blocks are planned short again.
func TestTooManyTemplates(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	few := logLines(1 << 16)
	many := makeValues(1<<17, func(int) []byte {
		b := []byte("a b c d e f g h i j k l m n o p q r s t u v w x y z")
		for range 10 {
			b[rnd.IntN(len(b))] = '0' + byte(rnd.IntN(10))
		}
		return b
	})
	e := NewEncoder(encoding.Options{Features: withTemplates}, 0)
	var s Scratch
	write := func(v Values) (n int, form string) {
		n = e.Plan(0, v, bitmap.All(v.N))
		blk, err := e.AppendBlock(nil, v.Slice(0, n), bitmap.All(n))
		require.NoError(t, err)
		require.Equal(t, quoted(v.Slice(0, n), bitmap.All(n)), decodeAll(t, blk, n, 0, BlockOptions{Checksums: true}, &s))
		return n, root(treeOf(t, blk, n, 0))
	}
	n, form := write(few)
	require.Equal(t, 1<<16, n)
	require.Equal(t, "Template", form)
	n, form = write(many)
	require.Equal(t, 1<<16, n)
	require.NotEqual(t, "Template", form)
	for at := n; at < many.N; {
		n, form = write(many.Slice(at, many.N))
		require.Less(t, n, 1<<14)
		require.NotEqual(t, "Template", form)
		at += n
	}
}

// Reading a block takes no memory once there is enough.
func TestTemplateAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	v := logLines(5000)
	for _, shape := range []string{"Template(FFOR,FFOR)", "Template[1](FFOR,FFOR)"} {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
		require.NoError(t, err)
		requireNoAllocs(t, frame(tree), v, 64, BlockOptions{})
	}
}
