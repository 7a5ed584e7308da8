package eval

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
)

// ids is a hash table of the spans of a trace by their ids.
type ids struct {
	slots []int32 // 1 + a span, or 0
}

var seed = maphash.MakeSeed()

// reset makes room for n spans.
func (t *ids) reset(n int) {
	size := 8
	for size < 2*n {
		size *= 2
	}
	t.slots = slices.Grow(t.slots[:0], size)[:size]
	clear(t.slots)
}

// slot is the place of the span with an id, or the one where it is missing.
func (t *ids) slot(list []Span, id []byte) *int32 {
	for h := maphash.Bytes(seed, id); ; h++ {
		s := &t.slots[h&uint64(len(t.slots)-1)]
		if *s == 0 || bytes.Equal(list[*s-1].ID(), id) {
			return s
		}
	}
}

// Scratch is memory for making traces, one after the other.
type Scratch struct {
	ids    ids
	of     *Trace // that the ids are of
	order  []place
	sorted []Span
}

// place is a span and the number of it in a list.
type place struct {
	start int64
	at    int32
}

// distinct leaves the first of several spans with one id and kind; shared reports whether spans that are left have one id.
func (s *Scratch) distinct(list []Span) (kept []Span, shared bool) {
	type identity struct {
		id   string
		kind int64
	}
	var others map[identity]bool // of spans whose id another one of another kind had before
	s.ids.reset(len(list))
	kept = list[:0]
	for _, span := range list {
		if id := span.ID(); len(id) > 0 {
			slot := s.ids.slot(kept, id)
			if *slot != 0 {
				own := identity{string(id), span.kind()}
				if own.kind == kept[*slot-1].kind() || others[own] {
					continue
				}
				if others == nil {
					others = map[identity]bool{}
				}
				others[own] = true
			} else {
				*slot = int32(len(kept) + 1)
			}
		}
		kept = append(kept, span)
	}
	return kept, others != nil
}

// sort sorts spans by start and id.
func (s *Scratch) sort(list []Span) {
	s.order = s.order[:0]
	for i := range list {
		s.order = append(s.order, place{list[i].Start, int32(i)})
	}
	slices.SortFunc(s.order, func(a, b place) int {
		if a.start != b.start {
			return cmp.Compare(a.start, b.start)
		}
		return cmp.Or(bytes.Compare(list[a.at].ID(), list[b.at].ID()), cmp.Compare(a.at, b.at))
	})
	s.sorted = s.sorted[:0]
	for _, p := range s.order {
		s.sorted = append(s.sorted, list[p.at])
	}
	copy(list, s.sorted)
	clear(s.sorted)
}
