package bytestring

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/conformance"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// column collects test values; nil is null.
func column(fixed int, values ...[]byte) (Values, bitmap.Bits) {
	v := Values{Fixed: fixed, N: len(values)}
	mask := make([]byte, (len(values)+7)/8)
	if fixed == 0 {
		v.Data, v.Offsets = []byte("before"), []int64{6}
	}
	for i, b := range values {
		if b != nil {
			bitmap.SetRange(mask, i, 1)
		} else {
			b = make([]byte, fixed)
		}
		v.Data = append(v.Data, b...)
		if fixed == 0 {
			v.Offsets = append(v.Offsets, int64(len(v.Data)))
		}
	}
	return v, bitmap.Bits{Data: mask, Len: len(values)}
}

func quoted(v Values, valid bitmap.Bits) []string {
	out := make([]string, 0, v.N)
	for i := range v.N {
		out = append(out, quote(v.At(i), valid.At(i)))
	}
	return out
}

// quote tells null from all values.
func quote(v []byte, valid bool) string {
	if !valid {
		return "null"
	}
	return `"` + string(v) + `"`
}

// withTree frames a tree as a block.
func withTree(tree []byte, valid bitmap.Bits) []byte {
	b, mark := encoding.BeginBlock(nil)
	b = encoding.EndPresence(encoding.AppendPresence(b, valid, valid.Nulls(), encoding.Options{}), mark)
	return encoding.EndBlock(append(b, tree...), mark, true)
}

func treeOf(t require.TestingT, blk []byte, n, fixed int) string {
	f, err := encoding.ParseBlock(blk, true)
	require.NoError(t, err)
	node := Describe(f.Values, n, fixed)
	require.NoError(t, node.FirstErr())
	require.NoError(t, conformance.Covered(&node))
	return node.String()
}

// Every tree of the reference can be written in the same form, and reads back.
func TestShapes(t *testing.T) {
	var s Scratch
	shapes := map[string]int{}
	eachVector(t, func(v goldenBlock, in vectorInput) {
		fixed := fixedSizes[v.Type]
		valid := bitmap.All(v.N)
		if v.Presence && in.Validity != nil {
			valid = bitmap.Bits{Data: in.Validity, Len: v.N}
		}
		values := Values{Data: in.Values, Fixed: fixed, N: v.N}
		if fixed == 0 {
			values.Offsets = []int64{0}
			at := 0
			for i, n := range in.Lengths {
				at += n
				if n > 0 && !valid.At(i) {
					return // the reference stores bytes under nulls
				}
				values.Offsets = append(values.Offsets, int64(at))
			}
		}
		tree, err := AppendTreeAs(nil, values, valid, v.Tree)
		if err != nil && strings.HasPrefix(v.Tree, "SingleValue") {
			return
		}
		require.NoError(t, err, v.ID)
		blk := withTree(tree, valid)
		got := treeOf(t, blk, v.N, fixed)
		require.Equal(t, root(v.Tree), root(got), v.ID)
		shapes[root(got)]++
		require.Equal(t, quoted(values, valid), decodeAll(t, blk, v.N, fixed, BlockOptions{Checksums: true}, &s), v.ID)
	})
	t.Logf("written again: %v", shapes)
}

