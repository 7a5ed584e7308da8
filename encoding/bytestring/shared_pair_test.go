package bytestring

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// shareable are texts that OnPair takes fewest bytes for.
func shareable(n int) Values {
	r := rand.New(rand.NewPCG(7, 9))
	return makeValues(n, func(i int) (v []byte) {
		for range 1 + i%9 {
			for word := mix(r.IntN(150)) >> 24; word > 0; word /= 26 {
				v = append(v, 'a'+byte(word%26))
			}
			v = append(v, ' ')
		}
		return v
	})
}

// sharing writes values as blocks that may share a dictionary, and returns the values of each.
func sharing(t testing.TB, v Values, p encoding.Profile) (blocks [][]byte, parts []Values, dictionary []byte) {
	e := NewEncoder(encoding.Options{Profile: p, Features: edition.E2026.Features()}, 0)
	e.ShareDictionary()
	for at := 0; at < v.N; {
		n := e.Plan(int64(at), v.Slice(at, v.N), bitmap.All(v.N-at))
		part := v.Slice(at, at+n)
		blk, err := e.AppendBlock(nil, part, bitmap.All(n))
		require.NoError(t, err)
		blocks, parts, at = append(blocks, blk), append(parts, part), at+n
	}
	return blocks, parts, e.AppendDictionary(nil)
}

// Blocks with a shared dictionary are as small as those with their own, and are read whole, in part and by conditions.
func TestSharedDictionary(t *testing.T) {
	v := shareable(60_000)
	for _, p := range []encoding.Profile{encoding.Balanced, encoding.MinimalCompression} { // in the others, Zstd is smaller
		blocks, parts, raw := sharing(t, v, p)
		require.Greater(t, len(blocks), 3, p)
		d, err := ParseDictionary(raw, DictionaryID)
		require.NoError(t, err)
		shared := 0
		var s Scratch
		for i, blk := range blocks {
			part := parts[i]
			require.LessOrEqual(t, len(part.Bytes()), 512<<10)
			if SharesDictionary(blk) {
				shared++
			}
			b, err := Parse(blk, part.N, 0, BlockOptions{Checksums: true, Dictionary: d}, &s)
			require.NoError(t, err)
			dst, ends := make([]byte, b.DataLen()), make([]int64, part.N)
			require.NoError(t, Decode(b, dst, ends, 0))
			require.True(t, bytes.Equal(part.Bytes(), dst))
			for _, k := range []int{0, part.N / 2, part.N - 1} {
				want := part.At(k)
				one := make([]byte, b.RangeLen(k, k+1))
				require.NoError(t, DecodeRange(b, k, k+1, one, ends[:1], 0))
				require.Equal(t, string(want), string(one))
				found := make([]byte, (part.N+63)/64*8)
				if b.MayMatch(found, Required{Parts: [][]byte{want[:len(want)/2]}}) {
					require.NotZero(t, found[k/8]>>(k%8)&1)
				}
			}
		}
		require.Equal(t, len(blocks), shared, "blocks that share the dictionary in %v", p)
	}
}

// A dictionary with any wrong bit is an error, and so is a block whose dictionary is another, or not there.
func TestDamagedSharedDictionary(t *testing.T) {
	blocks, parts, raw := sharing(t, shareable(30_000), encoding.Balanced)
	for i := range raw {
		raw[i] ^= 1 << (i % 8)
		_, err := ParseDictionary(raw, DictionaryID)
		require.ErrorIs(t, err, fault.ErrChecksum)
		raw[i] ^= 1 << (i % 8)
	}
	for _, n := range []int{0, 3, 7, len(raw) - 1} {
		_, err := ParseDictionary(raw[:n], DictionaryID)
		require.Error(t, err)
	}
	for _, lie := range []func(b []byte){ // whose checksum is right
		func(b []byte) { b[3] = 1 }, func(b []byte) { b[0]++ }, func(b []byte) { b[4] = 0xff }, func(b []byte) { b[4] |= 7 },
	} {
		b := bytes.Clone(raw[:len(raw)-4])
		lie(b)
		b = appendSum(b)
		_, err := ParseDictionary(b, DictionaryID)
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
	d, err := ParseDictionary(raw, DictionaryID)
	require.NoError(t, err)
	other, err := ParseDictionary(raw, DictionaryID+1)
	require.NoError(t, err)
	short, err := ParseDictionary(appendSum([]byte{1, 0, 0, 0, 0, 'x'}), DictionaryID)
	require.NoError(t, err)
	var s Scratch
	for _, have := range []*Dictionary{nil, other, short} {
		b, err := Parse(blocks[0], parts[0].N, 0, BlockOptions{Checksums: true, Dictionary: have}, &s)
		if err == nil {
			err = Decode(b, make([]byte, b.DataLen()), make([]int64, b.Len()), 0)
		}
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
	_, err = Parse(blocks[0], parts[0].N, 0, BlockOptions{Checksums: true, Dictionary: d}, &s)
	require.NoError(t, err)
}

func appendSum(b []byte) []byte {
	sum := encoding.BlockChecksum(b)
	return append(b, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
}

func FuzzSharedDictionary(f *testing.F) {
	blocks, parts, raw := sharing(f, shareable(30_000), encoding.Balanced)
	f.Add(raw[:len(raw)-4], blocks[0], uint16(parts[0].N))
	f.Add([]byte{1, 0, 0, 0, 0, 'x'}, []byte{}, uint16(1))
	f.Fuzz(func(_ *testing.T, dictionary, blk []byte, n uint16) {
		d, err := ParseDictionary(appendSum(dictionary), DictionaryID)
		if err != nil {
			return
		}
		var s Scratch
		b, err := Parse(blk, int(n), 0, BlockOptions{MaxDecoded: 1 << 20, Dictionary: d}, &s)
		if err != nil {
			return
		}
		_ = Decode(b, make([]byte, b.DataLen()), make([]int64, b.Len()), 0)
		found := make([]byte, (int(n)+63)/64*8)
		b.MayMatch(found, Required{Parts: [][]byte{{'a'}}})
	})
}
