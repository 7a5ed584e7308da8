package bytestring

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// RadixPack, code 0x800d: the characters of all values in a row, as numbers in mixed radix (package radixpack).
//
//	0  2  0d 80
//	2  1  number of alphabets A, at least 1
//	3  2  u16 positions of a period P, 1 to 256
//	5  2  u16 groups of a period G, 1 to P
//	7  1  1 if the lengths are a tree, 0 if they are raw
//	8  1  width of the lengths: 4, or 0 if values have a fixed size
//	9  3  zeros
//	12 4  u32 size of the lengths in bytes
//	16    A bytes: the size of each alphabet, less one; their characters, ascending
//	      P bytes: the alphabet of each position, unless A is 1
//	      G bytes: positions of each group, less one; zeros up to a multiple of 8
//	      lengths of the values: tree of n u32, or raw; nothing if the width is 0
//	      zeros up to a multiple of 8
//	      the numbers of all groups, from the lowest bit of each byte on, to the end
//
// Example, "cab" and "a", lengths raw: one group of four characters is ((2*3 + 0)*3 + 1)*3 + 0 = 57, in seven bits.
//
//	0d 80 | 01 | 04 00 | 01 00 | 00 | 04 | 3 zeros | 08 00 00 00
//	02 | 61 62 63 | 03 | 3 zeros | 03 00 00 00 01 00 00 00 | 39

const radixHeader = 14

func parseRadixPack(b *Block, tree []byte, _ int64) (uint64, error) {
	header, rest, err := split(tree, radixHeader)
	if err != nil {
		return 0, err
	}
	if err := b.checkWidth(header[6], 4); err != nil {
		return 0, err
	}
	l := &b.s.layout
	size, err := l.ParseLayout(rest, int(header[0]), int(binary.LittleEndian.Uint16(header[1:])), int(binary.LittleEndian.Uint16(header[3:])))
	if err != nil {
		return 0, err
	}
	_, rest, err = padded(rest, uint64(size), "layout")
	if err != nil {
		return 0, err
	}
	lengths, rest, err := padded(rest, uint64(binary.LittleEndian.Uint32(header[10:])), "lengths")
	if err != nil {
		return 0, err
	}
	b.payload = rest
	total, err := b.readLengths(lengths, header[5] != 0)
	if err != nil {
		return 0, err
	}
	if want := l.PackedLen(total); want != uint64(len(rest)) {
		return 0, fault.Corruptf("%d bytes for %d characters, which take %d", len(rest), total, want)
	}
	b.s.radix.Reset(l)
	return total, nil
}

// decodeRadixPack writes the values of slots from up to (not including) to.
func decodeRadixPack(b *Block, dst []byte, from, _ int) error {
	return b.s.radix.Decode(dst, b.payload, b.lengthBefore(from))
}

// passed is some slots from the first on, and the bytes of their values.
type passed struct{ slots, bytes int }

// lengthBefore is the bytes of the values before a slot. It is cheap for slots that ascend.
func (b *Block) lengthBefore(slot int) int {
	if b.fixed > 0 {
		return slot * b.fixed
	}
	if slot < b.passed.slots {
		b.passed = passed{}
	}
	b.passed.bytes += int(sumOf(b.lengths[b.passed.slots:slot]))
	b.passed.slots = slot
	return b.passed.bytes
}

func appendRadixPack(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool, error) {
	e, v := &w.Radix, in.Values
	data := v.Bytes()
	if size := e.Plan(data, oneLength(v)); size > len(data)-len(data)/16 && !r.Forced {
		return dst, false, nil
	}
	start := len(dst)
	var header [2 + radixHeader]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.RadixPack))
	header[2] = byte(len(e.Layout.Alphabets))
	binary.LittleEndian.PutUint16(header[3:], uint16(len(e.Layout.Positions)))
	binary.LittleEndian.PutUint16(header[5:], uint16(len(e.Layout.Groups)))
	dst = encode.Pad(e.Layout.Append(append(dst, header[:]...)), start)
	at := len(dst)
	dst, err := appendValueLengths(w, dst, v, start, r.Numbers)
	if err != nil {
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[start+12:], uint32(len(dst)-at))
	return e.Append(encode.Pad(dst, start), data), true, nil
}

// oneLength is the length of all values that are not empty, 0 if they differ.
func oneLength(v Values) (length int) {
	if v.Fixed > 0 {
		return v.Fixed
	}
	for i := range v.N {
		switch n := int(v.Offsets[i+1] - v.Offsets[i]); {
		case n == 0 || n == length:
		case length > 0:
			return 0
		default:
			length = n
		}
	}
	return length
}

var radixPack = row{
	Row: encode.Row{
		Code:      encoding.RadixPack,
		Needs:     edition.Only(edition.RadixPack),
		Trials:    encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
		Append:    appendRadixPack,
		Quick:     true,
		Cost:      encode.DecodeCost{PerByte: 150, PerValue: 2300},
		FixedCost: encode.DecodeCost{PerByte: 600},
	},
	parse:    parseRadixPack,
	values:   decodeRadixPack,
	rangeLen: func(b *Block, from, to int) int { return int(sumOf(b.lengths[from:to])) },
	begins:   (*Block).radixBegins,
	find:     radixFind,
	describe: describeRadixPack,
}

// radixBegins compares beginnings in the packed form, if all values have the same length.
func (b *Block) radixBegins(dst []byte, r Required) (ok bool) {
	each, ok := b.radixLength()
	if ok && (len(r.Prefix) > each || r.Equal && len(r.Prefix) != each) {
		clear(dst)
		return true
	}
	// The layout is that of the last block, which is this one.
	return ok && b.s.layout.Find(dst, b.payload, b.n, each, r.Prefix, false)
}

// radixFind is MayContain for the longest part.
func radixFind(b *Block, dst []byte, parts [][]byte) (ok bool) {
	part := slices.MaxFunc(parts, func(a, b []byte) int { return len(a) - len(b) })
	each, ok := b.radixLength()
	return ok && b.s.layout.Find(dst, b.payload, b.n, each, part, true)
}

// radixLength is the length of all values; ok is false if they differ.
func (b *Block) radixLength() (each int, ok bool) {
	if b.fixed > 0 || b.n == 0 {
		return b.fixed, true
	}
	for _, n := range b.lengths {
		if n != b.lengths[0] {
			return 0, false
		}
	}
	return int(b.lengths[0]), true
}

func describeRadixPack(d *describer) {
	alphabets, period, groups := d.Uint(1, "alphabets"), d.Uint(2, "positions"), d.Uint(2, "groups")
	nested := d.Flag("lengths are a tree")
	d.Uint(1, "length width")
	d.Bytes(3, "zeros")
	lengths := d.Uint(4, "lengths size")
	chars := alphabets
	for _, n := range d.Next(int(min(alphabets, d.Left()))) {
		chars += uint64(n)
	}
	d.Bytes(alphabets, "alphabet sizes")
	d.Bytes(chars, "alphabets")
	if alphabets > 1 {
		d.Bytes(period, "alphabets of positions")
	}
	d.Bytes(groups, "positions of groups")
	d.Pad()
	d.perValue("lengths", lengths, nested, numeric.U32, d.n)
	d.Pad()
	d.Rest("characters")
}
