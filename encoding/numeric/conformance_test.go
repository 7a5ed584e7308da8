package numeric

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/conformance"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

var rewrite = flag.Bool("rewrite", false, "write the files in testdata instead of comparing with them")

// requireFile compares text with a file in testdata.
func requireFile(t *testing.T, name, text string) {
	path := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), text)
}

// testConformance writes and reads every case in every profile and with every forced tree. It returns the trees that
// the profiles chose.
func testConformance[T Value](t *testing.T) (chosen []string) {
	var s Scratch
	for _, c := range casesOf[T]() {
		for i := range 2 * (encoding.MinimalSize + 1) {
			o := encoding.Options{Profile: i / 2}
			what := fmt.Sprintf("%v, %s, %v", Of[T](), c.name, o.Profile)
			if i%2 == 1 {
				o.Features = edition.E2026.Features()
				what += " 2026"
			}
			blk, err := NewEncoder[T](o).AppendBlock(nil, c.values, c.valid)
			require.NoError(t, err, what)
			got, validity := make([]T, len(c.values)), make([]byte, len(c.values)/8+1)
			_, err = DecodeBlock(got, validity, 0, blk, BlockOptions{Checksums: true}, &s)
			require.NoError(t, err, what)
			requireSame(t, c.values, got, c.valid, what)
			requireValid(t, c.valid, validity, what)
			b, err := encoding.ParseBlock(blk, true)
			require.NoError(t, err, what)
			require.LessOrEqual(t, len(b.Values), 2+len(c.values)*sizeOf[T](), what)
			node := Describe(b.Values, Of[T](), len(c.values))
			require.NoError(t, node.FirstErr(), what)
			require.NoError(t, conformance.Covered(&node), what)
			chosen = append(chosen, fmt.Sprintf("%-50s %7d  %s", what, len(b.Values), node.String()))
		}
		for _, shape := range allShapes {
			if p, err := parseShape(shape); err == nil && suits(p, Of[T]()) && len(c.values) < 3000 {
				tree, err := AppendTreeAs(nil, c.values, c.valid, shape)
				require.NoError(t, err)
				got := make([]T, len(c.values))
				require.NoError(t, Decode(got, tree, &s), shape)
				node := Describe(tree, Of[T](), len(c.values))
				require.NoError(t, conformance.Covered(&node), shape)
				requireSame(t, c.values, got, c.valid, shape)
			}
		}
	}
	return chosen
}

func requireValid(t require.TestingT, want bitmap.Bits, got []byte, what string) {
	for i := range want.Len {
		if want.At(i) != (got[i/8]>>(i%8)&1 != 0) {
			require.Failf(t, "wrong validity", "%s: slot %d", what, i)
		}
	}
}

// Every case comes back, and the chosen trees are those of testdata/chosen, so that a diff shows the effect of a
// change of the encoder.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T) []string
	}{
		{"i8", testConformance[int8]}, {"i16", testConformance[int16]}, {"i32", testConformance[int32]}, {"i64", testConformance[int64]},
		{"u8", testConformance[uint8]}, {"u16", testConformance[uint16]}, {"u32", testConformance[uint32]}, {"u64", testConformance[uint64]},
		{"f32", testConformance[float32]}, {"f64", testConformance[float64]},
	} {
		t.Run(c.name, func(t *testing.T) {
			if raceEnabled && c.name != "i32" {
				t.Skip("-race: one type is enough")
			}
			if !sweep.All() && !*rewrite && !slices.Contains([]string{"i16", "i64", "u32", "f64"}, c.name) {
				t.Skip("some types are enough for people")
			}
			chosen := c.run(t)
			slices.Sort(chosen)
			requireFile(t, "chosen/"+c.name+".txt", strings.Join(chosen, "\n")+"\n")
		})
	}
}

// dumps are the examples whose annotated bytes are in testdata/layout.
var dumps = []struct {
	name  string
	shape string
	dump  func(shape string) string
}{
	{"plain", "Plain", dumpOf[int16](5, -1)},
	{"single_value", "SingleValue", dumpOf[int32](7, 7, 7)},
	{"bitpack", "FLBitPack", dumpOf[uint32](1, 2, 3)},
	{"frame_of_reference", "FOR(Plain)", dumpOf[int16](1000, 1001, 1003)},
	{"fused_frame_of_reference", "FFOR", dumpOf[int64](1000, 1001, 1003)},
	{"delta", "Delta(SingleValue)", dumpOf[int64](100, 101, 102, 103, 104, 105, 106, 107, 108, 109)},
	{"run_length", "RunLength(raw,raw)", dumpOf[int32](5, 5, 5, 9, 9)},
	{"truncate", "TruncateU8(raw)", dumpOf[int32](-1, 2, 127)},
	{"zigzag", "ZigZag(Plain)", dumpOf[int8](-1, 2)},
	{"dictionary", "BlockDictionary(Plain,raw)", dumpOf[int16](7, 9, 7)},
	{"sparse", "Sparse(raw,raw)", dumpOf[int64](0, 0, 0, 0, 0, 0, 0, 42, 0)},
	{"alp", "ALP[e=1,f=0](Plain)", dumpOf(1.5, 2.5, 1e300)},
	{"alprd", "ALPRD(FLBitPack,FLBitPack)", dumpOf[float32](1.5, 1.25, 1.75, 1.125)},
	{"lz4", "LZ4", dumpOf[int8](make([]int8, 40)...)},
	{"common_divisor", "CommonDivisor(Plain)", dumpOf[int16](1000, 1300, 1100)},
	{"lag_delta", "LagDelta[3](Plain,Plain)", dumpOf[int32](100, 7, 50, 101, 7, 53, 102)},
	{"narrow", "Narrow(raw)", dumpOf[uint32](5, 200)},
	{"tight_pack", "TightPack", dumpOf[uint16](1000, 1001, 1003)},
	{"patched_pack", "PatchedPack(raw,raw)", dumpOf[uint16](10, 11, 13, 12, 10, 11, 12, 10, 13, 500, 11, 12)},
	{"prefix_bins", "PrefixBins(Plain,Plain)", dumpOf[int16](10, 20, 10, 20, 10, 20, 10, 21, 10, 23, 10, 10)},
	{"byte_planes", "BytePlanes(Plain)", dumpOf[uint16](0x0102, 0x0103)},
	{"zstd", "Zstd", dumpOf[int8](make([]int8, 40)...)},
}

func dumpOf[T Value](values ...T) func(shape string) string {
	return func(shape string) string {
		tree, err := AppendTreeAs(nil, values, bitmap.All(len(values)), shape)
		if err != nil {
			return err.Error()
		}
		var out bytes.Buffer
		fmt.Fprintf(&out, "%v %v\n\n", Of[T](), values)
		n := Describe(tree, Of[T](), len(values))
		if err := encoding.Dump(&out, tree, &n); err != nil {
			return err.Error()
		}
		return out.String()
	}
}

// The bytes of each encoding are those of testdata/layout.
func TestLayouts(t *testing.T) {
	for _, c := range dumps {
		t.Run(c.name, func(t *testing.T) {
			text := c.dump(c.shape)
			code, _, _ := strings.Cut(c.shape, "(")
			code, _, _ = strings.Cut(code, "[")
			require.Contains(t, text, "\n0000  "+code, "replaced by another encoding")
			requireFile(t, "layout/"+c.name+".txt", text)
		})
	}
}
