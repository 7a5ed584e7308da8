package predicate

import (
	"math/big"
	"slices"
	"strings"
)

// point is a place in the order of a domain: an integer, or a byte string. end
// is behind all byte strings.
type point struct {
	n   *big.Int
	s   string
	end bool
}

func (p point) cmp(q point) int {
	switch {
	case p.n != nil:
		return p.n.Cmp(q.n)
	case p.end || q.end:
		return boolToInt(p.end) - boolToInt(q.end)
	}
	return strings.Compare(p.s, q.s)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// span is the values from lo up to (not including) hi.
type span struct{ lo, hi point }

// valueSet is the values for which a condition on one column is true: spans in
// ascending order that do not touch, and NaN or not. Being half-open, spans of
// byte strings can be turned around too: what follows "a" is "a\x00".
type valueSet struct {
	spans []span
	nan   bool
}

// newSet makes a set of any spans.
func newSet(spans []span, nan bool) valueSet {
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
	return valueSet{out, nan}
}

func (a valueSet) or(b valueSet) valueSet {
	return newSet(slices.Concat(a.spans, b.spans), a.nan || b.nan)
}

func (a valueSet) and(b valueSet) valueSet {
	out := valueSet{nan: a.nan && b.nan}
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

// not is the other values between the ends of the domain.
func (a valueSet) not(whole span) valueSet {
	out := valueSet{nan: !a.nan}
	at := whole.lo
	for _, s := range a.spans {
		if at.cmp(s.lo) < 0 {
			out.spans = append(out.spans, span{at, s.lo})
		}
		at = s.hi
	}
	if at.cmp(whole.hi) < 0 {
		out.spans = append(out.spans, span{at, whole.hi})
	}
	return out
}

// empty tells whether no value is in the set.
func (a valueSet) empty() bool { return len(a.spans) == 0 && !a.nan }

// full tells whether the set has all values of the domain.
func (d *domain) full(a valueSet) bool {
	return len(a.spans) == 1 && a.spans[0].lo.cmp(d.whole.lo) <= 0 && a.spans[0].hi.cmp(d.whole.hi) >= 0 && (a.nan || d.family != famFloat)
}
