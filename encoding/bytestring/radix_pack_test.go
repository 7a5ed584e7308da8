package bytestring

import (
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

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

func randomStrings(n, length int, alphabet string) Values {
	rnd := rand.New(rand.NewPCG(1, 2))
	return makeValues(n, func(int) []byte {
		b := make([]byte, length)
		for i := range b {
			b[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		return b
	})
}

// Blocks of random characters, with all that is around them, are within 2 % of their entropy.
func TestEntropy(t *testing.T) {
	ascii := ""
	for c := '!'; len(ascii) < 90; c++ {
		ascii += string(c)
	}
	for _, alphabet := range []string{base64[52:62], base64[52:62] + "abcdef", base64[:26], base64[26:62], base64[:62], base64, ascii} {
		for _, length := range []int{16, 64, 90} {
			v := randomStrings(20_000, length, alphabet)
			o := encoding.Options{Features: edition.E2026.Features()}
			e := NewEncoder(o, 0)
			size, at := 0, 0
			for at < v.N {
				rest := v.Slice(at, v.N)
				n := e.Plan(int64(at), rest, bitmap.All(rest.N))
				blk, err := e.AppendBlock(nil, rest.Slice(0, n), bitmap.All(n))
				require.NoError(t, err)
				require.Contains(t, []string{"RadixPack", "Fields"}, root(treeOf(t, blk, n, 0))) // of digits, Fields
				size, at = size+len(blk), at+n
			}
			entropy := float64(len(v.Data)) * math.Log2(float64(len(alphabet))) / 8
			require.Less(t, float64(size)/entropy, 1.02, "%d of %d characters", length, len(alphabet))
		}
	}
}

// Values of one length take what their positions need.
func TestPositionAlphabets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	code := func(int) []byte {
		return fmt.Appendf(nil, "%c%c-%05d/%x", 'A'+rnd.IntN(26), 'A'+rnd.IntN(26), rnd.IntN(100_000), 16+rnd.IntN(240))
	}
	v := makeValues(10_000, code)
	blk, err := NewEncoder(encoding.Options{Features: edition.E2026.Features()}, 0).AppendBlock(nil, v, bitmap.All(v.N))
	require.NoError(t, err)
	require.Equal(t, "RadixPack", root(treeOf(t, blk, v.N, 0)))
	bits := 2*math.Log2(26) + 5*math.Log2(10) + math.Log2(15) + 4
	require.Less(t, float64(8*len(blk)), 1.03*float64(v.N)*bits)

	b, err := Parse(blk, v.N, 0, BlockOptions{Checksums: true}, new(Scratch))
	require.NoError(t, err)
	dst, ends := make([]byte, b.RangeLen(700, 702)), make([]int64, 2)
	require.NoError(t, DecodeRange(b, 700, 702, dst, ends, 0))
	require.Equal(t, string(v.At(700))+string(v.At(701)), string(dst))
}

func radixExamples(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	for name, v := range map[string]Values{
		"one alphabet": makeValues(60, func(i int) []byte { return fmt.Appendf(nil, "%d", i*i*7) }),
		"positions":    makeValues(60, func(i int) []byte { return fmt.Appendf(nil, "x%03d-%c", i*i%1000, 'a'+i%7) }),
	} {
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), "RadixPack(raw)")
		require.NoError(t, err)
		out[name] = tree
	}
	return out
}

// Whatever is cut off, and whatever bit is flipped, is an error or decodes to as much as announced.
func TestRadixDamage(t *testing.T) {
	var s Scratch
	for name, tree := range radixExamples(t) {
		t.Run(name, func(t *testing.T) { requireSafe(t, tree, 60, len(tree), somePlaces, &s) })
	}
}

// A number that stands for no characters is found.
func TestRadixNumbers(t *testing.T) {
	tree, err := AppendTreeAs(nil, makeValues(2, func(i int) []byte { return []byte("cab") }), bitmap.All(2), "RadixPack(raw)")
	require.NoError(t, err)
	tree[len(tree)-1] = 0xff
	tree[len(tree)-2] = 0xff
	b, err := Parse(frame(tree), 2, 0, BlockOptions{}, new(Scratch))
	require.NoError(t, err)
	require.ErrorIs(t, Decode(b, make([]byte, 6), make([]int64, 2), 0), fault.ErrCorrupt)
}

// Reading a block takes no memory once there is enough.
func TestRadixAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	for _, length := range []int{0, 12} {
		v := makeValues(5000, func(i int) []byte { return fmt.Appendf(nil, "%0*d", length, i*i) })
		tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), "RadixPack(FFOR)")
		require.NoError(t, err)
		requireNoAllocs(t, frame(tree), v, 64, BlockOptions{})
	}
}