func root(shape string) string {
	return shape[:len(shape)-len(strings.TrimLeft(shape, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz4"))]
}

func drawColumn(t *rapid.T, fixed int) (Values, bitmap.Bits) {
	n := rapid.SampledFrom([]int{1, 2, 9, 100, 1024, 3000}).Draw(t, "n")
	kind := rapid.SampledFrom([]string{"words", "single", "unique", "noise", "runs", "long"}).Draw(t, "kind")
	nulls := rapid.SampledFrom([]int{0, 0, 1, 50, 100}).Draw(t, "percent null")
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	values := make([][]byte, n)
	for i := range values {
		var v []byte
		switch kind {
		case "words":
			v = fmt.Appendf(nil, "word %d", rnd.IntN(20))
		case "single":
			v = []byte("always")
		case "unique":
			v = fmt.Appendf(nil, "https://example.org/item/%d?page=%d", i, rnd.IntN(1000))
		case "noise":
			v = make([]byte, rnd.IntN(20))
			for k := range v {
				v[k] = byte(rnd.Uint32())
			}
		case "runs":
			v = fmt.Appendf(nil, "%d", i/97)
		case "long":
			v = bytes.Repeat(fmt.Appendf(nil, "%d ", rnd.IntN(50)), rnd.IntN(200))
		}
		if fixed > 0 {
			v = append(v, make([]byte, fixed)...)[:fixed]
		} else if v == nil {
			v = []byte{}
		}
		if rnd.IntN(100) < nulls {
			v = nil
		}
		values[i] = v
	}
	return column(fixed, values...)
}

var profiles = []encoding.Profile{
	encoding.Balanced, encoding.ProfilePlain, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize,
}

// What an encoder writes reads back, is not larger than Plain, and does not
// depend on what other encoders wrote.
func TestRoundTrip(t *testing.T) {
	var s Scratch
	rapid.Check(t, func(t *rapid.T) {
		fixed := rapid.SampledFrom([]int{0, 0, 1, 5, 16}).Draw(t, "fixed")
		o := encoding.Options{Profile: rapid.SampledFrom(profiles).Draw(t, "profile")}
		if rapid.Bool().Draw(t, "2026") {
			o.Features = edition.E2026.Features()
		}
		e, again := NewEncoder(o, fixed), NewEncoder(o, fixed)
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			v, valid := drawColumn(t, fixed)
			for at := 0; at < v.N; {
				rest := v.Slice(at, v.N)
				n := e.Plan(int64(at), rest, valid.Slice(at, v.N))
				require.True(t, n > 0 && n <= rest.N)
				require.Equal(t, n, again.Plan(int64(at), rest, valid.Slice(at, v.N)))
				part, mask := rest.Slice(0, n), valid.Slice(at, at+n)
				blk, err := e.AppendBlock(nil, part, mask)
				require.NoError(t, err)
				require.Zero(t, len(blk)%8)
				f, err := encoding.ParseBlock(blk, true)
				require.NoError(t, err)
				plain, err := AppendTreeAs(nil, part, mask, "Plain")
				require.NoError(t, err)
				require.LessOrEqual(t, len(f.Values), len(plain))
				if fixed > 0 {
					require.Contains(t, []string{"Plain", "LZ4", "FlatLZ", "Zstd", "FSST", "OnPair", "DecimalTree", "RadixPack"}, root(treeOf(t, blk, n, fixed)))
				}
				require.Equal(t, quoted(part, mask), decodeAll(t, blk, n, fixed, BlockOptions{Checksums: true}, &s))

				twin, err := again.AppendBlock(make([]byte, 8), part, mask)
				require.NoError(t, err)
				require.Equal(t, blk, twin[8:])
				at += n
			}
		}
	})
}

// After the first block, bytes do not depend on whether somebody asked how long the next one should be.
func TestPlanIsNoChoice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(0, 1))
	var runs, long [][]byte
	for i := range 100 {
		runs = append(runs, fmt.Appendf(nil, "%d", i/97))
	}
	for range 3000 {
		long = append(long, bytes.Repeat(fmt.Appendf(nil, "%d ", rnd.IntN(50)), rnd.IntN(200)))
	}
	o := encoding.Options{Features: edition.E2026.Features()}
	e, again := NewEncoder(o, 0), NewEncoder(o, 0)
	n := 0
	for _, values := range [][][]byte{runs, long} {
		v, valid := column(0, values...)
		n = e.Plan(0, v, valid)
		blk, err := e.AppendBlock(nil, v.Slice(0, n), valid.Slice(0, n))
		require.NoError(t, err)
		twin, err := again.AppendBlock(nil, v.Slice(0, n), valid.Slice(0, n))
		require.NoError(t, err)
		require.Equal(t, blk, twin)
	}
	require.Less(t, n, len(long))
}

