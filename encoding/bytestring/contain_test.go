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
