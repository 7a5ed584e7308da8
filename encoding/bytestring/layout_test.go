package bytestring

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

var rewrite = flag.Bool("rewrite", false, "write the expected files in testdata anew")

// requireFile compares text with a file in testdata.
func requireFile(t *testing.T, name, text string) {
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *rewrite {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -rewrite makes it")
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), text)
}

// The layout of each encoding, byte for byte.
func TestLayouts(t *testing.T) {
	texts := func(values ...string) (out [][]byte) {
		for _, v := range values {
			if v == "null" {
				out = append(out, nil)
			} else {
				out = append(out, []byte(v))
			}
		}
		return out
	}
	numbers := decimal.Bytes([]decimal.Decimal{number(125, -2), notANumber, number(50, -2)})
	for _, c := range []struct {
		name, shape string
		fixed       int
		values      [][]byte
	}{
		{"plain", "Plain", 0, texts("a", "bc", "")},
		{"plain_fixed", "Plain", 3, texts("abc", "def")},
		{"single_value", "SingleValue", 0, texts("ab", "null", "ab")},
		{"dictionary", "BlockDictionary(Plain,raw)", 0, texts("aa", "b", "null", "aa")},
		{"fsst", "FSST(raw)", 0, texts(strings.Repeat("abc", 20), "abcX")},
		{"radix_pack", "RadixPack(raw)", 0, texts("cab", "a")},
		{"front_coding", "FrontCoding(Plain,Plain)", 0, texts("abc", "abd", "x")},
		{"on_pair", "OnPair(Plain,Plain,Plain)", 0, texts("abcabcabcab", "", "abcabc")},
		{"lz4", "LZ4(raw)", 0, texts("aaaaaaaaaaaaaaaaaaaaaaaa", "")},
		{"flat_lz", "FlatLZ(raw)", 0, texts("abcdefghijklmnop", "abcdefghijkl!")},
		{"template", "Template(Plain,Plain)", 0, texts("a1", "a23", "a4")},
		{"fields", "Fields(Plain,Plain,Plain,Plain,Plain)", 0, texts("took 5 ms", "took 12 ms", "at 10:59 off", "at 11:01 off", "none")},
		{"zstd", "Zstd[1](Delta(Plain))", 0, texts(strings.Repeat("abcdefgh", 8), "1", "22", "3", "4", "5", "6", "7")},
		{"decimal_tree", "DecimalTree(Plain)", 16, [][]byte{numbers[:16], numbers[16:32], numbers[32:]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, valid := column(c.fixed, c.values...)
			tree, err := AppendTreeAs(nil, v, valid, c.shape)
			require.NoError(t, err)
			node := Describe(tree, v.N, c.fixed)
			require.NoError(t, node.FirstErr())
			require.Equal(t, root(c.shape), node.Code.String())
			var out bytes.Buffer
			out.WriteString(c.shape + " of")
			for _, value := range c.values {
				if value == nil {
					out.WriteString(" null")
				} else {
					fmt.Fprintf(&out, " %q", value)
				}
			}
			out.WriteString("\n\n")
			require.NoError(t, encoding.Dump(&out, tree, &node))
			requireFile(t, "layout/"+c.name+".txt", out.String())
		})
	}
}

// What a block looks like does not depend on what the shared memory of encoders
// was used for before.
func TestFreshMemory(t *testing.T) {
	columns := benchColumns()
	for _, p := range profiles {
		for name, v := range columns {
			v = v.Slice(0, 1000)
			first, err := NewEncoder(encoding.Options{Profile: p}, 0).AppendBlock(nil, v, bitmap.All(v.N))
			require.NoError(t, err)
			for _, other := range columns {
				_, err := NewEncoder(encoding.Options{Profile: p}, 0).AppendBlock(nil, other.Slice(100, 900), bitmap.All(800))
				require.NoError(t, err)
			}
			again, err := NewEncoder(encoding.Options{Profile: p}, 0).AppendBlock(nil, v, bitmap.All(v.N))
			require.NoError(t, err)
			require.Equal(t, first, again, "%s in %v", name, p)
		}
	}
}
