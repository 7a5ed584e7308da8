package encode

import (
	"maps"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/alp"
)

// Hint is what is remembered from block to block about one place in the tree: which encodings were worth a trial, and
// how far estimates were off. The zero value remembers nothing.
type Hint struct {
	ALP   []alp.Params // that suited some of the values when all encodings were tried, if they are floats
	memos []memo       // of each row; none before the first trial
	kids  map[int]*Hint
	brief bool  // it is not kept
	since int   // blocks since all encodings were tried; 0 if they never were
	every int   // blocks after which they are tried again
	best  int   // row of what was best then
	cost  int64 // of a thousand values then
}

// memo is how an encoding did at the last trial.
type memo struct {
	bias   uint32 // actual size / estimate, in 1024ths; 0 if unknown
	decode uint32 // of 1024 values with all parts, in picoseconds
	good   bool   // came close to the best
}

const (
	exploreEvery = 32 // blocks, doubled as long as the same is best
	exploreMost  = 512
	exploreAfter = 4 // blocks at least, when the cost has risen
)

// AlwaysBelow is the number of values for less than which nothing is remembered: trying everything costs little.
const AlwaysBelow = 256

// kid is the hint of a part of a tree that has n values. That of a short part is not kept, but made in few, and so are
// those of its parts.
func (h *Hint) kid(code encoding.Code, index, n int, few *Hint) *Hint {
	if n < AlwaysBelow || h.brief {
		few.forget()
		return few
	}
	key := int(code)<<3 | index
	k := h.kids[key]
	if k == nil {
		k = &Hint{}
		if h.kids == nil {
			h.kids = map[int]*Hint{}
		}
		h.kids[key] = k
	}
	return k
}

// CloneHints copies hints with their parts.
func CloneHints(hints map[int]*Hint) map[int]*Hint {
	out := maps.Clone(hints)
	for key, h := range out {
		out[key] = h.Clone()
	}
	return out
}

// Clone copies a hint with its parts.
func (h *Hint) Clone() *Hint {
	c := *h
	c.kids, c.ALP, c.memos = CloneHints(h.kids), slices.Clone(h.ALP), slices.Clone(h.memos)
	return &c
}

// due tells whether to try all encodings on the next n values.
func (h *Hint) due(n int) bool {
	return h.since == 0 || h.since >= h.every || n < AlwaysBelow
}

// Fresh tells whether all encodings are being tried.
func (h *Hint) Fresh() bool { return h.since <= 1 }

// begin forgets how the encodings of a table did, before all are tried.
func (h *Hint) begin(rows int) {
	h.since = 1
	if len(h.memos) != rows {
		h.memos = make([]memo, rows)
	}
	clear(h.memos)
}

// found notes what was best, and says when to look again.
func (h *Hint) found(row int) {
	if h.every == 0 || row != h.best {
		h.every, h.best = exploreEvery, row
		return
	}
	h.every = min(2*h.every, exploreMost)
}

// prune forgets the parts of encodings that were not good.
func (h *Hint) prune(t *Table) {
	for key := range h.kids {
		if !h.memos[t.Find(encoding.Code(key>>3)).Index].good {
			delete(h.kids, key)
		}
	}
}

// forget makes a hint that is not kept as good as new.
func (h *Hint) forget() { h.since, h.brief, h.ALP = 0, true, h.ALP[:0] }
