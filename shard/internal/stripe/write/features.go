package write

import (
	"sync/atomic"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// featureLog collects the features that a stripe really uses. It is safe for
// concurrent use.
type featureLog struct {
	allowed edition.Set
	used    atomic.Uint64
}

func (l *featureLog) add(f edition.Feature) { l.used.Or(uint64(edition.Only(f))) }

func (l *featureLog) set() edition.Set { return edition.Set(l.used.Load()) }

// addBlock adds the features of a block's trees. describe is asked for them only
// as long as a feature that may be used has not been seen.
func (l *featureLog) addBlock(blk []byte, describe func(tree []byte) encoding.Tree) {
	if l.allowed&^l.set() == 0 {
		return
	}
	if b, err := encoding.ParseBlock(blk, false); err == nil {
		tree := describe(b.Values)
		l.addTree(&tree)
	}
}

// addDictionary adds the features of a value dictionary in its packed form.
func (l *featureLog) addDictionary(b []byte) {
	l.add(edition.PackedDictionaries)
	for _, tree := range dictionary.Trees(b) {
		l.addTree(&tree)
	}
}

func (l *featureLog) addTree(n *encoding.Tree) {
	if f, ok := edition.OfCode(uint16(n.Code)); ok {
		l.add(f)
	}
	for i := range n.Children {
		l.addTree(&n.Children[i])
	}
}

// addColumns adds the features of stored types.
func (l *featureLog) addColumns(columns []arrowmap.Column) {
	for i := range columns {
		switch columns[i].Stored.Type {
		case schema.Unit:
			l.add(edition.UnitNodes)
		case schema.FixedSizeList:
			l.add(edition.FixedSizeLists)
		case schema.Union:
			l.add(edition.Unions)
		}
		l.addColumns(columns[i].Children)
	}
}
