package bytestring

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// What a block says of its values before they are decoded leaves out none that has all
// parts, and of a dictionary's nothing else; other blocks say nothing.
func TestMayContain(t *testing.T) {
	const n = 1000
	text := makeValues(n, func(i int) []byte { return fmt.Appendf(nil, "user-%d of %d", i%17, i%5) })
	valid := bitmap.Bits{Data: bytes.Repeat([]byte{0xfd}, n/8), Len: n}
	for shape, exact := range map[string]bool{"BlockDictionary(Plain,raw)": true, "BlockDictionary(RunLength(raw,raw),Plain)": true, "Plain": false} {
		tree, err := AppendTreeAs(nil, text, valid, shape)
		require.NoError(t, err)
		var s Scratch
		b, err := Parse(frame(tree), n, 0, BlockOptions{}, &s)
		require.NoError(t, err)
		for _, parts := range [][]string{{"user-1 "}, {"-1", " 3"}, {"", "user-16"}, {"nobody"}, {"user-1", "user-2"}} {
			var asked [][]byte
			for _, p := range parts {
				asked = append(asked, []byte(p))
			}
			dst := bytes.Repeat([]byte{0xa5}, (n+63)/64*8)
			ok := b.MayContain(dst, asked)
			require.Equal(t, exact, ok, "%s %q", shape, parts)
			for i := range 8 * len(dst) {
				want := ok && i < n && valid.At(i)
				for _, p := range asked {
					want = want && bytes.Contains(text.At(i), p)
				}
				require.True(t, !ok || want == (dst[i/8]>>(i%8)&1 != 0), "%s %q value %d", shape, parts, i)
			}
		}
		dst := make([]byte, (n+63)/64*8)
		require.False(t, b.MayContain(dst, [][]byte{[]byte("user")}), "all have it")
		require.False(t, b.MayContain(dst, nil))
		require.False(t, b.MayContain(dst, [][]byte{nil}))
	}
}

// Of the values that may match none that does is missing, whatever the encoding, and where lengths or beginnings are known
// few others are there.
func TestMayMatch(t *testing.T) {
	columns := map[string]Values{
		"code":  makeValues(2000, func(i int) []byte { return fmt.Appendf(nil, "%c%c-%04d", 'A'+i%7, 'A'+i/7%26, i*i%10000) }),
		"hash":  makeValues(2000, func(i int) []byte { return fmt.Appendf(nil, "%016x", uint64(i)*0x9e3779b97f4a7c15) }),
		"words": makeValues(2000, func(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%3)}, i%11) }),
	}
	for name, v := range columns {
		for _, shape := range []string{"Plain", "RadixPack(FFOR)", "FrontCoding(FFOR,Plain)", "FSST(FFOR)", "FlatLZ(raw)", "BlockDictionary(FFOR,FFOR)"} {
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			require.NoError(t, err)
			var s Scratch
			b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
			require.NoError(t, err)
			for i := 0; i < v.N; i += 37 {
				for _, n := range []int{1, 3, 5, 8, len(v.At(i))} {
					value := v.At(i)
					r := Required{Prefix: value[:min(n, len(value))], Equal: n == len(value)}
					r.Parts = [][]byte{r.Prefix}
					dst := bytes.Repeat([]byte{0xff}, (v.N+63)/64*8)
					if !b.MayMatch(dst, r) {
						require.False(t, r.Equal && len(value) > 0 && (name == "words" && shape[:2] != "Fr" || shape[0] == 'R' && name == "hash"), shape)
						continue
					}
					others := 0
					for k := range v.N {
						found := dst[k/8]>>(k%8)&1 == 1
						match := bytes.HasPrefix(v.At(k), r.Prefix) && (!r.Equal || len(v.At(k)) == len(value))
						if match && !found {
							t.Fatalf("%s as %s: %q for %q", name, shape, v.At(k), r.Prefix)
						}
						if found && !match {
							others++
						}
					}
					if name == "hash" && shape[0] == 'R' {
						require.LessOrEqual(t, others, 1)
					}
				}
			}
			if shape[0] == 'R' && name == "hash" {
				dst := make([]byte, (v.N+63)/64*8)
				for _, r := range []Required{{Prefix: []byte("xyz")}, {Prefix: []byte("0123456789abcdef0")}, {Prefix: []byte("012"), Equal: true}} {
					require.True(t, b.MayMatch(dst, r))
					require.Equal(t, make([]byte, len(dst)), dst)
				}
			}
		}
	}
}
