package table

import (
	"sync"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Remembering is a [Table] that stays open for further questions, which need not look again for what earlier ones have found.
type Remembering interface {
	// Finding is what was found of the rows of a stripe by a filter with this text, nil if there is no room for so many rows.
	Finding(filter string, stripe int) *Finding
}

// Finding is what questions with one filter found of the rows of a stripe. Many goroutines may use it.
type Finding struct {
	mu          sync.Mutex
	n           int
	looked, met []byte      // bits of the rows, until all were looked at
	found       *rowset.Set // then
}

// NewFinding knows nothing of n rows. It takes up to FindingBytes of memory.
func NewFinding(n int64) *Finding {
	return &Finding{n: int(n), looked: make([]byte, (n+7)/8), met: make([]byte, (n+7)/8)}
}

// FindingBytes is the memory of a finding of n rows.
func FindingBytes(n int64) int64 { return 256 + n/4 }

// Found are all rows that meet the filter, nil until all rows were looked at.
func (f *Finding) Found() *rowset.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found
}

// Add takes note of rows that were looked at, or need not be as they are hidden, and of those of them that meet the filter.
func (f *Finding) Add(looked, met rowset.Set) {
	const few = 16 // of so many are listed, as columns read them
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found != nil {
		return
	}
	for r := range looked.Ranges() {
		bitmap.SetRange(f.looked, int(r.From), int(r.Len()))
	}
	for r := range met.Ranges() {
		bitmap.SetRange(f.met, int(r.From), int(r.Len()))
	}
	if (bitmap.Bits{Data: f.looked, Len: f.n}).Count() < f.n {
		return
	}
	found := rowset.Dense(f.met, 0)
	if few*found.Len() < int64(f.n) {
		found = found.Listed()
	}
	f.looked, f.met, f.found = nil, nil, &found
}
