package docs

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/sbbf"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
)

// examples makes the text of each kind of example. words are the words of the mark before "|", arg is the text behind
// it.
var examples = map[string]func(t *testing.T, words []string, arg string) string{
	"numeric":           numericTree,
	"bytes":             bytesTree,
	"decimals":          decimalsTree,
	"block":             blockExample,
	"presence":          presenceExample,
	"blockmap":          blockmapExample,
	"fastlanes":         fastlanesExample,
	"frame":             frameExample,
	"tail":              tailExample,
	"dictionary":        dictionaryExample,
	"packed-dictionary": packedDictionaryExample,
	"range":             rangeExample,
	"sbbf":              sbbfExample,
	"hll":               hllExample,
	"decimal":           decimalExample,
	"lookup":            lookupExample,
	"shard":             shardExample,
}

// The code writes every example of the format's description, and reads it.
func TestExamples(t *testing.T) {
	n := replace(t, "docs/format.md", exampleMark, func(t *testing.T, groups []string) string {
		words := strings.Fields(groups[2])
		f := examples[words[0]]
		require.NotNil(t, f, "no example is called %q", words[0])
		return trimLines(f(t, words[1:], groups[3]))
	})
	require.Greater(t, n, 30)
}

// numericTree is "numeric TYPE SHAPE | VALUES".
func numericTree(t *testing.T, words []string, arg string) string {
	switch words[0] {
	case "i8":
		return numericTreeOf[int8](t, words[1], arg)
	case "i16":
		return numericTreeOf[int16](t, words[1], arg)
	case "i32":
		return numericTreeOf[int32](t, words[1], arg)
	case "i64":
		return numericTreeOf[int64](t, words[1], arg)
	case "u16":
		return numericTreeOf[uint16](t, words[1], arg)
	case "u32":
		return numericTreeOf[uint32](t, words[1], arg)
	case "u64":
		return numericTreeOf[uint64](t, words[1], arg)
	case "f32":
		return numericTreeOf[float32](t, words[1], arg)
	}
	require.Equal(t, "f64", words[0])
	return numericTreeOf[float64](t, words[1], arg)
}

// readOnly is the trees of examples whose encodings are not written.
var readOnly = map[string]string{
	"FOR(Plain)":        "0300e803000000000100000001000300",
	"ZigZag(Plain)":     "120001000000000001000104",
	"BytePlanes(Plain)": "0380040000000400000000000000000001000203000000000100010100000000",
}

func numericTreeOf[T numeric.Value](t *testing.T, shape, arg string) string {
	values, valid := numbers[T](t, arg)
	tree, err := hex.DecodeString(readOnly[shape])
	if len(tree) == 0 {
		tree, err = numeric.AppendTreeAs(nil, values, valid, shape)
	}
	require.NoError(t, err)
	node := numeric.Describe(tree, numeric.Of[T](), len(values))
	require.NoError(t, node.FirstErr())
	name, _, _ := strings.Cut(shape, "(")
	name, _, _ = strings.Cut(name, "[")
	require.Equal(t, name, node.Code.String())
	got := make([]T, len(values))
	require.NoError(t, numeric.Decode(got, tree, new(numeric.Scratch)))
	for i := range values {
		if valid.At(i) {
			require.Equal(t, image(values[i]), image(got[i]))
		}
	}
	return dumpTree(t, tree, &node)
}

