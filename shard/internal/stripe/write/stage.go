package write

import (
	"math/bits"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// stageSize is how much a node stages before it plans and cuts blocks. All nodes stage at
// the same time, so of a wide table each may stage less.
type stageSize struct {
	values     int // a power of two
	bytes      int // of byte strings, that make a segment at least
	brief      int // bytes of byte strings, up to which a column may be brief
	dictionary int // bytes of a value dictionary in the making
}

const (
	mostStaged      = 64 << 10 // values of a node
	leastStaged     = 1 << 10
	mostBytes       = 4 << 20
	leastDictionary = 64 << 10
	leastBytes      = 16 << 10

	stagedTogether = 64 << 20  // bytes of all nodes, of integers with 64 bits
	bytesTogether  = 256 << 20 // of byte strings, and of dictionaries
)

// stageOf is that of columns.
func stageOf(columns []arrowmap.Column) stageSize {
	n := max(nodesOf(columns), 1)
	values := stagedTogether / 8 / n
	values = 1 << (bits.Len(uint(values)|1) - 1)
	return stageSize{
		values:     min(max(values, leastStaged), mostStaged),
		bytes:      min(max(bytesTogether/n, leastBytes), mostBytes),
		brief:      min(max(bytesTogether/n, leastBytes), bytestring.BriefBytes),
		dictionary: min(max(bytesTogether/n, leastDictionary), dictionary.DefaultBudget),
	}
}

func nodesOf(columns []arrowmap.Column) int {
	n := len(columns)
	for i := range columns {
		n += nodesOf(columns[i].Children)
	}
	return n
}
