package bytestring

import (
	"encoding/binary"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// GroupedFSST, code 0x8009: FSST whose codes begin anew with every G values, so
// that some values can be decoded without the others.
//
//	0  2  09 80
//	2  1  number of symbols S
//	3  4  u32 size of the stream in bytes
//	7  1  1 if the lengths are a tree, 0 if they are raw
//	8  1  width of the lengths: 4, or 0 if values have a fixed size
//	9  1  1 if the sizes of groups are a tree, 0 if they are raw
//	10 2  u16 values of a group G, at least 1
//	12 4  u32 size of the lengths in bytes
//	16    S times 8 bytes: the symbols; S times 1 byte: their lengths
//	      the stream; zeros up to a multiple of 8
//	      lengths of the values: tree of n u32, or raw; nothing if the width is 0
//	      zeros up to a multiple of 8
//	      sizes of the groups in the stream: tree of ceil(n/G) u32, or raw, to the end
//
// Codes are those of FSST. Example, "abcX" and "abc" with the symbol "abc", in one group:
//
//	09 80 | 01 | 04 00 00 00 | 00 | 04 | 00 | 40 00 | 08 00 00 00
//	61 62 63 00 00 00 00 00 | 03 | 00 ff 58 00 | 3 zeros | 04 00 00 00 03 00 00 00 | 04 00 00 00

const (
	groupedHeader = 14
	// groupLen is how many values our groups have: what is decoded for a single one
	// takes less than a microsecond, and the sizes take a quarter of a bit a value.
	groupLen = 64
)

// groups are runs of values that can be decoded by themselves.
type groups struct {
	of   int      // values that each has, the last one maybe fewer
	ends []uint32 // in the stream
}

func parseGroupedFSST(b *Block, tree []byte, _ int64) (uint64, error) {
	header, rest, err := b.splitFSST(tree, groupedHeader, 4)
	if err != nil {
		return 0, err
	}
	if b.groups.of = int(binary.LittleEndian.Uint16(header[8:])); b.groups.of == 0 {
		return 0, fault.Corruptf("groups of no values")
	}
	lengths, rest, err := padded(rest, uint64(binary.LittleEndian.Uint32(header[10:])), "lengths")
	if err != nil {
		return 0, err
	}
	if err := b.readGroups(rest, header[7] != 0); err != nil {
		return 0, err
	}
	return b.checkCodes(b.readLengths(lengths, header[5] != 0))
}

// readLengths reads the lengths of the values, and adds them up.
func (b *Block) readLengths(raw []byte, nested bool) (uint64, error) {
	if b.fixed > 0 {
		return uint64(b.n) * uint64(b.fixed), nil
	}
	b.lengths = scratch.Slice(&b.s.lengths, b.n)
	if err := readNumbers(b.lengths, raw, nested, &b.s.num); err != nil {
		return 0, fault.In(err, "lengths", -1)
	}
	return sumOf(b.lengths), nil
}

// sumOf adds up lengths, fewer than 2^32.
func sumOf(lengths []uint32) uint64 {
	var a, b, c, d uint64
	for ; len(lengths) >= 4; lengths = lengths[4:] {
		a, b, c, d = a+uint64(lengths[0]), b+uint64(lengths[1]), c+uint64(lengths[2]), d+uint64(lengths[3])
	}
	for _, n := range lengths {
		a += uint64(n)
	}
	return a + b + c + d
}

// putEnds sets offsets to where values of some lengths end, the first of which begins
// at base.
func putEnds[O int32 | int64](offsets []O, lengths []uint32, base O) {
	offsets = offsets[:len(lengths)]
	for i, n := range lengths {
		base += O(n)
		offsets[i] = base
	}
}

// readGroups reads the sizes of the groups, which make up the stream.
func (b *Block) readGroups(raw []byte, nested bool) error {
	n := (b.n + b.groups.of - 1) / b.groups.of
	ends := scratch.Slice(&b.s.groups, n)
	if err := readNumbers(ends, raw, nested, &b.s.num); err != nil {
		return fault.In(err, "sizes of groups", -1)
	}
	sum := uint64(0)
	for i, size := range ends {
		sum += uint64(size)
		ends[i] = uint32(sum)
	}
	if sum != uint64(len(b.payload)) {
		return fault.Corruptf("groups of %d codes in %d", sum, len(b.payload))
	}
	b.groups.ends = ends
	return nil
}

// decodeGroups decodes the slots from one up to (not including) another, where
// groups begin and end.
func decodeGroups(b *Block, dst []byte, from, to int) error {
	first, last := from/b.groups.of, (to-1)/b.groups.of
	start := uint32(0)
	if first > 0 {
		start = b.groups.ends[first-1]
	}
	return b.decodeCodes(dst, b.payload[start:b.groups.ends[last]])
}

// appendGroupedFSST writes values by a table.
func appendGroupedFSST(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool, error) {
	s, v := symbolsFor(w, in, r), in.Values
	if s == nil {
		return dst, false, nil
	}
	start := len(dst)
	var header [2 + groupedHeader]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.GroupedFSST))
	binary.LittleEndian.PutUint16(dst[start+10:], groupLen)
	dst[start+2] = byte(s.Len())
	dst = s.Append(dst)
	stream := len(dst)
	sizes := scratch.Slice(&w.Lengths, (v.N+groupLen-1)/groupLen)
	for i := range sizes {
		at := len(dst)
		dst = s.Encode(dst, v.Slice(i*groupLen, min((i+1)*groupLen, v.N)).Bytes())
		sizes[i] = uint32(len(dst) - at)
	}
	binary.LittleEndian.PutUint32(dst[start+3:], uint32(len(dst)-stream))
	dst = encode.Pad(dst, start)
	at := len(dst)
	dst, err := appendValueLengths(w, dst, v, start, r.Numbers)
	if err != nil {
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[start+12:], uint32(len(dst)-at))
	dst, nested, err := r.Numbers.AppendLengths(encode.Pad(dst, start), sizes)
	if nested {
		dst[start+9] = 1
	}
	return dst, err == nil, err
}