// image returns the bytes of a number, so that NaNs can be compared.
func image[T numeric.Value](v T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

func dumpTree(t *testing.T, tree []byte, node *encoding.Tree) string {
	var out bytes.Buffer
	require.NoError(t, encoding.Dump(&out, tree, node))
	return out.String()
}

// numbers parses values separated by spaces. "null" is a null, and "V*N" repeats V N times.
func numbers[T numeric.Value](t *testing.T, arg string) (values []T, valid bitmap.Bits) {
	var present []bool
	for _, word := range strings.Fields(arg) {
		text, times, repeated := strings.Cut(word, "*")
		n := 1
		if repeated {
			var err error
			n, err = strconv.Atoi(times)
			require.NoError(t, err)
		}
		var v T
		if text != "null" {
			v = number[T](t, text)
		}
		for range n {
			values, present = append(values, v), append(present, text != "null")
		}
	}
	return values, bits(present)
}

func number[T numeric.Value](t *testing.T, text string) (v T) {
	if numeric.Of[T]().Float() {
		f, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return T(f)
	}
	i, err := strconv.ParseInt(text, 0, 64)
	require.NoError(t, err)
	require.Equal(t, i, int64(T(i)))
	return T(i)
}

func bits(present []bool) bitmap.Bits {
	b := bitmap.Bits{Data: make([]byte, (len(present)+7)/8), Len: len(present)}
	for i, p := range present {
		if p {
			bitmap.SetRange(b.Data, i, 1)
		}
	}
	return b
}

// texts parses Go strings separated by spaces. null is a null.
func texts(t *testing.T, arg string) (values [][]byte, valid bitmap.Bits) {
	var present []bool
	for arg = strings.TrimSpace(arg); arg != ""; arg = strings.TrimSpace(arg) {
		if rest, ok := strings.CutPrefix(arg, "null"); ok {
			values, present, arg = append(values, nil), append(present, false), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(arg)
		require.NoError(t, err, arg)
		text, err := strconv.Unquote(quoted)
		require.NoError(t, err)
		values, present, arg = append(values, []byte(text)), append(present, true), arg[len(quoted):]
	}
	return values, bits(present)
}

func column(fixed int, values [][]byte) bytestring.Values {
	v := bytestring.Values{Fixed: fixed, N: len(values)}
	if fixed == 0 {
		v.Offsets = []int64{0}
	}
	for _, b := range values {
		if fixed > 0 && b == nil {
			b = make([]byte, fixed)
		}
		v.Data = append(v.Data, b...)
		if fixed == 0 {
			v.Offsets = append(v.Offsets, int64(len(v.Data)))
		}
	}
	return v
}

// bytesTree is "bytes FIXED SHAPE | VALUES".
func bytesTree(t *testing.T, words []string, arg string) string {
	fixed, err := strconv.Atoi(words[0])
	require.NoError(t, err)
	values, valid := texts(t, arg)
	return bytesTreeOf(t, words[1], column(fixed, values), valid)
}

// decimalsTree is "decimals SHAPE | NUMBERS".
func decimalsTree(t *testing.T, words []string, arg string) string {
	var values [][]byte
	var present []bool
	for _, text := range strings.Fields(arg) {
		d := parseDecimal(t, text)
		values, present = append(values, d[:]), append(present, true)
	}
	return bytesTreeOf(t, words[0], column(16, values), bits(present))
}

func bytesTreeOf(t *testing.T, shape string, v bytestring.Values, valid bitmap.Bits) string {
	tree, err := bytestring.AppendTreeAs(nil, v, valid, shape)
	require.NoError(t, err)
	node := bytestring.Describe(tree, v.N, v.Fixed)
	require.NoError(t, node.FirstErr())
	blk, mark := encoding.BeginBlock(nil)
	blk = encoding.AppendPresence(blk, valid, valid.Nulls(), encoding.Options{})
	blk = append(encoding.EndPresence(blk, mark), tree...)
	parsed, err := bytestring.Parse(encoding.EndBlock(blk, mark, true), v.N, v.Fixed, bytestring.BlockOptions{Checksums: true}, new(bytestring.Scratch))
	require.NoError(t, err)
	got := make([]byte, parsed.DataLen(), parsed.DataLen()+64)
	var ends []int64
	if v.Fixed == 0 {
		ends = make([]int64, v.N)
	}
	require.NoError(t, bytestring.Decode(parsed, got, ends, int64(0)))
	require.Equal(t, string(v.Bytes()), string(got))
	return dumpTree(t, tree, &node)
}

// blockExample is "block TYPE SHAPE | VALUES".
func blockExample(t *testing.T, words []string, arg string) string {
	require.Equal(t, "i32", words[0])
	values, valid := numbers[int32](t, arg)
	blk, mark := encoding.BeginBlock(nil)
	blk = encoding.EndPresence(encoding.AppendPresence(blk, valid, valid.Nulls(), encoding.Options{}), mark)
	blk, err := numeric.AppendTreeAs(blk, values, valid, words[1])
	require.NoError(t, err)
	blk = encoding.EndBlock(blk, mark, true)
	got := make([]int32, len(values))
	nulls, err := numeric.DecodeBlock(got, nil, 0, blk, numeric.BlockOptions{Checksums: true}, new(numeric.Scratch))
	require.NoError(t, err)
	require.Equal(t, valid.Nulls(), nulls)

	f, err := encoding.ParseBlock(blk, true)
	require.NoError(t, err)
	d := dump{data: blk}
	d.field(4, "presence size %d", len(f.Presence))
	d.field(4, "values size %d", len(f.Values))
	if len(f.Presence) > 0 {
		d.field(len(f.Presence), "presence: %s", encoding.PresenceKind(f.Presence))
	}
	d.until(f.ValuesOffset, "zeros")
	node := numeric.Describe(f.Values, numeric.I32, len(values))
	d.field(len(f.Values), "values: %s", node.String())
	d.until(len(blk)-4, "zeros")
	d.field(4, "checksum %08x", binary.LittleEndian.Uint32(blk[len(blk)-4:]))
	return d.String()
}

// presenceExample is "presence | N NULL-POSITIONS", or "presence 2026 | …" with the features of that edition.
func presenceExample(t *testing.T, words []string, arg string) string {
	values, _ := numbers[int32](t, arg)
	present := make([]bool, values[0])
	for i := range present {
		present[i] = true
	}
	for _, at := range values[1:] {
		present[at] = false
	}
	valid := bits(present)
	var o encoding.Options
	if len(words) > 0 {
		o.Features = edition.E2026.Features()
	}
	b := encoding.AppendPresence(nil, valid, valid.Nulls(), o)
	nulls, err := encoding.DecodePresence(b, len(present), nil, 0)
	require.NoError(t, err)
	require.Equal(t, valid.Nulls(), nulls)
	d := dump{data: b}
	d.field(1, "kind: %s", encoding.PresenceKind(b))
	if len(b) > 1 && b[0] == 4 {
		d.field(1, "the first run is of values")
		d.field(1, "order of runs of values")
		d.field(1, "order of runs of nulls")
		d.until(len(b), "codes of the lengths less one")
	} else if len(b) > 1 && b[0] == 3 {
		d.field(1, "negated")
		d.field(4, "cookie %d", binary.LittleEndian.Uint32(b[2:]))
		d.field(4, "containers %d", binary.LittleEndian.Uint32(b[6:]))
		d.field(4, "container: key %d, %d positions", binary.LittleEndian.Uint16(b[10:]), 1+binary.LittleEndian.Uint16(b[12:]))
		d.field(4, "offset of the container from the cookie")
	}
	d.until(len(b), "positions")
	return d.String()
}

// blockmapExample is "blockmap | VALUES SIZE VALUES SIZE ...".
func blockmapExample(t *testing.T, _ []string, arg string) string {
	numbers, _ := numbers[int32](t, arg)
	var m encoding.BlockMapBuilder
	for i := 0; i < len(numbers); i += 2 {
		m.Add(int(numbers[i]), int(numbers[i+1]))
	}
	b := m.Append(nil)
	parsed, err := encoding.ParseBlockMap(b, (m.DataSize()+15)&^15)
	require.NoError(t, err)
	require.Equal(t, m.Len(), parsed.Len())
	n := m.Len()
	d := dump{data: b}
	d.title("segment 0")
	d.field(8, "position of the first value")
	d.field(8, "offset of the first block")
	d.field(4, "smallest number of values")
	d.field(4, "smallest block size")
	d.field(1, "bits of a number of values")
	d.field(1, "bits of a block size")
	d.field(2, "blocks")
	d.field(n, "numbers of values less the smallest")
	d.until((d.at+3)&^3, "zeros")
	d.field(n, "block sizes less the smallest")
	d.until((d.at+7)&^7, "zeros")
	d.title("segment list")
	d.field(16, "logical offsets")
	d.field(16, "record offsets")
	d.title("footer")
	for _, name := range []string{"values", "blocks", "segments", "blocks in a full segment", "bytes of all blocks"} {
		d.field(8, "%s %d", name, binary.LittleEndian.Uint64(b[d.at:]))
	}
	require.Equal(t, len(b), d.at)
	return d.String()
}

// fastlanesExample is "fastlanes | BITS WIDTH MODULUS": the first bytes of 0, 1, 2, ... modulo MODULUS.
func fastlanesExample(t *testing.T, _ []string, arg string) string {
	args, _ := numbers[int32](t, arg)
	bits, w, modulus := int(args[0]), int(args[1]), uint64(args[2])
	packed := packByDefinition(bits, w, modulus)
	tree := append(binary.LittleEndian.AppendUint64(nil, uint64(encoding.FLBitPack)|uint64(w)<<16), packed...)
	switch bits {
	case 8:
		requireCounts[uint8](t, tree, modulus)
	case 16:
		requireCounts[uint16](t, tree, modulus)
	case 32:
		requireCounts[uint32](t, tree, modulus)
	case 64:
		requireCounts[uint64](t, tree, modulus)
	}
	d := dump{data: packed}
	d.field(32, "u%d, W = %d, value i is i mod %d: %d bytes", bits, w, modulus, len(packed))
	return d.String()
}

// packByDefinition packs 0, 1, 2, ... modulo modulus bit by bit, as docs/format.md §7.3 says.
func packByDefinition(bits, w int, modulus uint64) []byte {
	const chunk = 1024
	packed := make([]byte, chunk/8*w)
	lanes := chunk / bits
	for row := range bits {
		for lane := range lanes {
			i := 16*[...]int{0, 4, 2, 6, 1, 5, 3, 7}[row/8] + 128*(row%8) + lane
			for bit := range w {
				at := row*w + bit // in the string of bits of the lane
				at = (at/bits*lanes+lane)*bits + at%bits
				packed[at/8] |= byte(uint64(i)%modulus>>bit&1) << (at % 8)
			}
		}
	}
	return packed
}

// requireCounts requires that a tree has the values 0, 1, 2, ... modulo modulus.
func requireCounts[T uint8 | uint16 | uint32 | uint64](t *testing.T, tree []byte, modulus uint64) {
	var values [1024]T
	require.NoError(t, numeric.Decode(values[:], tree, new(numeric.Scratch)))
	for i, v := range values {
		require.Equal(t, uint64(i)%modulus, uint64(v))
	}
}

// frameExample is "frame | PAYLOAD".
func frameExample(t *testing.T, _ []string, arg string) string {
	payload, _ := texts(t, arg)
	b := container.AppendFrame(nil, payload[0])
	got, err := container.ParseFrame(b)
	require.NoError(t, err)
	require.Equal(t, string(payload[0]), string(got))
	d := dump{data: b}
	d.field(4, "length %d", len(got))
	d.until(4+len(got), "payload")
	d.field(4, "checksum %08x", container.Checksum(got))
	return d.String()
}

// tailExample is "tail | DIRECTORY": the end of a root whose directory message is some text.
func tailExample(t *testing.T, _ []string, arg string) string {
	payload, _ := texts(t, arg)
	b := container.AppendTail(container.Mark[:], payload[0])
	start, end, err := container.DirectoryRange(b, int64(len(b)))
	require.NoError(t, err)
	d := dump{data: b}
	d.field(8, "header")
	require.EqualValues(t, d.at, start)
	d.field(4, "length of the directory")
	d.field(len(payload[0]), "directory")
	d.field(4, "checksum")
	require.EqualValues(t, d.at, end)
	d.field(4, "length of the directory, again")
	d.field(8, "footer")
	return d.String()
}

// dictionaryExample is "dictionary TYPE FIXED | VALUES".
func dictionaryExample(t *testing.T, words []string, arg string) string {
	b, args := dictionaryOf(t, words, arg)
	raw := b.Append(nil)
	parsed, err := dictionary.Parse(raw, byte(args[0]), uint32(args[1]), 0)
	require.NoError(t, err)
	require.Equal(t, b.Len(), parsed.Len())
	le := binary.LittleEndian
	d := dump{data: raw}
	d.title("header")
	d.field(1, "basic type %d", raw[0])
	d.field(4, "entries %d", le.Uint32(raw[1:]))
	d.field(1, "there is a null entry: %d", raw[5])
	d.field(4, "its id %d", le.Uint32(raw[6:]))
	d.field(4, "size of each value %d", le.Uint32(raw[10:]))
	names := []string{"values", "offsets", "sorted ids"}
	for i, name := range names {
		d.field(16, "%s section: %d to %d", name, le.Uint64(raw[14+16*i:]), le.Uint64(raw[22+16*i:]))
	}
	d.field(62, "zeros")
	d.field(4, "checksum of the header")
	for i, name := range names {
		start, end := int(le.Uint64(raw[14+16*i:])), int(le.Uint64(raw[22+16*i:]))
		if start == end {
			continue
		}
		require.Equal(t, start, d.at)
		d.title("%s section", name)
		n := int(le.Uint64(raw[start:]))
		d.field(8, "payload of %d bytes", n)
		d.field(n, "payload")
		d.field(end-4-d.at, "zeros: 64, and up to a multiple of 16")
		d.field(4, "checksum of the payload")
	}
	d.until(len(raw), "zeros up to a multiple of 64")
	return d.String()
}

// dictionaryOf adds values to a dictionary of "TYPE FIXED".
func dictionaryOf(t *testing.T, words []string, arg string) (b *dictionary.Builder, args []int32) {
	args, _ = numbers[int32](t, strings.Join(words, " "))
	values, valid := texts(t, arg)
	b = dictionary.NewBuilder(byte(args[0]), int(args[1]))
	for i, v := range values {
		if valid.At(i) {
			b.Add(v)
		} else {
			b.AddNull()
		}
	}
	return b, args
}

// packedDictionaryExample is "packed-dictionary TYPE FIXED | VALUES", without encodings.
func packedDictionaryExample(t *testing.T, words []string, arg string) string {
	b, args := dictionaryOf(t, words, arg)
	raw, err := b.AppendPacked(nil, encoding.Options{Profile: encoding.ProfilePlain})
	require.NoError(t, err)
	parsed, err := dictionary.Parse(raw, byte(args[0]), uint32(args[1]), 0)
	require.NoError(t, err)
	require.Equal(t, b.Len(), parsed.Len())
	le := binary.LittleEndian
	d := dump{data: raw}
	d.field(1, "basic type %d, and 128", raw[0]&0x7f)
	d.field(1, "there is a null entry: %d", raw[1])
	d.field(2, "zeros")
	d.field(4, "entries %d", le.Uint32(raw[4:]))
	d.field(4, "id of the null entry %d", le.Uint32(raw[8:]))
	d.field(4, "size of each value %d", le.Uint32(raw[12:]))
	d.field(4, "size of the values %d", le.Uint32(raw[16:]))
	d.field(4, "size of the sorted ids %d", le.Uint32(raw[20:]))
	d.field(int(le.Uint32(raw[16:])), "values")
	d.field(int(le.Uint32(raw[20:])), "sorted ids")
	d.field(4, "checksum")
	return d.String()
}

// rangeExample is "range TYPE | VALUES".
func rangeExample(t *testing.T, words []string, arg string) string {
	require.Equal(t, "i32", words[0])
	values, valid := numbers[int32](t, arg)
	x := numrange.NewBuilder[int32](byte(schema.Int32))
	x.Add(values, valid)
	b, _ := x.Append(nil, encoding.Options{})
	_, err := numrange.Parse[int32](b, byte(schema.Int32), uint64(len(values)), new(numeric.Scratch))
	require.NoError(t, err)
	le := binary.LittleEndian
	d := dump{data: b}
	d.field(2, "version")
	d.field(1, "basic type")
	d.field(1, "payloads have checksums")
	d.field(8, "positions %d", le.Uint64(b[4:]))
	var sizes []int
	for _, name := range []string{"least values", "greatest values", "invalid counts"} {
		sizes = append(sizes, int(le.Uint64(b[d.at:])))
		d.field(8, "bytes of the %s %d", name, le.Uint64(b[d.at:]))
	}
	d.field(2, "positions in a block %d", le.Uint16(b[36:]))
	d.field(2, "zero")
	for i, name := range []string{"least values", "greatest values", "invalid counts"} {
		d.until(d.at+sizes[i], name+": a block of u8")
	}
	d.until(len(b), "zeros")
	return d.String()
}

// sbbfExample is "sbbf | VALUES".
func sbbfExample(t *testing.T, _ []string, arg string) string {
	b := sbbf.NewBuilder(sbbf.Options{})
	var out strings.Builder
	words := strings.Fields(arg)
	for _, v := range words {
		h := sbbf.Hash([]byte(v))
		b.AddHash(h)
		fmt.Fprintf(&out, "hash of %-8q %016x\n", v, h)
	}
	data := b.Finish()
	f, ok := sbbf.Open(sbbf.Algorithm, sbbf.Seed, data)
	require.True(t, ok)
	for _, v := range words {
		require.True(t, f.MayContain([]byte(v)))
	}
	d := dump{data: data}
	d.field(len(data), "the filter, %d block", len(data)/32)
	return out.String() + d.String()
}

// hllExample is "hll | VALUES".
func hllExample(t *testing.T, _ []string, arg string) string {
	s := hll.New(hll.DefaultBits)
	var out strings.Builder
	for _, v := range strings.Fields(arg) {
		h := hll.Hash([]byte(v))
		s.AddHash(h)
		fmt.Fprintf(&out, "hash of %-8q %016x  counter %d\n", v, h, h>>57)
	}
	for i, c := range s.Counters() {
		if c > 0 {
			fmt.Fprintf(&out, "counter %d is %d\n", i, c)
		}
	}
	fmt.Fprintf(&out, "estimate %d\n", s.Estimate())
	return out.String()
}

// decimalExample is "decimal | NUMBERS".
func decimalExample(t *testing.T, _ []string, arg string) string {
	var out strings.Builder
	for _, text := range strings.Fields(arg) {
		d := parseDecimal(t, text)
		fmt.Fprintf(&out, "% x  %s\n", d[:], text)
	}
	return out.String()
}

func parseDecimal(t *testing.T, text string) decimal.Decimal {
	switch text {
	case "NaN":
		return decimal.Decimal{15: 0x7c}
	case "Infinity":
		return decimal.Decimal{15: 0x78}
	case "-Infinity":
		return decimal.Decimal{15: 0xf8}
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	v, ok := new(big.Int).SetString(whole+fraction, 10)
	require.True(t, ok, text)
	d, ok := decimal.FromCoefficient(negative, new(big.Int).Rsh(v, 64).Uint64(), v.Uint64(), -len(fraction))
	require.True(t, ok, text)
	return d
}

// lookupExample is "lookup | NAMES".
func lookupExample(t *testing.T, _ []string, arg string) string {
	var fields []schema.Field
	var out strings.Builder
	for i, name := range strings.Fields(arg) {
		fields = append(fields, schema.Field{Name: name, Type: schema.Int32})
		h := xxh3.HashString(name)
		fmt.Fprintf(&out, "%d  %-6s  %016x  bucket %d\n", i, name, h, h&3)
	}
	buf, err := schema.Build(fields)
	require.NoError(t, err)
	s, err := schema.Parse(buf)
	require.NoError(t, err)
	for i, f := range fields {
		n, ok, err := s.Find(f.Name)
		require.NoError(t, err)
		require.True(t, ok)
		require.EqualValues(t, i, n.ID())
	}
	buckets, entries := lookupOf(t, buf)
	fmt.Fprintf(&out, "buckets %v, entries %v\n", buckets, entries)
	return out.String()
}
