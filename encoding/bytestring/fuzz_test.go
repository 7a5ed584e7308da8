package bytestring

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

func FuzzDecode(f *testing.F) {
	i := 0
	eachVector(f, func(v goldenBlock, _ vectorInput) {
		if i++; i%3 != 0 || len(v.Block) > 2048 {
			return
		}
		f.Add(v.Block, uint16(v.N), uint8(fixedSizes[v.Type]))
	})
	v := decimalColumn(append(oddDecimals(f), number(125, -2), number(50, -2), number(3, 0))...)
	if tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), "DecimalTree(FFOR)"); err == nil {
		f.Add(withTree(tree, bitmap.All(v.N)), uint16(v.N), uint8(16))
	}
	text := makeValues(40, func(i int) []byte { return fmt.Appendf(nil, "the same beginning and then %d, and so on", i) })
	if tree, err := AppendTreeAs(nil, text, bitmap.All(text.N), "FlatLZ(Delta(FFOR))"); err == nil {
		f.Add(withTree(tree, bitmap.All(text.N)), uint16(text.N), uint8(0))
	}
	if tree, err := AppendTreeAs(nil, text, bitmap.All(text.N), "OnPair(FFOR,FFOR,FLBitPack)"); err == nil {
		f.Add(withTree(tree, bitmap.All(text.N)), uint16(text.N), uint8(0))
	}
	for _, v := range []Values{text, makeValues(40, func(i int) []byte { return fmt.Appendf(nil, "AB-%03d-%c", i*i%1000, 'x'+i%3) })} {
		if tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), "RadixPack(FFOR)"); err == nil {
			f.Add(withTree(tree, bitmap.All(v.N)), uint16(v.N), uint8(0))
		}
	}
	for _, shape := range append(frontShapes, templateShapes...) {
		if tree, err := AppendTreeAs(nil, text, bitmap.All(text.N), shape); err == nil {
			f.Add(withTree(tree, bitmap.All(text.N)), uint16(text.N), uint8(0))
		}
	}
	for kind := range fieldKinds {
		v := fieldValues(kind, 40)
		if tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), fieldsShapes[kind%len(fieldsShapes)]); err == nil {
			f.Add(withTree(tree, bitmap.All(v.N)), uint16(v.N), uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, blk []byte, n uint16, fixed uint8) {
		// Mend the checksum, so that the fuzzer gets behind it.
		if len(blk) >= 12 {
			end := len(blk) - 4
			sum := encoding.BlockChecksum(blk[:end])
			for k := range 4 {
				blk[end+k] = byte(sum >> (8 * k))
			}
		}
		var s Scratch
		tryDecode(t, blk, int(n), int(fixed%32), BlockOptions{Checksums: true, MaxDecoded: 1 << 24}, &s)
	})
}

// fuzzTrees decodes what a fuzzer makes of trees of some shapes, which begin with the same code.
func fuzzTrees(f *testing.F, shapes []string, columns ...Values) {
	var code []byte
	for _, v := range columns {
		for _, shape := range shapes {
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			require.NoError(f, err)
			code = tree[:2]
			f.Add(tree[2:], uint16(v.N))
		}
	}
	f.Fuzz(func(t *testing.T, rest []byte, n uint16) {
		tryDecode(t, frame(append(bytes.Clone(code), rest...)), int(n), 0, BlockOptions{MaxDecoded: 1 << 24}, new(Scratch))
	})
}

func FuzzOnPair(f *testing.F)      { fuzzTrees(f, onPairShapes, sentences(30)) }
func FuzzTemplate(f *testing.F)    { fuzzTrees(f, templateShapes, logLines(40)) }
func FuzzFrontCoding(f *testing.F) { fuzzTrees(f, frontShapes, sortedPaths(70)) }

func FuzzFields(f *testing.F) {
	fuzzTrees(f, fieldsShapes, fieldValues(0, 20), fieldValues(1, 20), fieldValues(2, 20), fieldValues(3, 20), fieldValues(4, 20))
}

func FuzzRadixPack(f *testing.F) {
	digits := makeValues(60, func(i int) []byte { return fmt.Appendf(nil, "%d", i*i*7) })
	places := makeValues(60, func(i int) []byte { return fmt.Appendf(nil, "x%03d-%c", i*i%1000, 'a'+i%7) })
	fuzzTrees(f, []string{"RadixPack(raw)", "RadixPack(FFOR)"}, digits, places)
}

// FuzzRoundTrip writes the lines of a text in every shape, and reads them back.
func FuzzRoundTrip(f *testing.F) {
	for _, v := range []Values{sentences(30), logLines(40), sortedPaths(70), fieldValues(0, 20), fieldValues(1, 20), fieldValues(2, 20), fieldValues(4, 20)} {
		var text []byte
		for i := range v.N {
			text = append(append(text, v.At(i)...), '\n')
		}
		f.Add(text)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Split(text, []byte{'\n'})
		if len(lines) > 2000 {
			return
		}
		v := makeValues(len(lines), func(i int) []byte { return lines[i] })
		var s Scratch
		for _, shape := range shapesFor(0) {
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			if err != nil && shape == "SingleValue" {
				continue
			}
			require.NoError(t, err, shape)
			b, err := Parse(frame(tree), v.N, 0, BlockOptions{}, &s)
			require.NoError(t, err, shape)
			dst, ends := make([]byte, len(v.Data)), make([]int64, v.N)
			require.NoError(t, Decode(b, dst, ends, 0), shape)
			require.Equal(t, string(v.Data), string(dst), shape)
			require.Equal(t, v.Offsets[1:], ends, shape)
			requireFound(t, b, dst, ends)
		}
	})
}
