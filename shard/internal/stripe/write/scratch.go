package write

import (
	"math/bits"
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

// stages holds empty staging memory of 1<<i words in element i, for columns that have
// less staged at the moment, or nothing.
var stages [17]sync.Pool

// leastStage is the fewest bytes that are worth keeping in a pool.
const leastStage = 512

// getStage is empty staging memory for at least n values, at most mostStaged.
func getStage[T numeric.Value](n int) []T {
	words := (n*numeric.Of[T]().Size() + 7) / 8
	i := bits.Len(uint(max(words, 1) - 1))
	if p, ok := stages[i].Get().(*[]uint64); ok {
		return arrowutil.As[T](arrowutil.Bytes(*p))[:0]
	}
	return arrowutil.As[T](arrowutil.Bytes(make([]uint64, 1<<i)))[:0]
}

// putStage gives back the result of getStage, or drops other memory.
func putStage[T numeric.Value](stage []T) {
	b := arrowutil.Bytes(stage[:cap(stage)])
	if n := len(b); n >= leastStage && n&(n-1) == 0 {
		words := arrowutil.As[uint64](b)
		stages[bits.Len(uint(len(words)))-1].Put(&words)
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
