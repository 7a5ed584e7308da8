package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/radixpack"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
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

// radixTree is the memory of a RadixPack block.
type radixTree struct {
	layout  radixpack.Layout
	decoder radixpack.Decoder
	passed  struct{ slots, bytes int } // some slots from the first on, and the bytes of their values
}

// radixParts is the parts of a RadixPack block.
type radixParts struct {
	alphabets, period, groups int
	layout                    []byte
	lengths                   tree.Numbers
	packed                    []byte
}

func layoutOfRadixPack(r *tree.Reader) (p radixParts) {
	p.alphabets, p.period, p.groups = int(r.Uint(1, "alphabets")), int(r.Uint(2, "positions")), int(r.Uint(2, "groups"))
	nested := r.Flag("lengths are a tree")
	r.Width("length width", 4)
	r.Bytes(3, "zeros")
	size := r.Uint(4, "lengths size")
	p.layout = r.Next(int(r.Left()))
	chars := uint64(p.alphabets)
	for _, n := range r.Bytes(uint64(p.alphabets), "alphabet sizes") {
		chars += uint64(n)
	}
	r.Bytes(chars, "alphabets")
	if p.alphabets > 1 {
		r.Bytes(uint64(p.period), "alphabets of positions")
	}
	r.Bytes(uint64(p.groups), "positions of groups")
	r.PadBetween()
	p.lengths = r.Lengths(size, nested, r.N)
	r.PadBetween()
	p.packed = r.Rest("characters")
	return p
}

func parseRadixPack(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	p := layoutOfRadixPack(r)
	if r.Err != nil {
		return 0, r.Err
	}
	d := tree.State[radixTree](t)
	d.passed.slots, d.passed.bytes = 0, 0
	if _, err := d.layout.ParseLayout(p.layout, p.alphabets, p.period, p.groups); err != nil {
		return 0, err
	}
	t.Payload = p.packed
	total, err := t.ReadAllLengths(p.lengths)
	if err != nil {
		return 0, err
	}
	if want := d.layout.PackedLen(total); want != uint64(len(p.packed)) {
		return 0, fault.Corruptf("%d bytes for %d characters, which take %d", len(p.packed), total, want)
	}
	d.decoder.Reset(&d.layout)
	return total, nil
}

// decodeRadixPack writes the values of slots from up to (not including) to.
func decodeRadixPack(t *tree.Tree, dst []byte, from, _ int) error {
	d := tree.State[radixTree](t)
	return d.decoder.Decode(dst, t.Payload, d.lengthBefore(t, from))
}

// lengthBefore is the bytes of the values before a slot. It is cheap for slots that ascend.
func (d *radixTree) lengthBefore(t *tree.Tree, slot int) int {
	if t.Fixed > 0 {
		return slot * t.Fixed
	}
	p := &d.passed
	if slot < p.slots {
		p.slots, p.bytes = 0, 0
	}
	p.bytes += int(tree.SumOf(t.Lengths[p.slots:slot]))
	p.slots = slot
	return p.bytes
}

func appendRadixPack(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	e, v := &w.Radix, in.Values
	data := v.Bytes()
	if size := e.Plan(data, oneLength(v)); size > len(data)-len(data)/16 && !r.Forced {
		return dst, false
	}
	start := len(dst)
	var header [16]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.RadixPack))
	header[2] = byte(len(e.Layout.Alphabets))
	binary.LittleEndian.PutUint16(header[3:], uint16(len(e.Layout.Positions)))
	binary.LittleEndian.PutUint16(header[5:], uint16(len(e.Layout.Groups)))
	dst = encode.Pad(e.Layout.Append(append(dst, header[:]...)), start)
	at := len(dst)
	if v.Fixed == 0 {
		dst[start+8] = 4
		lengths := scratch.Slice(&w.Lengths, v.N)
		for i := range lengths {
			lengths[i] = uint32(v.Offsets[i+1] - v.Offsets[i])
		}
		var nested bool
		if dst, nested = encode.AppendPart(r.Numbers, dst, encode.ValueLengths, 0, lengths); nested {
			dst[start+7] = 1
		}
	}
	return e.Append(encode.EndPart(dst, start, at, 12), data), true
}

// oneLength is the length of all values that are not empty, 0 if they differ.
func oneLength(v vector.Values) (length int) {
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

var radixPack = encode.Row{
	Row: tree.Row{
		Code:     encoding.RadixPack,
		Layout:   func(r *tree.Reader) { layoutOfRadixPack(r) },
		Parse:    parseRadixPack,
		Values:   decodeRadixPack,
		RangeLen: func(t *tree.Tree, from, to int) int { return int(tree.SumOf(t.Lengths[from:to])) },
		Begins:   radixBegins,
		Find:     radixFind,
	},
	Needs:     edition.Only(edition.RadixPack),
	Trials:    encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
	Append:    appendRadixPack,
	Quick:     true,
	Cost:      encode.DecodeCost{PerByte: 150, PerValue: 2300},
	FixedCost: encode.DecodeCost{PerByte: 600},
}

// radixBegins compares beginnings in the packed form, if all values have the same length.
func radixBegins(t *tree.Tree, dst []byte, r tree.Required) (ok bool) {
	each, ok := radixLength(t)
	if ok && (len(r.Prefix) > each || r.Equal && len(r.Prefix) != each) {
		clear(dst)
		return true
	}
	return ok && tree.State[radixTree](t).layout.Find(dst, t.Payload, t.N, each, r.Prefix, false)
}

// radixFind looks for the longest part.
func radixFind(t *tree.Tree, dst []byte, parts [][]byte) (ok bool) {
	each, ok := radixLength(t)
	return ok && tree.State[radixTree](t).layout.Find(dst, t.Payload, t.N, each, longest(parts), true)
}

// radixLength is the length of all values; ok is false if they differ.
func radixLength(t *tree.Tree) (each int, ok bool) {
	if t.Fixed > 0 || t.N == 0 {
		return t.Fixed, true
	}
	for _, n := range t.Lengths {
		if n != t.Lengths[0] {
			return 0, false
		}
	}
	return int(t.Lengths[0]), true
}
