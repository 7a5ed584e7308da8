package numeric

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// weights are what a profile stands for.
type weights struct {
	tier     tier
	price    int64 // of a nanosecond of decoding, in thousandths of a byte
	level    int   // of the compressors
	features edition.Set
}

func weightsOf(p encoding.Profile) weights {
	switch p {
	case encoding.ProfilePlain:
		return weights{tier: tierPlain}
	case encoding.MinimalCompression:
		return weights{tier: tierLight, price: 3000}
	case encoding.HighCompression:
		return weights{tier: tierHeavy, price: 100}
	case encoding.MinimalSize:
		return weights{tier: tierHeavy, price: 10, level: 1}
	}
	return weights{tier: tierMiddle, price: 400}
}

// cost is that of bytes that take some picoseconds to decode.
func (w *weights) cost(size int, decode int64) int64 {
	return int64(size)*1000 + w.price*decode/1000
}

// hope is how much less the parts of an encoding may cost than estimated: it is
// tried if it would win by that.
func (w *weights) hope(size int) int64 {
	if w.tier >= tierHeavy {
		return int64(size) * 1000 * 3 / 4
	}
	return int64(size) * 1000 / 5
}

// cost notes that n values of a type are to be decoded from a tree.
func (e *enc) cost(code encoding.Code, t Type, n int) {
	if r := find(code); r != nil {
		e.decode += r.decodeCost(t, n)
	}
}

func (r *row) decodeCost(t Type, n int) int64 {
	return int64(n) * (r.perValue + r.perByte*int64(t.Size()))
}

// perRun is what a run or a position costs to decode, in picoseconds.
const perRun = 1300

