package buffers

import (
	"sync/atomic"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// FeatureLog collects the features that a stripe really uses. It is safe for
// concurrent use.
type FeatureLog struct {
	Allowed edition.Set
	used    atomic.Uint64
}

// Add notes that a feature is used.
func (l *FeatureLog) Add(f edition.Feature) { l.used.Or(uint64(edition.Only(f))) }

// Merge notes the features of another log.
func (l *FeatureLog) Merge(from *FeatureLog) { l.used.Or(from.used.Load()) }

// Set is the features used so far.
func (l *FeatureLog) Set() edition.Set { return edition.Set(l.used.Load()) }

// addBlock adds the features of a block's trees. describe is asked for them only
// as long as a feature that may be used has not been seen.
func (l *FeatureLog) addBlock(blk []byte, describe func(tree []byte) encoding.Tree) {
	if l.Allowed&^l.Set() == 0 {
		return
	}
	if b, err := encoding.ParseBlock(blk, false); err == nil {
		if encoding.PresenceKind(b.Presence) == "Runs" {
			l.Add(edition.PresenceRuns)
		}
		tree := describe(b.Values)
		l.addTree(&tree)
	}
}

// AddDictionary adds the features of a value dictionary in its packed form.
func (l *FeatureLog) AddDictionary(b []byte) {
	l.Add(edition.PackedDictionaries)
	for _, tree := range dictionary.Trees(b) {
		l.addTree(&tree)
	}
}

func (l *FeatureLog) addTree(n *encoding.Tree) {
	if f, ok := edition.OfCode(uint16(n.Code)); ok {
		l.Add(f)
	}
	for i := range n.Children {
		l.addTree(&n.Children[i])
	}
}

// AddColumns adds the features of stored types.
func (l *FeatureLog) AddColumns(columns []arrowmap.Column) {
	for i := range columns {
		switch columns[i].Stored.Type {
		case schema.Unit:
			l.Add(edition.UnitNodes)
		case schema.FixedSizeList:
			l.Add(edition.FixedSizeLists)
		case schema.Union:
			l.Add(edition.Unions)
		}
		l.AddColumns(columns[i].Children)
	}
}
