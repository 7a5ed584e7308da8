package bytestring

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// clearChoices are the choices that no tuning of costs should change, by case and profile.
var clearChoices = map[string]map[encoding.Profile]encoding.Code{
	"equal":           everyProfile(encoding.SingleValue),
	"equal or null":   everyProfile(encoding.SingleValue),
	"all null":        everyProfile(encoding.SingleValue),
	"no bytes":        everyProfile(encoding.SingleValue),
	"few long values": everyProfile(encoding.BlockDictionary),
	"long noise":      everyProfile(encoding.Plain),
	"few values":      {encoding.Balanced: encoding.BlockDictionary, encoding.MinimalCompression: encoding.BlockDictionary},
	"text":            {encoding.MinimalCompression: encoding.LZ4, encoding.HighCompression: encoding.Zstd, encoding.MinimalSize: encoding.Zstd},
}

// textChoices are those of edition 2026 for the texts of the case "text".
var textChoices = map[encoding.Profile]encoding.Code{
	encoding.Balanced: encoding.Template, encoding.MinimalCompression: encoding.OnPair, encoding.HighCompression: encoding.Fields, encoding.MinimalSize: encoding.Fields,
}

func everyProfile(code encoding.Code) map[encoding.Profile]encoding.Code {
	out := map[encoding.Profile]encoding.Code{}
	for _, p := range profiles {
		out[p] = code
	}
	return out
}

// Every case is written in every profile and every form, and reads back.
func TestConformance(t *testing.T) {
	for _, fixed := range []int{0, 3, 16} {
		if fixed > 0 && testing.Short() || fixed == 3 && !sweep.All() {
			continue
		}
		t.Run(fmt.Sprintf("fixed=%d", fixed), func(t *testing.T) {
			var s Scratch
			for i, c := range testCases(fixed) {
				if strings.HasPrefix(c.name, "words ") && i%sweep.Step(3) != 0 {
					continue // some of the borders of lengths are enough for people
				}
				v, valid := column(fixed, c.values...)
				want := quoted(v, valid)
				for _, p := range profiles {
					for _, ed := range []edition.Edition{edition.Reference, edition.E2026} {
						what := fmt.Sprintf("%s, %v, %v", c.name, p, ed)
						blk, err := NewEncoder(encoding.Options{Profile: p, Features: ed.Features()}, fixed).AppendBlock(nil, v, valid)
						require.NoError(t, err, what)
						require.Equal(t, want, decodeAll(t, blk, v.N, fixed, BlockOptions{Checksums: true}, &s), what)
						got := root(treeOf(t, blk, v.N, fixed))
						want, ok := clearChoices[c.name][p]
						if c.name == "text" && ed == edition.E2026 {
							want, ok = textChoices[p]
						}
						if ok && fixed == 0 && p != encoding.ProfilePlain {
							require.Equal(t, want.String(), got, what)
						}
						if p == encoding.ProfilePlain {
							require.Equal(t, "Plain", got, what)
						}
					}
				}
				for _, shape := range shapesFor(fixed) {
					tree, err := AppendTreeAs(nil, v, valid, shape)
					if err != nil && (strings.HasPrefix(shape, "SingleValue") || strings.HasPrefix(shape, "DecimalTree")) {
						continue
					}
					require.NoError(t, err, "%s as %s", c.name, shape)
					blk := withTree(tree, valid)
					require.Equal(t, want, decodeAll(t, blk, v.N, fixed, BlockOptions{Checksums: true}, &s), "%s as %s", c.name, shape)
				}
			}
		})
	}
}

func shapesFor(fixed int) []string {
	if fixed > 0 {
		return []string{"Plain", "SingleValue", "BlockDictionary(FLBitPack)", "FSST", "LZ4", "FlatLZ", "RadixPack", "Zstd[1]", "Zstd[4]", "DecimalTree(FFOR)"}
	}
	return []string{
		"Plain", "SingleValue", "BlockDictionary(Plain,raw)", "BlockDictionary(RunLength(FLBitPack,FLBitPack),FFOR)",
		"Fields", "Fields(Plain,FLBitPack,FLBitPack,FFOR,BlockDictionary(FLBitPack,raw))", "Template(FLBitPack,FFOR)", "Template[1](Plain,Plain)",
		"FSST(raw)", "FSST(Delta(FFOR))", "OnPair(Plain,Plain,Plain)", "OnPair(FLBitPack,FLBitPack,FLBitPack)", "RadixPack(raw)", "RadixPack(FFOR)", "FrontCoding(Plain,Plain)", "FrontCoding(FFOR,FrontCoding(FLBitPack,LZ4(FFOR)))", "LZ4(raw)", "LZ4(FFOR)", "Zstd[1](raw)", "Zstd(Delta(RunLength(raw,FLBitPack)))",
	}
}
