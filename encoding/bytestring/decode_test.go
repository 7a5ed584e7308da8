package bytestring

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// Decoding does not allocate once the scratch has grown to what a block needs.
func TestDecodeAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	var s Scratch
	seen := map[string]bool{}
	eachVector(t, func(v goldenBlock, _ vectorInput) {
		if v.N < 100 || seen[v.Type+v.Tree] {
			return
		}
		seen[v.Type+v.Tree] = true
		fixed := fixedSizes[v.Type]
		var ends []int32
		if fixed == 0 {
			ends = make([]int32, v.N)
		}
		var dst []byte
		decode := func() {
			b, err := Parse(v.Block, v.N, fixed, BlockOptions{Checksums: v.Checksum}, &s)
			if err == nil {
				err = Decode(b, scratch.Slice(&dst, b.DataLen()), ends, 0)
			}
			if err != nil {
				t.Fatal(v.ID, err)
			}
			b.Nulls()
		}
		decode()
		decode()
		require.Zero(t, testing.AllocsPerRun(3, decode), v.ID)
	})
	t.Logf("%d kinds of blocks", len(seen))
}

// Every cut and every flipped bit of the values is an error or decodes to as
// many bytes as announced; with the checksum in place it is always an error.
func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes seconds")
	}
	var s Scratch
	seen := map[string]bool{}
	eachVector(t, func(v goldenBlock, _ vectorInput) {
		if !v.Checksum || len(v.Block) > 400 || v.N < 3 || seen[v.Type+v.Tree] {
			return
		}
		seen[v.Type+v.Tree] = true
		fixed := fixedSizes[v.Type]
		for n := range v.Block {
			tryDecode(t, v.Block[:n], v.N, fixed, BlockOptions{}, &s)
			_, err := Parse(v.Block[:n], v.N, fixed, BlockOptions{Checksums: true}, &s)
			require.Error(t, err)
		}
		bad := append([]byte(nil), v.Block...)
		for bit := 0; bit < 8*len(bad); bit += sweep.Step(7) {
			bad[bit/8] ^= 1 << (bit % 8)
			tryDecode(t, bad[:len(bad)-4], v.N, fixed, BlockOptions{}, &s)
			_, err := Parse(bad, v.N, fixed, BlockOptions{Checksums: true}, &s)
			require.ErrorIs(t, err, fault.ErrChecksum)
			bad[bit/8] ^= 1 << (bit % 8)
		}
	})
	t.Logf("%d kinds of blocks", len(seen))
}

// tryDecode decodes a block that may be bad, and checks what a good one promises.
func tryDecode(t testing.TB, blk []byte, n, fixed int, o BlockOptions, s *Scratch) {
	f, err := encoding.ParseBlock(blk, o.Checksums)
	if err == nil {
		node := Describe(f.Values, n, fixed)
		_ = node.String()
	}
	b, err := Parse(blk, n, fixed, o, s)
	if err != nil {
		return
	}
	const canary = 0xa5
	size := b.DataLen()
	mem := make([]byte, size+32)
	for i := range mem[size:] {
		mem[size+i] = canary
	}
	var ends []int64
	if fixed == 0 {
		ends = make([]int64, n)
	}
	bits := make([]byte, n/8+1)
	if nulls := b.Validity(bits, 0); nulls != b.Nulls() {
		t.Fatalf("%d nulls, then %d", b.Nulls(), nulls)
	}
	for _, needle := range []string{"e", "x0", " 2", "2026-11-0", "-1\xff"} { // whatever is found, decoding goes on
		found, text := make([]byte, (n+63)/64*8), []byte(needle)
		b.MayMatch(found, Required{Parts: [][]byte{text, []byte("took 1")}})
		b.MayMatch(found, Required{Parts: [][]byte{text}, Prefix: text, Equal: n%2 == 0})
	}
	err = Decode(b, mem[:size:size], ends, 0)
	for i, c := range mem[size:] {
		if c != canary {
			t.Fatalf("byte %d behind the values was written", i)
		}
	}
	if err != nil {
		return
	}
	last := int64(0)
	for _, end := range ends {
		if end < last || end > int64(size) {
			t.Fatalf("offsets %v do not ascend to %d", ends, size)
		}
		last = end
	}
	if fixed == 0 && last != int64(size) {
		t.Fatalf("values end at %d of %d", last, size)
	}
	if n > 1 {
		part := make([]byte, b.RangeLen(1, n))
		var some []int64
		if fixed == 0 {
			some = make([]int64, n-1)
		}
		if err := DecodeRange(b, 1, n, part, some, 0); err != nil {
			t.Fatal(err)
		}
		require.Equal(t, mem[size-len(part):size], part)
	}
	if fixed == 0 && n > 0 && n <= 2000 {
		requireFound(t, b, mem[:size], ends)
	}
}

