package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
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
	// restartEvery is after how many values ours restart: what is decoded for a single one takes about a microsecond.
	restartEvery = 64
	// leastShared is the share of the bytes, one in so many, that prefixes have at least.
	leastShared = 5
)

// frontTree is the parts of a FrontCoding block, and the memory for them.
type frontTree struct {
	restart  int
	rests    *tree.Block
	prefixes []uint32 // their lengths

	text, before  []byte // rests, and values before those that are wanted
	ends, skipped []int32
}

func layoutOfFrontCoding(r *tree.Reader) (restart int, prefixes, rests []byte) {
	r.NoFixed()
	restart = int(r.Uint(2, "values between restarts"))
	prefixes = r.Numbers("lengths of prefixes", r.Uint(4, "prefix lengths size"), numeric.U32, r.N)
	rests = r.Texts("rests", r.Left(), r.N)
	if restart == 0 {
		r.Fail(fault.Corruptf("restarts after no values"))
	}
	return restart, prefixes, rests
}

func parseFrontCoding(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	restart, prefixes, rests := layoutOfFrontCoding(r)
	if r.Err != nil {
		return 0, r.Err
	}
	f := tree.State[frontTree](t)
	f.restart = restart
	if err := tree.DecodeNumbers(t, "lengths of prefixes", scratch.Slice(&f.prefixes, t.N), prefixes); err != nil {
		return 0, err
	}
	for i := 0; i < t.N; i += restart {
		if n := f.prefixes[i]; n != 0 {
			return 0, fault.Corruptf("value %d is at a restart and has a prefix of %d bytes", i, n)
		}
	}
	var err error
	if f.rests, err = t.Nested(rests, t.N); err != nil {
		return 0, fault.In(err, "rests", -1)
	}
	return tree.SumOf(f.prefixes) + uint64(f.rests.DataLen()), nil
}

func (f *frontTree) rangeLen(from, to int) int {
	return int(tree.SumOf(f.prefixes[from:to])) + f.rests.RangeLen(from, to)
}

// putFront writes values from the restart before them on.
func putFront[O int32 | int64](t *tree.Tree, from, to int, dst []byte, offsets []O, base O) error {
	f := tree.State[frontTree](t)
	start := from / f.restart * f.restart
	size := f.rests.RangeLen(start, to)
	rests := scratch.Slice(&f.text, size+frontcode.Slack)[:size]
	ends := scratch.Slice(&f.ends, to-start)
	if err := tree.DecodeRange(f.rests, start, to, rests, ends, 0); err != nil {
		return fault.In(err, "rests", -1)
	}
	var before []byte
	if start < from {
		mid := int(ends[from-start-1])
		n := f.rangeLen(start, from)
		values := scratch.Slice(&f.before, n+frontcode.Slack)[:n]
		var err error
		if before, err = frontcode.Expand(values, scratch.Slice(&f.skipped, from-start), 0, f.prefixes[start:from], rests[:mid:mid], ends[:from-start], nil, 0, f.restart); err != nil {
			return err
		}
		rests, ends = rests[mid:], ends[from-start:]
		for i := range ends {
			ends[i] -= int32(mid)
		}
	}
	_, err := frontcode.Expand(dst, offsets, base, f.prefixes[from:to], rests, ends, before, (f.restart-from+start)%f.restart, f.restart)
	return err
}

func appendFrontCoding(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	v := in.Values
	if v.Fixed > 0 {
		return dst, false
	}
	prefixes := scratch.Slice(&w.Codes, v.N)
	if sum := frontcode.Prefixes(prefixes, v.Data, v.Offsets, restartEvery); leastShared*sum < len(v.Bytes()) && !r.Forced {
		return dst, false
	}
	start := len(dst)
	var header [8]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.FrontCoding))
	binary.LittleEndian.PutUint16(header[2:], restartEvery)
	dst = append(dst, header[:]...)
	rests := w.Rests(v, prefixes)
	dst = encode.AppendNumbers(r.Numbers, dst, encode.Codes, 0, prefixes)
	return r.Texts.Append(encode.EndPart(dst, start, start+8, 4), 1, 0, rests), true
}

var frontCoding = encode.Row{
	Row: tree.Row{
		Code:     encoding.FrontCoding,
		Layout:   func(r *tree.Reader) { layoutOfFrontCoding(r) },
		Parse:    parseFrontCoding,
		Put32:    putFront[int32],
		Put64:    putFront[int64],
		RangeLen: func(t *tree.Tree, from, to int) int { return tree.State[frontTree](t).rangeLen(from, to) },
		LengthAt: func(t *tree.Tree, slot int) (length, others int) {
			f := tree.State[frontTree](t)
			if length, _ = f.rests.LengthAt(slot); length >= 0 {
				length += int(f.prefixes[slot])
			}
			return length, slot % f.restart // those from the restart on
		},
	},
	Needs:    edition.Only(edition.FrontCoding),
	Trials:   encode.Once(encoding.Balanced, encoding.HighCompression, encoding.MinimalSize),
	Suits:    func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool { return in.Fixed == 0 },
	Costly:   true,
	Whole:    true,
	Improves: true,
	Long:     true,
	Short:    true,
	Append:   appendFrontCoding,
	Cost:     encode.DecodeCost{PerByte: 50, PerStored: 300, PerValue: 9000},
	Nests:    true,
	Parts:    []string{"Plain", "Plain"},
}
