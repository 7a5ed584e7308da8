package bytestring

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/frontcode"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// FrontCoding, code 0x800e: how many bytes each value shares with the one before, and the rest (package frontcode). Values of
// a fixed size are not written like that.
//
//	0  2  0e 80
//	2  2  u16 values from restart to restart R, at least 1
//	4  4  u32 size of the prefix lengths in bytes
//	8     lengths of the prefixes: tree of n u32; zeros up to a multiple of 8
//	      rests of the values: tree of n byte strings, to the end
//
// Example, "abc", "abd", "x", trees as Plain:
//
//	0e 80 | 40 00 | 0e 00 00 00
//	01 00 | 00 00 00 00 02 00 00 00 00 00 00 00 | 2 zeros
//	01 00 | 08 | 00.. 03.. 04.. 05.. (u64 each) | 61 62 63 64 78

const (
	frontHeader = 6
	// restartEvery is after how many values ours restart: what is decoded for a single one takes about a microsecond.
	restartEvery = 64
	// leastShared is the share of the bytes, one in so many, that prefixes have at least.
	leastShared = 5
)

// front is the parts of a FrontCoding block.
type front struct {
	restart int
	rests   *Block
}

func parseFrontCoding(b *Block, tree []byte, _ int64) (uint64, error) {
	header, rest, err := split(tree, frontHeader)
	if err != nil {
		return 0, err
	}
	if b.fixed > 0 {
		return 0, fault.Corruptf("front coding of byte strings of %d bytes each", b.fixed)
	}
	if b.front.restart = int(binary.LittleEndian.Uint16(header)); b.front.restart == 0 {
		return 0, fault.Corruptf("restarts after no values")
	}
	prefixes, rest, err := padded(rest, uint64(binary.LittleEndian.Uint32(header[2:])), "lengths of prefixes")
	if err != nil {
		return 0, err
	}
	b.prefixes = scratch.Slice(&b.s.lengths, b.n)
	if err := numeric.Decode(b.prefixes, prefixes, &b.s.num); err != nil {
		return 0, fault.In(err, "lengths of prefixes", -1)
	}
	for i := 0; i < b.n; i += b.front.restart {
		if n := b.prefixes[i]; n != 0 {
			return 0, fault.Corruptf("value %d is at a restart and has a prefix of %d bytes", i, n)
		}
	}
	if b.front.rests, err = b.nested(rest, b.n); err != nil {
		return 0, fault.In(err, "rests", -1)
	}
	return sumOf(b.prefixes) + uint64(b.front.rests.dataLen), nil
}

func (b *Block) frontLen(from, to int) int {
	return int(sumOf(b.prefixes[from:to])) + b.front.rests.RangeLen(from, to)
}

// putFront writes values from the restart before them on.
func putFront[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	start := from / b.front.restart * b.front.restart
	size := b.front.rests.RangeLen(start, to)
	rests := scratch.Slice(&b.s.data, size+frontcode.Slack)[:size]
	ends := scratch.Slice(&b.s.ends, to-start)
	if err := DecodeRange(b.front.rests, start, to, rests, ends, 0); err != nil {
		return fault.In(err, "rests", -1)
	}
	var before []byte
	if start < from {
		mid := int(ends[from-start-1])
		n := b.frontLen(start, from)
		values := scratch.Slice(&b.s.part, n+frontcode.Slack)[:n]
		var err error
		if before, err = frontcode.Expand(values, scratch.Slice(&b.s.skipped, from-start), 0, b.prefixes[start:from], rests[:mid:mid], ends[:from-start], nil, 0, b.front.restart); err != nil {
			return err
		}
		rests, ends = rests[mid:], ends[from-start:]
		for i := range ends {
			ends[i] -= int32(mid)
		}
	}
	_, err := frontcode.Expand(dst, offsets, base, b.prefixes[from:to], rests, ends, before, (b.front.restart-from+start)%b.front.restart, b.front.restart)
	return err
}

func appendFrontCoding(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool, error) {
	v := in.Values
	if v.Fixed > 0 {
		return dst, false, nil
	}
	prefixes := scratch.Slice(&w.Codes, v.N)
	if sum := frontcode.Prefixes(prefixes, v.Data, v.Offsets, restartEvery); leastShared*sum < len(v.Bytes()) && !r.Forced {
		return dst, false, nil
	}
	start := len(dst)
	var header [2 + frontHeader]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.FrontCoding))
	binary.LittleEndian.PutUint16(header[2:], restartEvery)
	dst = append(dst, header[:]...)
	rests := w.Rests(v, prefixes)
	dst, err := r.Numbers.AppendCodes(dst, prefixes)
	if err != nil {
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[start+4:], uint32(len(dst)-start-8))
	dst, err = r.Texts.Append(encode.Pad(dst, start), 1, 0, rests)
	return dst, err == nil, err
}

var frontCoding = row{
	Row: encode.Row{
		Code:     encoding.FrontCoding,
		Needs:    edition.Only(edition.FrontCoding),
		Trials:   encode.Once(encoding.Balanced, encoding.HighCompression, encoding.MinimalSize),
		Suits:    func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool { return in.Fixed == 0 },
		Costly:   true,
		Whole:    true,
		Improves: true,
		Long:     true,
		Append:   appendFrontCoding,
		Cost:     encode.DecodeCost{PerByte: 50, PerStored: 300, PerValue: 9000},
		Nests:    true,
		Parts:    []string{"Plain", "Plain"},
	},
	parse:    parseFrontCoding,
	put32:    putFront[int32],
	put64:    putFront[int64],
	rangeLen: (*Block).frontLen,
	describe: describeFrontCoding,
}

func describeFrontCoding(d *describer) {
	d.Uint(2, "values between restarts")
	d.numbers("lengths of prefixes", d.Uint(4, "prefix lengths size"), numeric.U32, d.n)
	d.texts("rests", d.Left(), d.n)
}