// requireFound asks a block of decoded values for the parts of some of them. No value that has them may be left out.
func requireFound(t testing.TB, b *Block, data []byte, ends []int64) {
	at := func(i int) []byte {
		if i == 0 {
			return data[:ends[0]]
		}
		return data[ends[i-1]:ends[i]]
	}
	bits := make([]byte, (b.Len()+7)/8)
	b.Validity(bits, 0)
	valid := bitmap.Bits{Data: bits, Len: b.Len()}
	found := make([]byte, (b.Len()+63)/64*8)
	for _, k := range []int{0, b.Len() / 2, b.Len() - 1} {
		v := at(k)
		for _, r := range []Required{{Parts: [][]byte{v[len(v)/3 : len(v)-len(v)/3]}}, {Parts: [][]byte{v[:len(v)/2]}, Prefix: v[:len(v)/2]}, {Parts: [][]byte{v}, Prefix: v, Equal: true}} {
			if !b.MayMatch(found, r) {
				continue
			}
			for i := range b.Len() {
				if found[i/8]>>(i%8)&1 != 0 || !valid.At(i) {
					continue
				}
				value := at(i)
				if (!r.Equal || len(value) == len(v)) && bytes.HasPrefix(value, r.Prefix) && bytes.Contains(value, r.Parts[0]) {
					t.Fatalf("value %d, %q, is not found by %q", i, value, append(r.Parts, r.Prefix))
				}
			}
		}
	}
}