// appendValueLengths appends the lengths of values, unless these have a fixed size, and
// notes in the header how wide they are, and whether they are a tree.
func appendValueLengths(w *encode.Workspace, dst []byte, v Values, start int, nums *encode.Numbers) ([]byte, error) {
	if v.Fixed > 0 {
		return dst, nil
	}
	dst[start+8] = 4
	lengths := scratch.Slice(&w.ValueLengths, v.N)
	for i := range lengths {
		lengths[i] = uint32(v.Offsets[i+1] - v.Offsets[i])
	}
	dst, nested, err := nums.AppendValueLengths(dst, lengths)
	if nested {
		dst[start+7] = 1
	}
	return dst, err
}

var groupedFSST = row{
	Row: encode.Row{
		Code:      encoding.GroupedFSST,
		Needs:     needs(edition.GroupedFSST),
		Trials:    encode.Once(encoding.Balanced),
		Replaces:  encoding.FSST,
		Suits:     trainFSST,
		Append:    appendGroupedFSST,
		Cost:      encode.DecodeCost{PerStored: 600, PerValue: 1700},
		FixedCost: encode.DecodeCost{PerStored: 650},
		Trained:   true,
		Parts:     []string{"raw", "raw"},
	},
	parse:        parseGroupedFSST,
	unpack:       func(b *Block, dst []byte) error { return b.decodeCodes(dst, b.payload) },
	unpackGroups: decodeGroups,
	rangeLen:     func(b *Block, from, to int) int { return int(sumOf(b.lengths[from:to])) },
	describe:     describeGroupedFSST,
}

func describeGroupedFSST(d *describer) {
	symbols := d.uint(2, 1, "symbols")
	size := d.uint(3, 4, "codes size")
	nested := d.uint(7, 1, "lengths are a tree")
	d.uint(8, 1, "length width")
	nestedSizes := d.uint(9, 1, "sizes are a tree")
	group := d.uint(10, 2, "values of a group")
	lengths := d.uint(12, 4, "lengths size")
	d.node.Params = "S=" + strconv.FormatUint(symbols, 10)
	at := d.bytes(16, 8*symbols, "symbols")
	at = d.bytes(at, symbols, "symbol lengths")
	at = d.pad(d.bytes(at, size, "codes"))
	n := d.n
	if d.fixed > 0 {
		n = 0
	}
	at = d.pad(d.child("lengths", at, lengths, nested != 0 && n > 0, numeric.U32, n))
	if d.node.Err == nil && group > 0 {
		d.child("sizes of groups", at, uint64(len(d.tree)-at), nestedSizes != 0, numeric.U32, (d.n+int(group)-1)/int(group))
	}
}
