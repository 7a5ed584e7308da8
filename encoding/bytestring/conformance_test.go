package bytestring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/edition"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/conformance"
)

// Every case is written in every profile and every form, and reads back. What the
// profiles choose is kept in testdata/chosen.
func TestConformance(t *testing.T) {
	for _, fixed := range []int{0, 3, 16} {
		t.Run(fmt.Sprintf("fixed=%d", fixed), func(t *testing.T) {
			var s Scratch
			var chosen []string
			for _, c := range conformance.ByteStrings(fixed) {
				v, valid := column(fixed, c.Values...)
				want := quoted(v, valid)
				for _, p := range profiles {
					for _, ed := range []edition.Edition{edition.Reference, edition.E2026} {
						what := fmt.Sprintf("%s, %v, %v", c.Name, p, ed)
						blk, err := NewEncoder(encoding.Options{Profile: p, Features: ed.Features()}, fixed).AppendBlock(nil, v, valid)
						require.NoError(t, err, what)
						require.Equal(t, want, decodeAll(t, blk, v.N, fixed, BlockOptions{Checksums: true}, &s), what)
						chosen = append(chosen, fmt.Sprintf("%-50s %s", what, root(treeOf(t, blk, v.N, fixed))))
					}
				}
				for _, shape := range shapesFor(fixed) {
					tree, err := AppendTreeAs(nil, v, valid, shape)
					if err != nil && (strings.HasPrefix(shape, "SingleValue") || strings.HasPrefix(shape, "DecimalTree")) {
						continue
					}
					require.NoError(t, err, "%s as %s", c.Name, shape)
					blk := withTree(tree, valid)
					require.Equal(t, want, decodeAll(t, blk, v.N, fixed, BlockOptions{Checksums: true}, &s), "%s as %s", c.Name, shape)
				}
			}
			slices.Sort(chosen)
			requireFile(t, fmt.Sprintf("chosen/fixed%d.txt", fixed), strings.Join(chosen, "\n")+"\n")
		})
	}
}

func shapesFor(fixed int) []string {
	if fixed > 0 {
		return []string{"Plain", "SingleValue", "BlockDictionary(FLBitPack)", "FSST", "LZ4", "Zstd[1]", "Zstd[4]", "DecimalTree(FFOR)"}
	}
	return []string{
		"Plain", "SingleValue", "BlockDictionary(Plain,raw)", "BlockDictionary(RunLength(FLBitPack,FLBitPack),FFOR)",
		"FSST(raw)", "FSST(Delta(FFOR))", "LZ4(raw)", "LZ4(FFOR)", "Zstd[1](raw)", "Zstd(Delta(RunLength(raw,FLBitPack)))",
	}
}
