package chunk

import "github.com/amudai/amudai-go/internal/engine/table"

// Counters are those of pages.
type Counters = table.BlockCounters[pageKey]

// NewCounters returns counters of nothing.
func NewCounters() *Counters { return table.NewBlockCounters[pageKey]() }

// AddChunk counts a chunk whose pages are not known, once.
func AddChunk(to *Counters, chunk *Chunk) {
	if key := (pageKey{chunk.Group, chunk.Leaf, 0}); !to.Has(key) {
		to.AddBlock(key, chunk.End-chunk.From)
	}
}
