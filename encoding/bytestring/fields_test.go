package bytestring

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// fieldsShapes are forms of the parts of a Fields tree: patterns, places, codes, numbers, texts.
var fieldsShapes = []string{
	"Fields(Plain,Plain,Plain,Plain,Plain)",
	"Fields(LZ4(FFOR),FLBitPack,RunLength(FLBitPack,FLBitPack),TightPack,BlockDictionary(FLBitPack,raw))",
	"Fields(Plain,Plain,Plain,Delta(FFOR),Fields(Plain,Plain,Plain,Plain,Fields))",
}

// fieldKinds are columns whose values have fields of all kinds.
var fieldKinds = []struct {
	name string
	of   func(rnd *rand.Rand, i int) []byte
}{
	{"log", func(rnd *rand.Rand, i int) []byte {
		v := fmt.Appendf(nil, "2026-11-%02d %02d:%02d:%02d,%03d %s ", 1+i/900, i/60%24, i%60, rnd.IntN(60), rnd.IntN(1000), []string{"INFO", "WARN"}[rnd.IntN(2)])
		return fmt.Appendf(v, []string{"Received block blk_%d of size %d", "PacketResponder %d for block blk_%d terminating", "failed uid=%d \"a b %d\""}[rnd.IntN(3)], rnd.Int64()-rnd.Int64(), rnd.IntN(1<<20))
	}},
	{"ids", func(rnd *rand.Rand, _ int) []byte {
		return fmt.Appendf(nil, "%08x-%04x-%04X-%016x%016x", rnd.Uint32(), rnd.IntN(1<<16), rnd.IntN(1<<16), rnd.Uint64(), rnd.Uint64())
	}},
	{"numbers", func(rnd *rand.Rand, i int) []byte {
		return fmt.Appendf(nil, "INV-%06d/%d.%019d", i, rnd.Uint64()>>rnd.IntN(64), rnd.Uint64()%1e19)
	}},
	{"names", func(rnd *rand.Rand, _ int) []byte {
		return fmt.Appendf(nil, "%s.%s%d@%s.example.com", []string{"ann", "bob", "eve"}[rnd.IntN(3)], randomWord(rnd), rnd.IntN(90), []string{"mail", "www"}[rnd.IntN(2)])
	}},
	{"rare", func(rnd *rand.Rand, i int) []byte { // patterns of a few values, with several fields
		if i%300 == 0 {
			return fmt.Appendf(nil, `{"id":%d,"name":"%s","alias":"%s","price":%d.%02d}`, i, randomWord(rnd), randomWord(rnd), rnd.IntN(900), rnd.IntN(100))
		}
		return fmt.Appendf(nil, `{"id":%d,"name":"%s%d","alias":"%d","price":%d.%02d}`, i, randomWord(rnd), rnd.IntN(90), rnd.IntN(90), rnd.IntN(900), rnd.IntN(100))
	}},
	{"mixed", func(rnd *rand.Rand, i int) []byte {
		return []byte([]string{"", "-", "  ", "007", "7", "\"", "\"\"", "a\x00b\xff", strings.Repeat("x y ", 100), randomWord(rnd)}[rnd.IntN(10)])
	}},
}

func randomWord(rnd *rand.Rand) string {
	b := make([]byte, 3+rnd.IntN(40))
	for i := range b {
		b[i] = 'a' + byte(rnd.IntN(26))
	}
	return string(b)
}

func fieldValues(kind, n int) Values {
	rnd := rand.New(rand.NewPCG(uint64(kind), 2))
	return makeValues(n, func(i int) []byte { return fieldKinds[kind].of(rnd, i) })
}

// Values with fields of all kinds come back, whole and in ranges, whatever form the parts have.
func TestFields(t *testing.T) {
	var s Scratch
	for kind := range fieldKinds {
		for _, n := range []int{0, 1, 2, 100, 5000} {
			v := fieldValues(kind, n)
			want := quoted(v, bitmap.All(n))
			for _, shape := range fieldsShapes {
				tree, err := AppendTreeAs(nil, v, bitmap.All(n), shape)
				require.NoError(t, err)
				blk := withTree(tree, bitmap.All(n))
				treeOf(t, blk, n, 0)
				require.Equal(t, want, decodeAll(t, blk, n, 0, BlockOptions{Checksums: true}, &s), "%s %d %s", fieldKinds[kind].name, n, shape)
			}
		}
	}
}

// The blocks of a column come back, whatever the blocks before have learnt.
func TestFieldsWritten(t *testing.T) {
	var s Scratch
	for kind := range fieldKinds {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression} {
			e := NewEncoder(encoding.Options{Profile: p, Features: edition.E2026.Features()}, 0)
			v := fieldValues(kind, 15_000)
			for at := 0; at < v.N; {
				rest := v.Slice(at, min(at+5000, v.N))
				part := rest.Slice(0, e.Plan(int64(at), rest, bitmap.All(rest.N)))
				blk, err := e.AppendBlock(nil, part, bitmap.All(part.N))
				require.NoError(t, err)
				want, got := quoted(part, bitmap.All(part.N)), decodeAll(t, blk, part.N, 0, BlockOptions{Checksums: true}, &s)
				require.Equal(t, want, got, "%s in %v, rows from %d", fieldKinds[kind].name, p, at)
				at += part.N
			}
		}
	}
}

