package valueset

import (
	"math/big"
	"slices"
	"strings"
)

// point is a place in the order of a domain: an integer or a byte string. end is behind all byte strings.
type point struct {
	n   *big.Int
	s   string
	end bool
}

func (p point) cmp(q point) int {
	switch {
	case p.n != nil:
		return p.n.Cmp(q.n)
	case p.end && q.end:
		return 0
	case p.end:
		return 1
	case q.end:
		return -1
	}
	return strings.Compare(p.s, q.s)
}

// successor is the first byte string above all that begin with prefix.
func successor(prefix string) point {
	for last := len(prefix) - 1; last >= 0; last-- {
		if prefix[last] < 0xff {
			return point{s: prefix[:last] + string([]byte{prefix[last] + 1})}
		}
	}
	return point{end: true}
}

// span is the values from lo up to (not including) hi.
type span struct{ lo, hi point }

// Set is a set of values of a domain. The zero value is the empty set. A set does not change.
//
// It has spans in ascending order that do not touch, and NaN or not. Spans exclude their end, so that the complement of a
// set of byte strings has spans, too: the value after "a" is "a\x00".
type Set struct {
	spans []span
	nan   bool
}

// All is the set of all values, NaN included.
func (d *Domain) All() Set { return Set{[]span{d.whole}, d.HasNaN()} }

// NaN is the set of NaN alone, which is empty if the domain has none.
func (d *Domain) NaN() Set { return Set{nan: d.HasNaN()} }

// Constant is the set of a single byte string.
func Constant(value string) Set {
	return Set{spans: []span{{point{s: value}, point{s: value + "\x00"}}}}
}

// Prefix is the set of the byte strings that begin with a prefix.
func Prefix(prefix string) Set {
	return Set{spans: []span{{point{s: prefix}, successor(prefix)}}}
}

// newSet makes a set of spans in any order.
func newSet(spans []span, nan bool) Set {
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.lo.cmp(s.hi) >= 0 })
	slices.SortFunc(spans, func(a, b span) int { return a.lo.cmp(b.lo) })
	out := spans[:0]
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.lo.cmp(out[last].hi) <= 0 {
			if s.hi.cmp(out[last].hi) > 0 {
				out[last].hi = s.hi
			}
			continue
		}
		out = append(out, s)
	}
	return Set{out, nan}
}

// Union is the set of the values that are in any of the sets.
func Union(sets ...Set) Set {
	var spans []span
	nan := false
	for _, s := range sets {
		spans, nan = append(spans, s.spans...), nan || s.nan
	}
	return newSet(spans, nan)
}

// And is the set of the values that are in both sets.
func (a Set) And(b Set) Set {
	out := Set{nan: a.nan && b.nan}
	s, o := a.spans, b.spans
	for len(s) > 0 && len(o) > 0 {
		both := s[0]
		if o[0].lo.cmp(both.lo) > 0 {
			both.lo = o[0].lo
		}
		if o[0].hi.cmp(both.hi) < 0 {
			both.hi = o[0].hi
		}
		if both.lo.cmp(both.hi) < 0 {
			out.spans = append(out.spans, both)
		}
		if s[0].hi.cmp(o[0].hi) < 0 {
			s = s[1:]
		} else {
			o = o[1:]
		}
	}
	return out
}

// Not is the set of the values of the domain that are not in a set.
func (d *Domain) Not(s Set) Set {
	out := Set{nan: d.HasNaN() && !s.nan}
	at := d.whole.lo
	for _, s := range s.spans {
		if at.cmp(s.lo) < 0 {
			out.spans = append(out.spans, span{at, s.lo})
		}
		at = s.hi
	}
	if at.cmp(d.whole.hi) < 0 {
		out.spans = append(out.spans, span{at, d.whole.hi})
	}
	return out
}

// Empty reports whether the set has no value.
func (a Set) Empty() bool { return len(a.spans) == 0 && !a.nan }

// isAll reports whether the set has all values of the domain.
func (d *Domain) isAll(a Set) bool {
	return len(a.spans) == 1 && a.spans[0].lo.cmp(d.whole.lo) <= 0 && a.spans[0].hi.cmp(d.whole.hi) >= 0 && (a.nan || !d.HasNaN())
}