// The encodings that each profile chooses for values of some kinds.
func TestChoices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over a lazy dog and then sleeps furiously while colorless green ideas ", 3))
	kinds := []struct {
		name string
		of   func(i int) []byte
		want map[encoding.Profile]string
	}{
		{"equal", func(int) []byte { return []byte("same") }, map[encoding.Profile]string{
			encoding.Balanced: "SingleValue", encoding.MinimalSize: "SingleValue", encoding.ProfilePlain: "Plain"}},
		{"few", func(i int) []byte { return []byte(words[rnd.IntN(9)]) }, map[encoding.Profile]string{
			encoding.Balanced: "BlockDictionary", encoding.MinimalCompression: "BlockDictionary"}},
		{"text", func(i int) (b []byte) {
			for range 3 + rnd.IntN(9) {
				b = append(append(b, words[rnd.IntN(len(words))]...), ' ')
			}
			return b
		}, map[encoding.Profile]string{
			encoding.MinimalCompression: "LZ4", encoding.HighCompression: "Zstd", encoding.MinimalSize: "Zstd"}},
		{"noise", func(i int) []byte {
			b := make([]byte, 16)
			for k := range b {
				b[k] = byte(rnd.Uint32())
			}
			return b
		}, map[encoding.Profile]string{encoding.Balanced: "LZ4"}}, // for its packed offsets
	}
	for _, k := range kinds {
		var values [][]byte
		for i := range 4000 {
			values = append(values, k.of(i))
		}
		v, valid := column(0, values...)
		for p, want := range k.want {
			blk, err := NewEncoder(encoding.Options{Profile: p}, 0).AppendBlock(nil, v, valid)
			require.NoError(t, err)
			require.Equal(t, want, root(treeOf(t, blk, v.N, 0)), "%s in %v", k.name, p)
		}
	}
}

// When the data changes, so does the encoding.
func TestDataChanges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	e := NewEncoder(encoding.Options{}, 0)
	var got []string
	for phase := range 3 {
		for range 3 {
			var values [][]byte
			for range 4000 {
				switch phase {
				case 0:
					values = append(values, fmt.Appendf(nil, "city %d", rnd.IntN(10)))
				case 1:
					values = append(values, fmt.Appendf(nil, "city %d, street %d, number %d", rnd.IntN(1000), rnd.IntN(100000), rnd.IntN(10)))
				case 2:
					values = append(values, fmt.Appendf(nil, "%d", rnd.IntN(4)))
				}
			}
			v, valid := column(0, values...)
			blk, err := e.AppendBlock(nil, v, valid)
			require.NoError(t, err)
			got = append(got, root(treeOf(t, blk, v.N, 0)))
		}
	}
	require.Equal(t, "BlockDictionary", got[2])
	require.NotEqual(t, "BlockDictionary", got[5])
}

func TestPlanBounds(t *testing.T) {
	e := NewEncoder(encoding.Options{}, 0)
	v := Values{Offsets: []int64{5}}
	for i := range 10_000 {
		v.Offsets = append(v.Offsets, v.Offsets[i]+100)
	}
	v.N = 10_000
	require.Equal(t, 1024, e.Plan(0, v, bitmap.All(v.N)), "1310 fit, 1024 pack without filler")
	require.Equal(t, 1000, e.Plan(0, v.Slice(0, 1000), bitmap.All(1000)))
	huge := Values{Offsets: []int64{0, 1 << 20, 1 << 21}, N: 2}
	require.Equal(t, 1, e.Plan(0, huge, bitmap.All(2)))
	require.Equal(t, 16<<10, NewEncoder(encoding.Options{}, 1).Plan(0, Values{Fixed: 1, N: 1 << 20}, bitmap.All(1<<20)))
}