// Ranges that go forth and back give the same values, and need not be asked for their size just before.
func TestFieldsRanges(t *testing.T) {
	v := fieldValues(0, 10_000)
	tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), fieldsShapes[1])
	require.NoError(t, err)
	var s Scratch
	b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		from := rnd.IntN(v.N)
		to := from + rnd.IntN(min(v.N-from, 5000))
		want := v.Slice(from, to)
		require.Equal(t, len(want.Bytes()), b.RangeLen(from, to))
		b.RangeLen(to, min(to+1, v.N))
		dst, ends := make([]byte, len(want.Bytes())), make([]int32, to-from)
		require.NoError(t, DecodeRange(b, from, to, dst, ends, 0))
		require.Equal(t, string(want.Bytes()), string(dst))
	}
}

// What a block says of its values before they are decoded leaves out none that has all parts.
func TestFieldsContain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for kind := range fieldKinds {
		v := fieldValues(kind, 1003)
		for _, shape := range fieldsShapes {
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			require.NoError(t, err)
			var s Scratch
			b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
			require.NoError(t, err)
			told := 0
			for range 300 {
				var parts [][]byte
				for range 1 + rnd.IntN(2) {
					from := v.At(rnd.IntN(v.N))
					at := rnd.IntN(len(from) + 1)
					parts = append(parts, from[at:at+rnd.IntN(min(len(from)-at, 100)+1)])
				}
				dst := bytes.Repeat([]byte{0xa5}, (v.N+63)/64*8)
				if !b.MayContain(dst, parts) {
					continue
				}
				told++
				for i := range 8 * len(dst) {
					want := i < v.N
					for _, p := range parts {
						want = want && bytes.Contains(v.At(i), p)
					}
					if got := dst[i/8]>>(i%8)&1 != 0; want && !got || got && i >= v.N {
						t.Fatalf("%s %q: value %d is %v", shape, parts, i, got)
					}
				}
			}
			require.True(t, told > 0 || kind != 0)
			b.MayContain(make([]byte, (v.N+63)/64*8), [][]byte{[]byte("nowhere \x01")})
			require.Equal(t, quoted(v, bitmap.All(v.N)), decodeAll(t, withTree(tree, bitmap.All(v.N)), v.N, 0, BlockOptions{Checksums: true}, &s))
		}
	}
}

// Where nothing else is better for values with fields, blocks are planned long, and every profile writes them.
func TestFieldsChosen(t *testing.T) {
	features := edition.E2026.Features() &^ edition.Only(edition.OnPair) &^ edition.Only(edition.Template) &^ edition.Only(edition.RadixPack)
	for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
		if p == encoding.MinimalSize && !sweep.All() {
			continue
		}
		for _, kind := range []int{0} {
			v := fieldValues(kind, 70_000)
			e := NewEncoder(encoding.Options{Profile: p, Features: features}, 0)
			n := e.Plan(0, v, bitmap.All(v.N))
			require.Equal(t, 1<<16, n)
			blk, err := e.AppendBlock(nil, v.Slice(0, n), bitmap.All(n))
			require.NoError(t, err)
			require.Equal(t, "Fields", root(treeOf(t, blk, n, 0)), "%s in %v", fieldKinds[kind].name, p)
			e = NewEncoder(encoding.Options{Profile: p, Features: features}, 0)
			require.Equal(t, n, e.Plan(0, v, bitmap.All(v.N)))
			again, err := e.AppendBlock(nil, v.Slice(0, n), bitmap.All(n))
			require.NoError(t, err)
			require.True(t, bytes.Equal(blk, again))
		}
	}
}

// Whatever is cut off, and whatever bit is flipped, is an error or decodes to as much as announced.
func TestFieldsDamage(t *testing.T) {
	var s Scratch
	for kind := range fieldKinds {
		v := fieldValues(kind, 60)
		for i, shape := range fieldsShapes {
			if (i+kind)%3 != 0 && !sweep.All() {
				continue
			}
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			require.NoError(t, err)
			requireSafe(t, tree, v.N, 0, strides{cuts: sweep.Step(11), flips: sweep.Step(37)}, &s)
		}
	}
}

// Trees of byte strings nest as deep as the format allows, and claim no more memory than the block may take.
func TestNesting(t *testing.T) {
	v := fieldValues(0, 300)
	deep := "Plain"
	for range tree.MaxLevels - 1 {
		deep = "Fields(Plain,Plain,Plain,Plain," + deep + ")"
	}
	written, err := AppendTreeAs(nil, v, bitmap.All(v.N), deep)
	require.NoError(t, err)
	var s Scratch
	blk := withTree(written, bitmap.All(v.N))
	require.Equal(t, quoted(v, bitmap.All(v.N)), decodeAll(t, blk, v.N, 0, BlockOptions{Checksums: true}, &s))
	_, err = AppendTreeAs(nil, v, bitmap.All(v.N), strings.Replace(deep, "Plain))", "Fields))", 1))
	require.ErrorContains(t, err, "nested more than 4 deep")

	s = Scratch{}
	_, err = Parse(blk, v.N, 0, BlockOptions{MaxDecoded: int64(len(v.Data)) / 4}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
}

// Reading a block takes no memory once there is enough.
func TestFieldsAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	for kind := range fieldKinds {
		v := fieldValues(kind, 9000)
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), fieldsShapes[1])
		require.NoError(t, err)
		t.Run(fieldKinds[kind].name, func(t *testing.T) { requireNoAllocs(t, frame(tree), v, 64, BlockOptions{}) })
	}
}
