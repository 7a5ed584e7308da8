package numeric

import (
	"unsafe"

	"github.com/amudai/amudai-go/encoding/decompress"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// maxDepth bounds the nesting of trees; the reference's go 5 deep.
const maxDepth = 16

// maxNodes bounds the number of trees in a tree, because each may stand for as
// many values as the block has, however few bytes it takes.
const maxNodes = 256

// word is what trees are decoded as: everything but widening, scaling and
// checking works the same for signed, unsigned and float values of one width.
type word = fastlanes.Word

// Scratch is the working memory of a decoder, kept between blocks so that
// decoding does not allocate. The zero value is ready. It grows to what the
// largest block needed: at most a few times the decoded size of that block.
type Scratch struct {
	buf   []uint64
	used  int // words of buf in use
	peak  int // most words that were in use at a time
	depth int
	nodes int
	zstd  decompress.Zstd
}

// begin makes all memory free, and as large as it has been wanted.
func (s *Scratch) begin() {
	if s.peak > len(s.buf) {
		s.buf = make([]uint64, s.peak)
	}
	s.used, s.depth, s.nodes = 0, 0, 0
}

// take gives memory for n values, with any content, until release is called
// with the mark from before. The caller has bounded n. T has no pointers.
func take[T any](s *Scratch, n int) []T {
	var v T
	words := (n*int(unsafe.Sizeof(v)) + 7) / 8
	at := s.used
	s.used += words
	s.peak = max(s.peak, s.used)
	var mem []uint64
	if s.used <= len(s.buf) {
		mem = s.buf[at:s.used:s.used]
	} else {
		mem = make([]uint64, words)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}

func (s *Scratch) mark() int { return s.used }

func (s *Scratch) release(mark int) { s.used = mark }

// enter counts a tree, and leave is its end.
func (s *Scratch) enter() error {
	if s.depth++; s.depth > maxDepth {
		return fault.Limitf("encoding trees nested more than %d deep", maxDepth)
	}
	if s.nodes++; s.nodes > maxNodes {
		return fault.Limitf("encoding tree of more than %d nodes", maxNodes)
	}
	return nil
}

func (s *Scratch) leave() { s.depth-- }