// A brief column is written by what is quickly tried, or as tokens if it has many bytes that Zstd does not make much shorter. In another
// profile or edition, there is no difference.
func TestBrief(t *testing.T) {
	for _, c := range []struct {
		values     int
		o          encoding.Options
		brief, not encoding.Code
	}{
		{2000, encoding.Options{Features: edition.E2026.Features()}, encoding.Zstd, encoding.OnPair},
		{15_000, encoding.Options{Features: edition.E2026.Features()}, encoding.OnPair, encoding.OnPair},
		{2000, encoding.Options{}, encoding.FSST, encoding.FSST},
	} {
		values := randomTexts(c.values)
		v, valid := column(0, values...)
		for _, brief := range []bool{true, false} {
			e := NewEncoder(c.o, 0)
			e.Brief(brief, false)
			blk, err := e.AppendBlock(nil, v, valid)
			require.NoError(t, err)
			b, err := Parse(blk, v.N, 0, BlockOptions{}, new(Scratch))
			require.NoError(t, err)
			if brief {
				require.Equal(t, c.brief, b.Code())
			} else {
				require.Equal(t, c.not, b.Code())
			}
			got := decodeAll(t, blk, v.N, 0, BlockOptions{}, new(Scratch))
			for i, s := range got {
				require.Equal(t, quote(values[i], true), s)
			}
		}
	}
}

// A brief column leaves nothing behind in the memory that encoders share: the next column has the same bytes.
func TestBriefLeavesNothing(t *testing.T) {
	few, fewValid := column(0, randomTexts(100)...)
	v, valid := column(0, randomTexts(9000)...)
	encode := func() []byte {
		e := NewEncoder(encoding.Options{Features: edition.E2026.Features()}, 0)
		n := e.Plan(0, v, valid)
		blk, err := e.AppendBlock(nil, v.Slice(0, n), valid.Slice(0, n))
		require.NoError(t, err)
		return blk
	}
	want := encode()
	e := NewEncoder(encoding.Options{Features: edition.E2026.Features()}, 0)
	e.Brief(true, false)
	_, err := e.AppendBlock(nil, few, fewValid)
	require.NoError(t, err)
	require.Equal(t, crc32.ChecksumIEEE(want), crc32.ChecksumIEEE(encode()))
}

// randomTexts are texts of random words.
func randomTexts(n int) (values [][]byte) {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the quick brown fox jumps over a lazy dog while other animals of this forest sleep in their holes until spring")
	for range n {
		var text []string
		for range 12 {
			text = append(text, words[rnd.IntN(len(words))]+string(rune('a'+rnd.IntN(26)))+words[rnd.IntN(len(words))])
		}
		values = append(values, []byte(strings.Join(text, " ")))
	}
	return values
}

// Documents are compressed with Zstandard alone, a few in a block, and a single one is not stored as it is.
func TestDocuments(t *testing.T) {
	texts := randomTexts(40_000)
	var values [][]byte
	for i := range 400 {
		values = append(values, bytes.Join(texts[100*i:100*i+100], []byte(" ")))
	}
	values = append(values, bytes.Join(texts, []byte("\n")))
	v, valid := column(0, values...)
	for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
		e, at := NewEncoder(encoding.Options{Profile: p, Features: edition.E2026.Features()}, 0), 0
		for at < v.N {
			rest, bits := v.Slice(at, v.N), valid.Slice(at, v.N)
			n := e.Plan(int64(at), rest, bits)
			blk, err := e.AppendBlock(nil, rest.Slice(0, n), bits.Slice(0, n))
			require.NoError(t, err)
			b, err := Parse(blk, n, 0, BlockOptions{}, new(Scratch))
			require.NoError(t, err)
			require.Equal(t, encoding.Zstd, b.Code(), "%v, values %d to %d", p, at, at+n)
			require.LessOrEqual(t, len(rest.Slice(0, n).Bytes()), max(4<<20, len(values[400])))
			for i, s := range decodeAll(t, blk, n, 0, BlockOptions{}, new(Scratch)) {
				require.Equal(t, quote(values[at+i], true), s)
			}
			at += n
		}
	}
}