// packedSize is the size of n values in w bits.
func packedSize(n, w int) int {
	return (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen * fastlanes.PackedLen(w)
}

// partSize guesses the size of a part of n values of w bits: packed, cut to whole
// bytes if its type can be, or raw.
func (w *weights) partSize(t Type, n, width int) int {
	size := min(16+packedSize(n, width), n*t.Size())
	if w.features.Has(edition.TightPack) {
		size = min(size, 16+tightSize(n, width))
	}
	if t.Signed() || w.features.Has(edition.Narrow) && t.Unsigned() {
		size = min(size, 8+n*wholeBytes(width))
	}
	return size
}

// wholeBytes is the size of the least integer type of some bits.
func wholeBytes(width int) int {
	bytes := 1
	for 8*bytes < width {
		bytes *= 2
	}
	return bytes
}

func estimatePlain(_ *weights, s *stats) int { return 2 + s.n*s.t.Size() }

func estimateSingle(_ *weights, s *stats) int {
	if !s.single {
		return 0
	}
	return 2 + s.t.Size()
}

func estimateBitPack(_ *weights, s *stats) int {
	if s.maxWidth == 0 {
		return 0
	}
	return 8 + packedSize(s.n, s.maxWidth)
}

func estimateFFOR(_ *weights, s *stats) int {
	if s.width == 0 {
		return 0
	}
	return headerLen(s.t.Size()+1) + packedSize(s.n, s.width)
}

func estimateRunLength(w *weights, s *stats) int {
	if 3*s.runs > 2*s.n {
		return 0
	}
	length := bits.Len(uint(s.n/s.runs)) + 1
	return 16 + w.partSize(s.t, s.runs, min(s.width, s.diff)) + w.partSize(U32, s.runs, length)
}

// estimateFOR is FOR over Sparse: most values are the same, but not zero.
func estimateFOR(w *weights, s *stats) int {
	if s.top == 0 || 4*s.others > s.n {
		return 0
	}
	return headerLen(s.t.Size()) + w.sparseSize(s, s.others)
}

func estimateSparse(w *weights, s *stats) int {
	switch {
	case 4*s.nulls >= 3*s.n:
		return w.sparseSize(s, s.n-s.nulls)
	case s.top == 0 && 4*s.others <= s.n:
		return w.sparseSize(s, s.others)
	}
	return 0
}

func (w *weights) sparseSize(s *stats, count int) int {
	gap := min(bits.Len(uint(s.n/max(count, 1)))+2, bits.Len(uint(s.n)))
	return 16 + w.partSize(U32, count, gap) + w.partSize(s.t, count, s.width)
}

func estimateDelta(w *weights, s *stats) int {
	if s.n < 8 || s.diff == 0 && s.single {
		return 0
	}
	size := headerLen(s.t.Size()) + w.partSize(s.t, s.n-1, s.diff)
	if s.diff == 0 { // a SingleValue
		size = headerLen(s.t.Size()) + 2 + s.t.Size()
	}
	if s.bends > 0 { // runs of differences
		runs := w.partSize(s.t, s.bends, s.diff) + w.partSize(U32, s.bends, bits.Len(uint(s.n/s.bends))+1)
		size = min(size, 32+runs)
	}
	if size >= w.directSize(s) && (w.tier < tierHeavy || s.diff > s.width) {
		return 0
	}
	return size
}

// directSize is what the values take packed, or cut to whole bytes.
func (w *weights) directSize(s *stats) int {
	size := estimateFFOR(w, s)
	if s.signed < 8*s.t.Size() {
		size = min(size, estimateTruncate(w, s, s.signed))
	}
	if w.features.Has(edition.Narrow) && s.maxWidth > 0 {
		size = min(size, 8+s.n*wholeBytes(s.maxWidth))
	}
	if w.features.Has(edition.TightPack) {
		size = min(size, headerLen(s.t.Size()+1)+tightSize(s.n, s.width))
	}
	return min(size, estimatePlain(w, s))
}

func estimateTruncate8(w *weights, s *stats) int  { return estimateTruncate(w, s, 8) }
func estimateTruncate16(w *weights, s *stats) int { return estimateTruncate(w, s, 16) }
func estimateTruncate32(w *weights, s *stats) int { return estimateTruncate(w, s, 32) }

func estimateTruncate(_ *weights, s *stats, width int) int {
	if s.signed != width || width >= 8*s.t.Size() {
		return 0
	}
	return 8 + s.n*width/8
}

func estimateALP(_ *weights, s *stats) int { return 32 + s.n*s.t.Size()/4 }

func estimateALPRD(_ *weights, s *stats) int {
	return 32 + packedSize(s.n, 8*s.t.Size()-16) + packedSize(s.n, 2)
}

func estimateDictionary(w *weights, s *stats) int {
	if 2*s.distinct > s.n {
		return 0
	}
	return 16 + 16 + packedSize(s.n, bits.Len(uint(s.distinct-1))) + w.partSize(s.t, s.distinct, s.width)
}

// Compressors need some bytes to find anything in.
const (
	minLZ4  = 1024
	minZstd = 512
)

func estimateLZ4(_ *weights, s *stats) int {
	if s.n*s.t.Size() < minLZ4 {
		return 0
	}
	return s.n * s.t.Size() / 4
}

func estimateZstd(_ *weights, s *stats) int {
	if s.n*s.t.Size() < minZstd {
		return 0
	}
	return s.n * s.t.Size() / 32
}

func estimateCommonDivisor(_ *weights, s *stats) int {
	if s.divisor <= 1 {
		return 0
	}
	return headerLen(2*s.t.Size()) + 8 + packedSize(s.n, bits.Len64(s.spread/s.divisor))
}

func estimateNarrow(_ *weights, s *stats) int {
	width := 8
	for width < s.maxWidth {
		width *= 2
	}
	if s.maxWidth == 0 || width >= 8*s.t.Size() {
		return 0
	}
	return 8 + s.n*width/8
}

func estimateTight(_ *weights, s *stats) int {
	if s.width == 0 || s.n%fastlanes.ChunkLen == 0 {
		return 0
	}
	return headerLen(s.t.Size()+1) + tightSize(s.n, s.width)
}

func estimatePatched(w *weights, s *stats) int {
	if s.patch.width == 0 {
		return 0
	}
	count := max(s.n*s.patch.exceptions/1024, 1)
	gap := min(bits.Len(uint(s.n/count))+2, bits.Len(uint(s.n)))
	return headerLen(patchedHeader) + packedSize(s.n, s.patch.width) + w.partSize(U32, count, gap) +
		w.partSize(s.t.signed(), count, s.width-s.patch.width)
}

func estimateBytePlanes(w *weights, s *stats) int {
	if s.n < minZstd {
		return 0
	}
	return headerLen(4*s.t.Size()) + s.n*s.t.Size()/8
}

func estimatePrefixBins(_ *weights, s *stats) int {
	if s.n < minZstd || s.width < 2 {
		return 0
	}
	return headerLen(binsHeader) + 256 + s.n*s.width/8
}
