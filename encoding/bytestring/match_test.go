package bytestring

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// needleOf is a part of a value, at its beginning, its end or in the middle, a whole value, or one of these with a byte changed or
// more bytes than the value has.
func needleOf(rnd *rand.Rand, value []byte) []byte {
	from := rnd.IntN(len(value) + 1)
	to := from + rnd.IntN(min(len(value)-from, 100)+1)
	switch rnd.IntN(5) {
	case 0:
		from = 0
	case 1:
		from, to = 0, len(value)
	case 2:
		to = len(value)
	}
	needle := bytes.Clone(value[from:to])
	switch {
	case rnd.IntN(6) == 0 && len(needle) > 0:
		needle[rnd.IntN(len(needle))] ^= 1 << rnd.IntN(8)
	case rnd.IntN(20) == 0:
		needle = append(needle, "0a\xff"[rnd.IntN(3)])
	}
	return needle
}

// Before values are decoded, no encoding leaves out one that has what is required.
func TestMatches(t *testing.T) {
	shapes := append([]string{"Plain", "RadixPack(FFOR)", "FrontCoding(FFOR,Plain)", "FrontCoding(FFOR,OnPair(Plain,FFOR,FLBitPack))", "FlatLZ(raw)", "BlockDictionary(FFOR,FFOR)",
		"OnPair(Plain,FFOR,FLBitPack)", "OnPair(Plain,Plain,Plain)", "Template(Plain,Plain)", "Fields(Plain,Plain,Plain,FLBitPack,RadixPack(Plain))"}, fieldsShapes...)
	for kind := range fieldKinds {
		rnd := rand.New(rand.NewPCG(uint64(kind), 7))
		v := fieldValues(kind, 1003)
		for _, shape := range shapes {
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			require.NoError(t, err)
			var s Scratch
			b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
			require.NoError(t, err)
			for range sweep.Count(15, 200) {
				needle := needleOf(rnd, v.At(rnd.IntN(v.N)))
				checkMatches(t, b, v, Required{Parts: [][]byte{needle}}, shape)
				checkMatches(t, b, v, Required{Parts: [][]byte{needle, needleOf(rnd, v.At(rnd.IntN(v.N)))}}, shape)
				checkMatches(t, b, v, Required{Parts: [][]byte{needle}, Prefix: needle}, shape)
				checkMatches(t, b, v, Required{Parts: [][]byte{needle}, Prefix: needle, Equal: true}, shape)
			}
		}
	}
}

func checkMatches(t *testing.T, b *Block, v Values, r Required, shape string) {
	dst := bytes.Repeat([]byte{0xa5}, (v.N+63)/64*8)
	if !b.MayMatch(dst, r) {
		return
	}
	for i := range 8 * len(dst) {
		want := i < v.N
		if want {
			value := v.At(i)
			want = bytes.HasPrefix(value, r.Prefix) && (!r.Equal || len(value) == len(r.Prefix))
			for _, p := range r.Parts {
				want = want && bytes.Contains(value, p)
			}
		}
		if got := dst[i/8]>>(i%8)&1 != 0; want && !got || got && i >= v.N {
			t.Fatalf("%s %q %q: value %d is %v", shape, r.Prefix, r.Parts, i, got)
		}
	}
}