func TestLimits(t *testing.T) {
	var s Scratch
	single := frame([]byte{7, 0, 'a', 'b'})
	b, err := Parse(single, 1000, 0, BlockOptions{}, &s)
	require.NoError(t, err)
	require.Equal(t, 2000, b.DataLen())
	value, ok := b.Single()
	require.True(t, ok)
	require.Equal(t, "ab", string(value))
	_, err = Parse(single, 1000, 0, BlockOptions{MaxDecoded: 1999}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
	_, err = Parse(single, 1<<31-1, 0, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrLimit)
	require.Error(t, Decode(b, make([]byte, 3), make([]int32, 1000), 0), "wrong size of dst")

	b, err = Parse(single, 1000, 0, BlockOptions{}, &s)
	require.NoError(t, err)
	require.ErrorIs(t, Decode(b, make([]byte, 2000), make([]int32, 1000), 1<<31-2000), fault.ErrLimit)
	require.NoError(t, Decode(b, make([]byte, 2000), make([]int64, 1000), 1<<31-2000))

	_, err = Parse(frame([]byte{99, 0}), 1, 0, BlockOptions{}, &s)
	require.ErrorIs(t, err, fault.ErrUnsupported)
}

func TestBadTrees(t *testing.T) {
	u64 := func(v ...byte) (out []byte) {
		for _, x := range v {
			out = append(out, x, 0, 0, 0, 0, 0, 0, 0)
		}
		return out
	}
	cat := func(parts ...[]byte) (out []byte) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	for _, c := range []struct {
		name     string
		tree     []byte
		n, fixed int
		want     string
	}{
		{"empty", nil, 0, 0, "tree of 0 bytes"},
		{"width 4", []byte{1, 0, 4}, 0, 0, "4 bytes wide"},
		{"width of fixed", []byte{1, 0, 8}, 0, 3, "8 bytes wide"},
		{"short offsets", []byte{1, 0, 8, 0}, 1, 0, "no room"},
		{"offsets from 1", cat([]byte{1, 0, 8}, u64(1, 1), []byte("a")), 1, 0, "do not ascend"},
		{"offsets descend", cat([]byte{1, 0, 8}, u64(0, 2, 1), []byte("a")), 2, 0, "do not ascend"},
		{"bytes left", cat([]byte{1, 0, 8}, u64(0, 1), []byte("ab")), 1, 0, "end at 1 of 2"},
		{"fixed", []byte{1, 0, 0, 'a'}, 1, 2, "1 bytes for 1 values of 2"},
		{"single of another size", []byte{7, 0, 'a'}, 1, 2, "instead of 2"},
		{"lz4 bomb", cat([]byte{17, 0, 5, 0, 0, 0, 8, 0}, []byte{0, 0, 1, 0, 0, 0, 0, 0}, u64(0, 0)[:8], []byte{0, 0, 1, 0, 0, 0, 0, 0}), 1, 0, "65536 bytes of values from 1"},
		{"lz4 of another size", cat([]byte{17, 0, 5, 0, 0, 0, 8, 0}, []byte{9, 0, 0, 0, 0, 0, 0, 0}, u64(0, 8)), 1, 0, "not the 8 expected"},
		{"fsst bomb", cat([]byte{15, 0, 0, 1, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 8), u64(0, 200)), 1, 0, "200 bytes of values from 1 codes"},
		{"code past the end", cat([]byte{14, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0}, []byte{7, 0, 2, 0, 0, 0, 0, 0}, []byte{1, 0, 0, 0, 'a'}), 3, 0, "code 2 of 2"},
		{"lengths past the end", cat([]byte{14, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0}, []byte{7, 0, 1, 0, 0, 0, 0, 0}, []byte{2, 0, 0, 0, 'a'}), 3, 0, "2 bytes in 1"},
		{"absurd number of distinct values", cat([]byte{14, 0, 6, 0, 0, 0, 6, 0, 0, 0, 255, 255, 255, 255, 1, 0}, []byte{7, 0, 1, 0, 0, 0, 0, 0}, []byte{7, 0, 0, 0, 0, 0}), 3, 0, "4294967295 distinct"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Scratch
			_, err := Parse(frame(c.tree), c.n, c.fixed, BlockOptions{}, &s)
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// strides are the distances between the cuts and between the flipped bits of a damaged tree.
type strides struct{ cuts, flips int }

var somePlaces = strides{cuts: sweep.Step(3), flips: sweep.Step(11)}

// requireSafe cuts a tree of n values short and flips its bits. Each damaged tree is an error, or decodes to as many bytes
// as announced. Each tree cut to fewer than corrupt bytes is an error when it is parsed.
func requireSafe(t testing.TB, tree []byte, n, corrupt int, by strides, s *Scratch) {
	t.Helper()
	for size := 0; size < len(tree); size += by.cuts {
		tryDecode(t, frame(tree[:size]), n, 0, BlockOptions{}, s)
		if size < corrupt {
			_, err := Parse(frame(tree[:size]), n, 0, BlockOptions{}, s)
			require.ErrorIs(t, err, fault.ErrCorrupt, "cut at %d", size)
		}
	}
	for bit := 0; bit < 8*len(tree); bit += by.flips {
		tree[bit/8] ^= 1 << (bit % 8)
		tryDecode(t, frame(tree), n, 0, BlockOptions{MaxDecoded: 1 << 24}, s)
		tree[bit/8] ^= 1 << (bit % 8)
	}
}

// requireNoAllocs decodes a block of the values v, all of them and a single one, and fails if that takes memory once the
// Scratch has enough. There is room for slack bytes behind those of the values.
func requireNoAllocs(t testing.TB, blk []byte, v Values, slack int, o BlockOptions) {
	t.Helper()
	var s Scratch
	dst, ends := make([]byte, len(v.Data), len(v.Data)+slack), make([]int32, v.N)
	decode := func() {
		b, err := Parse(blk, v.N, 0, o, &s)
		if err == nil {
			err = Decode(b, dst, ends, 0)
		}
		if err == nil {
			err = DecodeRange(b, 100, 101, dst[:b.RangeLen(100, 101)], ends[:1], 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	decode()
	require.Zero(t, testing.AllocsPerRun(5, decode))
}

// frame makes a block without presence and checksum.
func frame(tree []byte) []byte {
	b, mark := encoding.BeginBlock(nil)
	return encoding.EndBlock(append(encoding.EndPresence(b, mark), tree...), mark, false)
}

func ExampleDescribe() {
	node := Describe([]byte{14, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'a'}, 3, 0)
	fmt.Println(node.String())
	// Output: BlockDictionary(SingleValue,raw)
}
