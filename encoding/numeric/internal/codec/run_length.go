package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
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
func layoutOfRunLength(r *trees.Reader) (values, lengths trees.Part) {
	size, count := r.Uint(4, "size of run values"), r.Count("runs")
	valuesNested, lengthsNested := r.Flag("run values are a tree:"), r.Flag("run lengths are a tree:")
	r.Pad()
	values = r.Part("run values", size, valuesNested, r.T, count)
	r.Pad()
	return values, r.Last("run lengths", lengthsNested, word.U32, count)
}

func viewRunLength[U word.Uint](v *trees.View[U], _ []U, r *trees.Reader, _ []uint32, s *trees.Scratch) error {
	values, lengths := layoutOfRunLength(r)
	if r.Err != nil {
		return r.Err
	}
	v.Form, v.Values, v.Lengths = trees.Runs, word.Take[U](&s.Mem, values.N), word.Take[uint32](&s.Mem, lengths.N)
	if err := trees.DecodePart(v.Values, &values, s); err != nil {
		return err
	}
	return trees.DecodePart(v.Lengths, &lengths, s)
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
	dst, flags[0] = encode.AppendPart(e, dst, in.Some(e, values[:count], encoding.RunLength, 0), p.Kids[0])
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
	return encode.Codec[U]{Decoder: trees.Decoder[U]{View: viewRunLength[U]}, Append: appendRunLength[U]}
}

var runLength = encode.Row{
	Row:      trees.Row{Code: encoding.RunLength, Types: word.All, Layout: func(r *trees.Reader) { layoutOfRunLength(r) }},
	Codecs:   encode.Codecs{W8: runLengthCodec[uint8](), W16: runLengthCodec[uint16](), W32: runLengthCodec[uint32](), W64: runLengthCodec[uint64]()},
	Parts:    []encode.Part{{Role: encode.AsRun, Type: encode.SameType}, {Role: encode.AsRun, Type: encode.Always(word.U32)}},
	Tier:     encode.TierLight,
	Levels:   2,
	Roles:    encode.OnlyRoles(encode.AsValues, encode.AsCodes),
	PerValue: 40,
	PerByte:  5,
	More:     func(s *encode.Stats) int64 { return encode.PerRun * int64(s.Runs) },
	Estimate: estimateRunLength,
	Nests:    true,
}

func estimateRunLength(w *encode.Weights, s *encode.Stats, _ encode.Found) int {
	if !w.MayRepeat(s.Runs, s.N) {
		return 0
	}
	length := bits.Len(uint(s.N/s.Runs)) + 1
	return 16 + w.PartSize(s.T, s.Runs, min(s.Width, s.Diff)) + w.PartSize(word.U32, s.Runs, length)
}
