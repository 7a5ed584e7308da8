package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// RunLength, code 6, all types:
//
//	0  2  06 00
//	2  4  u32 size of the run values in bytes
//	6  4  u32 number of runs R
//	10 1  the run values are a tree (not 0) or raw (0)
//	11 1  the run lengths are a tree, or raw
//	12 4  zeros
//	16    run values: tree of R T, or R little-endian T
//	      zeros up to a multiple of 8
//	      run lengths: tree of R u32, or R u32; to the end
//
// Example, int32 5, 5, 5, 9, 9, all raw:
//
//	06 00 | 08 00 00 00 | 02 00 00 00 | 00 | 00 | 00 00 00 00 | 05 00 00 00 09 00 00 00 | 03 00 00 00 02 00 00 00
func decodeRunLength[U word.Uint](dst []U, tree []byte, t word.Type, s *trees.Scratch) error {
	values, lengths, err := readRuns[U](tree, t, len(dst), s)
	if err != nil {
		return err
	}
	return trees.ExpandRuns(dst, values, lengths)
}

// readRuns reads the runs of a tree of n values.
func readRuns[U word.Uint](tree []byte, t word.Type, n int, s *trees.Scratch) (values []U, lengths []uint32, err error) {
	r, err := parsePair(tree, n, 4, 0)
	if err != nil {
		return nil, nil, err
	}
	values, lengths = word.Take[U](&s.Mem, r.count), word.Take[uint32](&s.Mem, r.count)
	if err := trees.DecodePart(values, r.first, r.firstNested, t, s); err != nil {
		return nil, nil, err
	}
	return values, lengths, trees.DecodePart(lengths, r.second, r.secondNested, word.U32, s)
}

// pair is two parts with the same number of values.
type pair struct {
	count                     int
	first, second             []byte
	firstNested, secondNested bool
}

// parsePair parses a tree of n values with the layout of RunLength: header bytes from countAt on are the count, from sizeAt
// on the size of the first part, and from 8 on the flags.
func parsePair(tree []byte, n, countAt, sizeAt int) (p pair, err error) {
	header, payload, err := trees.Split(tree, 10)
	if err != nil {
		return p, err
	}
	count := binary.LittleEndian.Uint32(header[countAt:])
	if uint64(count) > uint64(n) {
		return p, fault.Corruptf("parts of %d for %d values", count, n)
	}
	p.count = int(count)
	p.firstNested, p.secondNested = header[8] != 0, header[9] != 0
	p.first, p.second, err = trees.CutPadded(payload, binary.LittleEndian.Uint32(header[sizeAt:]))
	return p, err
}

func viewRuns[U word.Uint](tree []byte, t word.Type, n int, _ []uint32, s *trees.Scratch) (v trees.View[U], err error) {
	v.Form = trees.Runs
	v.Values, v.Lengths, err = readRuns[U](tree, t, n, s)
	return v, err
}

func appendRunLength[U word.Uint](e *encode.Workspace, dst []byte, in encode.Input[U], p encode.Plan) []byte {
	if len(in.Values) == 0 {
		return encode.AppendPlain(dst, in.Values)
	}
	mark := e.Mem.Mark()
	values := word.Take[U](&e.Mem, len(in.Values))
	lengths := word.Take[uint32](&e.Mem, len(in.Values))
	count := findRuns(values, lengths, in.Values)

	start := len(dst)
	dst = trees.AppendHeader(dst, encoding.RunLength, 10)
	var flags [2]byte
	dst, flags[0] = encode.AppendPart(e, dst, in.Child(e, values[:count], encoding.RunLength, 0), p.Kids[0])
	size := len(dst) - start - 16
	dst = trees.Pad(dst, start)
	dst, flags[1] = encode.AppendPart(e, dst, encode.ChildOf[U, uint32](e, in, lengths[:count], encoding.RunLength, 1), p.Kids[1])
	header := dst[start+2:]
	binary.LittleEndian.PutUint32(header, uint32(size))
	binary.LittleEndian.PutUint32(header[4:], uint32(count))
	header[8], header[9] = flags[0], flags[1]
	e.Mem.Release(mark)
	return dst
}

// findRuns sets runs and lengths, which are as long as values, to the runs of
// values, and returns how many there are. It writes the end of the current run
// at every step and moves on where it was one: no branch depends on the data.
func findRuns[U word.Uint](runs []U, lengths []uint32, values []U) int {
	n := len(values)
	runs, lengths = runs[:n], lengths[:n]
	k := 0
	last := values[0]
	for i, v := range values {
		step := 0
		if v != last {
			step = 1
		}
		runs[k], lengths[k] = last, uint32(i)
		k += step
		last = v
	}
	runs[k], lengths[k] = last, uint32(n)
	k++
	for i := k - 1; i > 0; i-- {
		lengths[i] -= lengths[i-1]
	}
	return k
}

func runLengthCodec[U word.Uint]() encode.Codec[U] {
	return encode.Codec[U]{Decoder: trees.Decoder[U]{Decode: decodeRunLength[U], View: viewRuns[U]}, Append: appendRunLength[U]}
}

var runLength = encode.Row{
	Row:      trees.Row{Code: encoding.RunLength, Types: word.All, Describe: describeRunLength},
	Codecs:   encode.Codecs{W8: runLengthCodec[uint8](), W16: runLengthCodec[uint16](), W32: runLengthCodec[uint32](), W64: runLengthCodec[uint64]()},
	Parts:    []encode.Part{{Role: encode.AsRun, Type: encode.SameType}, {Role: encode.AsRun, Type: encode.Always(word.U32)}},
	Tier:     encode.TierLight,
	Levels:   2,
	Roles:    encode.OnlyRoles(encode.AsValues, encode.AsCodes, encode.AsPlane),
	PerValue: 40,
	PerByte:  5,
	More:     func(s *encode.Stats) int64 { return encode.PerRun * int64(s.Runs) },
	Estimate: estimateRunLength,
	Nests:    true,
}

func estimateRunLength(w *encode.Weights, s *encode.Stats, _ encode.Found) int {
	if 3*s.Runs > 2*s.N {
		return 0
	}
	length := bits.Len(uint(s.N/s.Runs)) + 1
	return 16 + w.PartSize(s.T, s.Runs, min(s.Width, s.Diff)) + w.PartSize(word.U32, s.Runs, length)
}

func describeRunLength(d *trees.Describer) {
	size, count := d.Uint(4, "size of run values"), d.Count("runs")
	valuesNested, lengthsNested := d.Flag("run values are a tree:"), d.Flag("run lengths are a tree:")
	d.Pad()
	d.Part("run values", size, valuesNested, d.T, count)
	d.Pad()
	d.Last("run lengths", lengthsNested, word.U32, count)
}
