package numeric

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// enc is the working memory of an encoder, and what it decides by.
type enc struct {
	weights   weights
	features  edition.Set
	fast      bool // compress fast: this is a trial
	trial     []byte
	few       [maxDepth]hint  // of sequences too short to be worth remembering, by depth
	stats     [maxDepth]stats // by depth of the tree
	zstds     int             // how often something was compressed with Zstandard
	scratch   Scratch
	positions []uint32 // exceptions of the last ALP
	decode    int64    // what decoding costs of all that was written, in picoseconds
	lz4       lz4.Compressor
	lz4HC     lz4.CompressorHC
	zstd      [2]*zstd.Encoder
	table     hashTable
}

// input is a sequence of values that is to become a tree.
type input[U word] struct {
	values []U
	t      Type
	wrap   bool        // order values as signed whatever t is: differences
	valid  bitmap.Bits // which slots hold a value, if nulls > 0
	nulls  int
	level  int           // depth of the tree
	parent encoding.Code // what the tree is a part of, 0 at the top
	index  int           // which part of it
	hint   *hint         // what was found out about such trees; nil if nothing is chosen
	few    *[maxDepth]hint
}

// child is the input of a part of the tree of in, of the same width.
func (in input[U]) child(values []U, t Type, parent encoding.Code, index int) input[U] {
	return childOf[U, U](in, values, t, parent, index)
}

// childOf is the input of a part of the tree of in.
func childOf[U, X word](in input[U], values []X, t Type, parent encoding.Code, index int) input[X] {
	out := input[X]{values: values, t: t, level: in.level + 1, parent: parent, index: index, few: in.few}
	if in.hint != nil {
		out.hint = in.hint.kid(parent, index, len(values), &in.few[out.level])
	}
	return out
}

// flip is what turns the order of in into that of unsigned words.
func (in input[U]) flip() U {
	if in.t.Signed() || in.wrap {
		return 1 << (bitsOf[U]() - 1)
	}
	return 0
}

// bounds are the least and the largest value; there is at least one.
func (in input[U]) bounds() (low, high U) {
	flip := in.flip()
	low, high = span(in.values, flip)
	return low ^ flip, high ^ flip
}

// span is the least and largest of values, each with flip applied.
func span[U word](values []U, flip U) (low, high U) {
	if len(values) == 0 {
		return flip, flip
	}
	low = values[0] ^ flip
	high = low
	low2, high2 := low, high // two chains run at a time
	for ; len(values) >= 2; values = values[2:] {
		a, b := values[0]^flip, values[1]^flip
		low, high = min(low, a), max(high, a)
		low2, high2 = min(low2, b), max(high2, b)
	}
	if len(values) == 1 {
		a := values[0] ^ flip
		low, high = min(low, a), max(high, a)
	}
	return min(low, low2), max(high, high2)
}

// validWord is the mask of the 64 slots from i on: those that hold a value.
func (in input[U]) validWord(i int) uint64 {
	if in.nulls > 0 {
		return in.valid.Word(i)
	}
	return bitmap.All(len(in.values)).Word(i)
}

// appendCode begins a tree.
func appendCode(dst []byte, code encoding.Code) []byte {
	return binary.LittleEndian.AppendUint16(dst, uint16(code))
}

// appendHeader begins a tree with an empty header of own bytes.
func appendHeader(dst []byte, code encoding.Code, own int) []byte {
	var zeros [40]byte
	return append(appendCode(dst, code), zeros[:headerLen(own)-2]...)
}

// padTree adds zeros until the tree that begins at start is a multiple of 8 long.
func padTree(dst []byte, start int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:-(len(dst)-start)&7]...)
}

// appendPart writes a part that may be a tree (flag 1) or raw (flag 0).
func appendPart[U word](e *enc, dst []byte, in input[U], p *plan) ([]byte, byte) {
	if p != nil && p.code == 0 {
		e.cost(encoding.Plain, in.t, len(in.values))
		return store(dst, in.values), 0
	}
	at := len(dst)
	dst = appendTree(e, dst, in, p)
	if p == nil && peek(dst[at:]) == encoding.Plain { // the code would be waste
		return append(dst[:at], dst[at+2:]...), 0
	}
	return dst, 1
}

// appendTree writes a tree as p says, or as is best if p is nil.
func appendTree[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if p == nil {
		return appendBest(e, dst, in)
	}
	if p.code == 0 || len(in.values) == 0 {
		return appendAs(e, dst, in, &plan{code: encoding.Plain})
	}
	return appendAs(e, dst, in, p)
}

// appendAs is the one place that knows the writer of each code. Each writes
// another encoding if the values do not suit it.
func appendAs[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	e.cost(p.code, in.t, len(in.values))
	switch p.code {
	case encoding.FLBitPack:
		return appendBitPack(e, dst, in, p)
	case encoding.FOR:
		return appendFOR(e, dst, in, p)
	case encoding.FFOR:
		return appendFFOR(e, dst, in, p)
	case encoding.Delta:
		return appendDelta(e, dst, in, p)
	case encoding.RunLength:
		return appendRunLength(e, dst, in, p)
	case encoding.SingleValue:
		return appendSingleValue(e, dst, in)
	case encoding.TruncateU8, encoding.TruncateU16, encoding.TruncateU32, encoding.TruncateU64:
		return appendTruncate(e, dst, in, p)
	case encoding.ALP:
		return appendALP(e, dst, in, p)
	case encoding.ALPRD:
		return appendALPRD(e, dst, in)
	case encoding.BlockDictionary:
		return appendDictionary(e, dst, in, p)
	case encoding.Zstd:
		return appendZstd(e, dst, in, p)
	case encoding.LZ4:
		return appendLZ4(e, dst, in, p)
	case encoding.ZigZag:
		return appendZigZag(e, dst, in, p)
	case encoding.Sparse:
		return appendSparse(e, dst, in, p)
	case encoding.CommonDivisor:
		return appendCommonDivisor(e, dst, in, p)
	case encoding.Narrow:
		return appendNarrow(e, dst, in, p)
	case encoding.TightPack:
		return appendTight(e, dst, in, p)
	case encoding.PatchedPack:
		return appendPatched(e, dst, in, p)
	case encoding.BytePlanes:
		return appendBytePlanes(e, dst, in, p)
	case encoding.PrefixBins:
		return appendPrefixBins(e, dst, in, p)
	}
	return appendPlain(dst, in.values)
}

func (e *enc) zstdEncoder(level int) *zstd.Encoder {
	if e.zstd[level] == nil {
		speed := zstd.SpeedDefault
		if level > 0 {
			speed = zstd.SpeedBestCompression
		}
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(speed),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
		if err != nil {
			panic(err) // the options are constant
		}
		e.zstd[level] = z
	}
	return e.zstd[level]
}
