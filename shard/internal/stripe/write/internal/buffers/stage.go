package buffers

import (
	"math/bits"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// StageSize is how much a node stages before it plans and cuts blocks. All nodes stage at
// the same time, so of a wide table each may stage less.
type StageSize struct {
	Values     int // a power of two
	bytes      int // of byte strings, that make a segment at least
	Brief      int // bytes of byte strings, up to which a column may be brief
	Dictionary int // bytes of a value dictionary in the making
}

const (
	MostStaged      = 64 << 10 // values of a node
	leastStaged     = 1 << 10
	mostBytes       = 4 << 20
	leastDictionary = 64 << 10
	leastBytes      = 16 << 10

	StagedTogether = 64 << 20  // bytes of all nodes, of integers with 64 bits
	bytesTogether  = 256 << 20 // of byte strings, and of dictionaries
)

// StageOf is that of columns.
func StageOf(columns []arrowmap.Column) StageSize {
	n := max(nodesOf(columns), 1)
	values := StagedTogether / 8 / n
	values = 1 << (bits.Len(uint(values)|1) - 1)
	return StageSize{
		Values:     min(max(values, leastStaged), MostStaged),
		bytes:      min(max(bytesTogether/n, leastBytes), mostBytes),
		Brief:      min(max(bytesTogether/n, leastBytes), bytestring.BriefBytes),
		Dictionary: min(max(bytesTogether/n, leastDictionary), dictionary.DefaultBudget),
	}
}

func nodesOf(columns []arrowmap.Column) int {
	n := len(columns)
	for i := range columns {
		n += nodesOf(columns[i].Children)
	}
	return n
}
