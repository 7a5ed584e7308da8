package write

import (
	"slices"
	"sync"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// chunkScratch is memory that a node writer needs only while it handles a chunk. Kept
// in each of many columns it would add up.
type chunkScratch struct {
	offsets []int64
	words   []uint64
	data    []byte
	ids     []uint32
}

var chunkScratches = sync.Pool{New: func() any { return new(chunkScratch) }}

func getScratch() *chunkScratch { return chunkScratches.Get().(*chunkScratch) }

func (s *chunkScratch) put() { chunkScratches.Put(s) }

// stages holds empty staging memory of mostStaged words, for columns that have
// nothing staged at the moment.
var stages sync.Pool

// getStage is empty staging memory for at least n values: of that size for small n,
// else as much as a column usually stages.
func getStage[T numeric.Value](n int) []T {
	if n < mostStaged/2 {
		return make([]T, 0, n)
	}
	p, ok := stages.Get().(*[]uint64)
	if !ok {
		words := make([]uint64, mostStaged)
		p = &words
	}
	return arrowutil.As[T](arrowutil.Bytes(*p))[:0]
}

// putStage gives back the result of getStage.
func putStage[T numeric.Value](stage []T) {
	if b := arrowutil.Bytes(stage[:cap(stage)]); len(b) == 8*mostStaged {
		words := arrowutil.As[uint64](b)
		stages.Put(&words)
	}
}

// byteStage holds byte strings that wait to be cut into blocks.
type byteStage struct {
	values bytestring.Values
	valid  bitStage
}

var byteStages = sync.Pool{New: func() any { return new(byteStage) }}

// getByteStage is an empty stage.
func getByteStage(fixed int) *byteStage {
	s := byteStages.Get().(*byteStage)
	s.values = bytestring.Values{Data: s.values.Data[:0], Offsets: append(s.values.Offsets[:0], 0), Fixed: fixed}
	s.valid = bitStage{}
	return s
}

// put gives back a stage, which may be nil.
func (s *byteStage) put() {
	if s != nil {
		byteStages.Put(s)
	}
}

func (s *byteStage) add(v bytestring.Values, valid bitmap.Bits) {
	s.values.Data = append(s.values.Data, v.Bytes()...)
	if v.Fixed == 0 {
		s.values.Offsets = slices.Grow(s.values.Offsets, v.N)
		shift := s.values.Offsets[s.values.N] - v.Offsets[0]
		for _, o := range v.Offsets[1 : v.N+1] {
			s.values.Offsets = append(s.values.Offsets, o+shift)
		}
	}
	s.values.N += v.N
	s.valid.append(valid)
}
