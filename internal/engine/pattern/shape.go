package pattern

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Decide tells whether some values of a shape may match, and whether all of them do, whatever their fields are.
func (p *Pattern) Decide(shape search.Shape, s *Scratch) (some, all bool) {
	if slices.ContainsFunc(shape, func(part search.Part) bool { return !utf8.Valid(part.Text) }) {
		return true, false // a character may be in two parts
	}
	if p.regex != nil {
		if p.states == nil {
			return true, false
		}
		m := s.machine(p.states)
		if m.slow {
			return true, false
		}
		return m.decide(shape)
	}
	for i, part := range shape {
		if part.Kind == search.Constant && p.within(part.Text, i == 0, i == len(shape)-1, s) {
			return true, true
		}
	}
	return true, false
}

// Decider is [Pattern.Decide] with memory of its own, for one goroutine at a time; with not, of the values that do not match.
func (p *Pattern) Decider(not bool) search.Decide {
	var s Scratch
	return func(shape search.Shape) (some, all bool) {
		if some, all = p.Decide(shape, &s); not {
			some, all = !all, !some
		}
		return some, all
	}
}

// letter stands for what may be around a text: one that words go on with.
const letter = "一"

// within reports whether all values with a text match, whatever is around it: at their beginning if begins, and at their end if ends.
func (p *Pattern) within(text []byte, begins, ends bool, s *Scratch) bool {
	switch {
	case p.words != nil:
		s.folded = s.folded[:0]
		if !begins {
			s.folded = append(s.folded, letter...)
		}
		s.folded = analysis.AppendUpper(s.folded, text)
		if !ends {
			s.folded = append(s.folded, letter...)
		}
		return !bytes.Contains(p.words.Text, []byte(letter)) && p.words.match(s.folded)
	case p.segments.start && !begins || p.segments.end && !ends:
		return false
	case p.fold:
		s.folded = appendFolded(s.folded[:0], text)
		text = s.folded
	}
	return p.segments.match(text)
}

// maxReached bounds the states that values of a shape may be in at a place.
const maxReached = 64

// decide is [Pattern.Decide]: it takes all ways through the states that fields allow.
func (m *machine) decide(shape search.Shape) (some, all bool) {
	forgotten, matched := m.forgotten, int32(m.width)
	m.reached = append(m.reached[:0], 3*matched) // the first
	for _, part := range shape {
		switch part.Kind {
		case search.Constant:
			for _, r := range string(part.Text) {
				m.pass(false, int(m.class(r)))
			}
		case search.Anything:
			for n := 0; n < len(m.reached) && n <= maxReached; {
				n = len(m.reached)
				m.pass(true, m.any...)
			}
		default:
			for i := range part.Max {
				n := len(m.reached)
				if m.pass(i >= part.Min, m.digits[part.Kind]...); i >= part.Min && len(m.reached) == n {
					break
				}
			}
		}
		if m.forgotten != forgotten || len(m.reached) > maxReached {
			return true, false
		}
	}
	all = true
	for _, at := range m.reached {
		is := at == matched
		if !is {
			end := m.next[int(at)+m.width-1]
			if end == unknown {
				end = m.step(at, m.width-1)
			}
			is = end == matched
		}
		some, all = some || is, all && is
	}
	return some, all
}

// pass replaces the states that are reached by those behind a character of some classes. With stay, the others stay, too.
func (m *machine) pass(stay bool, classes ...int) {
	before := m.reached
	if m.reached = m.passed[:0]; stay {
		m.reached = append(m.reached, before...)
	}
	for _, at := range before {
		for _, class := range classes {
			to := at
			if at != int32(m.width) { // matched
				if to = m.next[int(at)+class]; to == unknown {
					to = m.step(at, class)
				}
			}
			if !slices.Contains(m.reached, to) {
				m.reached = append(m.reached, to)
			}
		}
	}
	m.passed = before
}
