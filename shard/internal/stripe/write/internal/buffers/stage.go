package buffers

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// StageSize is how much a node stages before it plans and cuts blocks. All nodes stage at
// the same time, so of a wide table each may stage less.
type StageSize struct {
	Values     int // a power of two
	bytes      int // of byte strings, that make a segment at least
	Brief      int // bytes of byte strings, up to which a column may be brief
	Dictionary int // bytes of a value dictionary of numbers in the making
	Texts      int // of one of byte strings
}

const (
	MostStaged      = 64 << 10 // values of a node
	leastStaged     = 1 << 10
	mostBytes       = 4 << 20
	leastDictionary = 64 << 10
	mostDictionary  = 16 << 20
	leastBytes      = 16 << 10

	StagedTogether = 64 << 20  // bytes of all nodes, of integers with 64 bits
	bytesTogether  = 256 << 20 // of byte strings, and of dictionaries
)

// StageOf is that of columns.
func StageOf(columns []arrowmap.Column) StageSize {
	all, texts := nodesOf(columns)
	n := max(all, 1)
	values := StagedTogether / 8 / n
	values = 1 << (bits.Len(uint(values)|1) - 1)
	return StageSize{
		Values:     min(max(values, leastStaged), MostStaged),
		bytes:      min(max(bytesTogether/n, leastBytes), mostBytes),
		Brief:      min(max(bytesTogether/n, leastBytes), bytestring.BriefBytes),
		Dictionary: min(max(bytesTogether/n, leastDictionary), mostDictionary),
		Texts:      min(max(bytesTogether/max(texts, 1), leastDictionary), dictionary.DefaultBudget),
	}
}

// nodesOf is the number of nodes of columns, and how many of them are byte strings.
func nodesOf(columns []arrowmap.Column) (all, texts int) {
	for i := range columns {
		c := &columns[i]
		a, t := nodesOf(c.Children)
		all, texts = all+a+1, texts+t
		switch c.Stored.Type {
		case schema.String, schema.Binary, schema.FixedSizeBinary, schema.Guid:
			texts++
		}
	}
	return all, texts
}

// stages holds empty staging memory of 1<<i words in element i, for columns that have
// less staged at the moment, or nothing.
var stages [17]sync.Pool

// leastStage is the fewest bytes that are worth keeping in a pool.
const leastStage = 512

// GetStage is empty staging memory for at least n values, at most mostStaged.
func GetStage[T numeric.Value](n int) []T {
	words := (n*numeric.Of[T]().Size() + 7) / 8
	i := bits.Len(uint(max(words, 1) - 1))
	if p, ok := stages[i].Get().(*[]uint64); ok {
		return arrowutil.As[T](arrowutil.Bytes(*p))[:0]
	}
	return arrowutil.As[T](arrowutil.Bytes(make([]uint64, 1<<i)))[:0]
}

// PutStage gives back the result of getStage, or drops other memory.
func PutStage[T numeric.Value](stage []T) {
	b := arrowutil.Bytes(stage[:cap(stage)])
	if n := len(b); n >= leastStage && n&(n-1) == 0 {
		words := arrowutil.As[uint64](b)
		stages[bits.Len(uint(len(words)))-1].Put(&words)
	}
}

// byteStage holds byte strings that wait to be cut into blocks.
type byteStage struct {
	Values bytestring.Values
	Valid  BitStage
}

var byteStages = sync.Pool{New: func() any { return new(byteStage) }}

// getByteStage is an empty stage.
func getByteStage(fixed int) *byteStage {
	s := byteStages.Get().(*byteStage)
	s.Values = bytestring.Values{Data: s.Values.Data[:0], Offsets: append(s.Values.Offsets[:0], 0), Fixed: fixed}
	s.Valid = BitStage{}
	return s
}

// Put gives back a stage, which may be nil.
func (s *byteStage) Put() {
	if s != nil {
		byteStages.Put(s)
	}
}

func (s *byteStage) add(v bytestring.Values, valid bitmap.Bits) {
	s.Values.Data = append(s.Values.Data, v.Bytes()...)
	if v.Fixed == 0 {
		s.Values.Offsets = slices.Grow(s.Values.Offsets, v.N)
		shift := s.Values.Offsets[s.Values.N] - v.Offsets[0]
		for _, o := range v.Offsets[1 : v.N+1] {
			s.Values.Offsets = append(s.Values.Offsets, o+shift)
		}
	}
	s.Values.N += v.N
	s.Valid.Append(valid)
}
