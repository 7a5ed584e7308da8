package numeric

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
)

// weights are what a profile stands for.
type weights struct {
	tier  tier
	price int64 // of a nanosecond of decoding, in thousandths of a byte
	level int   // of the compressors
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
	return weights{tier: tierMiddle, price: 500}
}

// cost is that of bytes that take some picoseconds to decode.
func (w *weights) cost(size int, decode int64) int64 {
	return int64(size)*1000 + w.price*decode/1000
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
const perRun = 1200

// packedSize is the size of n values in w bits.
func packedSize(n, w int) int {
	return (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen * fastlanes.PackedLen(w)
}

// partSize guesses the size of a part: packed or raw.
func partSize(n, w, size int) int { return min(16+packedSize(n, w), n*size) }

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

func estimateRunLength(_ *weights, s *stats) int {
	if 3*s.runs > 2*s.n {
		return 0
	}
	length := bits.Len(uint(s.n/s.runs)) + 1
	return 16 + partSize(s.runs, min(s.width, s.diff), s.t.Size()) + partSize(s.runs, length, 4)
}

// estimateFOR is FOR over Sparse: most values are the same, but not zero.
func estimateFOR(_ *weights, s *stats) int {
	if s.top == 0 || 4*s.others > s.n {
		return 0
	}
	return headerLen(s.t.Size()) + sparseSize(s, s.others)
}

func estimateSparse(_ *weights, s *stats) int {
	switch {
	case 4*s.nulls >= 3*s.n:
		return sparseSize(s, s.n-s.nulls)
	case s.top == 0 && 4*s.others <= s.n:
		return sparseSize(s, s.others)
	}
	return 0
}

func sparseSize(s *stats, count int) int {
	gap := min(bits.Len(uint(s.n/max(count, 1)))+2, bits.Len(uint(s.n)))
	return 16 + partSize(count, gap, 4) + partSize(count, s.width, s.t.Size())
}

func estimateDelta(w *weights, s *stats) int {
	if s.n < 8 || s.diff == 0 && s.single {
		return 0
	}
	size := 2*headerLen(s.t.Size()) + packedSize(s.n-1, s.diff)
	if s.bends > 0 { // runs of differences
		size = min(size, 48+partSize(s.bends, s.diff, s.t.Size())+partSize(s.bends, bits.Len(uint(s.n/s.bends))+1, 4))
	}
	if w.tier >= tierHeavy && s.diff <= s.width {
		return size / 2 // what a compressor may make of it
	}
	if size >= estimateFFOR(w, s) {
		return 0
	}
	return size
}

func estimateTruncate8(w *weights, s *stats) int  { return estimateTruncate(w, s, 8) }
func estimateTruncate16(w *weights, s *stats) int { return estimateTruncate(w, s, 16) }
func estimateTruncate32(w *weights, s *stats) int { return estimateTruncate(w, s, 32) }

func estimateTruncate(w *weights, s *stats, width int) int {
	if s.signed != width || width >= 8*s.t.Size() {
		return 0
	}
	size := 8 + s.n*width/8
	if w.tier >= tierHeavy && size >= minZstd {
		return size / 2
	}
	return size
}

func estimateALP(_ *weights, s *stats) int { return 32 + s.n*s.t.Size()/4 }

func estimateALPRD(_ *weights, s *stats) int {
	return 32 + packedSize(s.n, 8*s.t.Size()-16) + packedSize(s.n, 2)
}

func estimateDictionary(_ *weights, s *stats) int {
	if 2*s.distinct > s.n {
		return 0
	}
	return 16 + 16 + packedSize(s.n, bits.Len(uint(s.distinct-1))) + partSize(s.distinct, s.width, s.t.Size())
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
	return s.n * s.t.Size() / 8
}

func estimateCommonDivisor(w *weights, s *stats) int {
	if s.divisor <= 1 {
		return 0
	}
	narrow := *s
	narrow.width = bits.Len64(s.spread / s.divisor)
	return headerLen(2*s.t.Size()) + 16 + packedSize(s.n, narrow.width)
}

func estimateNarrow(w *weights, s *stats) int {
	width := 8
	for width < s.maxWidth {
		width *= 2
	}
	if s.maxWidth == 0 || width >= 8*s.t.Size() {
		return 0
	}
	size := 8 + s.n*width/8
	if w.tier >= tierHeavy && size >= minZstd {
		return size / 2
	}
	return size
}

func estimatePatched(w *weights, s *stats) int {
	if s.patchWidth == 0 {
		return 0
	}
	count := max(s.n*s.patched/1024, 1)
	gap := min(bits.Len(uint(s.n/count))+2, bits.Len(uint(s.n)))
	return headerLen(patchedHeader) + packedSize(s.n, s.patchWidth) + partSize(count, gap, 4) + partSize(count, s.width-s.patchWidth, s.t.Size())
}

func estimateBytePlanes(w *weights, s *stats) int {
	if s.n < minZstd {
		return 0
	}
	return headerLen(4*s.t.Size()) + s.n*s.t.Size()/8
}
