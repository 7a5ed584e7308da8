// Package pattern matches byte strings with patterns: a text that a value equals, begins with, ends with or contains, a
// pattern of LIKE, or a regular expression, each of which can ignore case; or words.
//
// A [Pattern] also says which byte strings every match must have, so that callers can exclude values, blocks and whole
// stripes without matching.
package pattern

import (
	"bytes"
	"regexp"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Pattern matches byte strings. It does not change, and may be used by many goroutines.
type Pattern struct {
	// Prefix is a byte string that every match begins with; empty if none is known.
	Prefix []byte
	// Parts are byte strings that every match contains.
	Parts [][]byte

	segments segments       // if regex and words are nil
	regex    *regexp.Regexp // to be searched for
	states   *automaton     // the same, nil if it has none
	required *Required      // of regex
	texts    bool           // regex asks for one of the texts of required, and nothing else
	words    *Words
	fold     bool // values are folded before they are compared with segments
}

// Equal matches a text.
func Equal(text string, fold bool) *Pattern { return anchored(text, true, true, fold) }

// StartsWith matches values that begin with a text.
func StartsWith(text string, fold bool) *Pattern { return anchored(text, true, false, fold) }

// EndsWith matches values that end with a text.
func EndsWith(text string, fold bool) *Pattern { return anchored(text, false, true, fold) }

// Contains matches values that contain a text.
func Contains(text string, fold bool) *Pattern { return anchored(text, false, false, fold) }

// anchored matches a text at the start of values, at their end, at both or anywhere.
func anchored(text string, start, end, fold bool) *Pattern {
	s := segments{start: start, end: end}
	if text != "" {
		s.list = []segment{{{text: foldIf(fold, text)}}}
	} else if !start || !end {
		s = segments{} // any value
	}
	return fromSegments(s, fold)
}

// Like matches as LIKE does: % stands for any bytes, _ for one character, and a backslash takes the meaning from the byte
// that follows it. The pattern is matched against whole values.
func Like(text string, fold bool) *Pattern {
	return fromSegments(parseLike(string(foldIf(fold, text))), fold)
}

func foldIf(fold bool, text string) []byte {
	if fold {
		return appendFolded(nil, []byte(text))
	}
	return []byte(text)
}

func fromSegments(s segments, fold bool) *Pattern {
	p := &Pattern{segments: s, fold: fold}
	p.findParts(p.Required())
	return p
}

// findParts finds Prefix and Parts in what is required. Texts that ignore case are none.
func (p *Pattern) findParts(r *Required) {
	switch {
	case r == nil || len(r.Any) > 0:
	case len(r.All) > 0:
		for _, one := range r.All {
			p.findParts(one)
		}
	case !r.Fold:
		if p.Parts = append(p.Parts, r.Bytes); r.Start {
			p.Prefix = r.Bytes
		}
	}
}

// Scratch is memory for matching values, of one goroutine at a time. The zero value is ready.
type Scratch struct {
	folded   []byte
	machines []*machine // of some regular expressions, which may take turns
}

const mostMachines = 8

// machine is that of an automaton, with the states that were met so far.
func (s *Scratch) machine(a *automaton) *machine {
	for _, m := range s.machines {
		if m.automaton == a {
			return m
		}
	}
	if len(s.machines) == mostMachines {
		s.machines = nil
	}
	m := newMachine(a)
	s.machines = append(s.machines, m)
	return m
}

// Match reports whether a value matches.
func (p *Pattern) Match(value []byte, s *Scratch) bool {
	if p.regex != nil {
		for _, part := range p.Parts { // these are found many times as fast
			if !bytes.Contains(value, part) {
				return false
			}
		}
		return p.search(value, s)
	}
	if p.words != nil {
		s.folded = analysis.AppendUpper(s.folded[:0], value)
		return p.words.match(s.folded)
	}
	if p.fold {
		s.folded = appendFolded(s.folded[:0], value)
		value = s.folded
	}
	return p.segments.match(value)
}

// search reports whether the regular expression is found.
func (p *Pattern) search(value []byte, s *Scratch) bool {
	if p.states == nil {
		return p.regex.Match(value)
	}
	m := s.machine(p.states)
	if m.slow {
		return p.regex.Match(value)
	}
	return m.match(value)
}

// Any tells that every value matches.
func (p *Pattern) Any() bool {
	return p.regex == nil && p.words == nil && len(p.segments.list) == 0 && !(p.segments.start && p.segments.end)
}

// Constant is the only value that matches, if there is only one.
func (p *Pattern) Constant() (value string, ok bool) {
	if s := &p.segments; p.regex == nil && p.words == nil && !p.fold && s.start && s.end && len(s.list) == 0 {
		return "", true
	}
	return p.literal(true, true)
}

// PrefixOnly is a text that exactly the matches begin with, if there is one.
func (p *Pattern) PrefixOnly() (prefix string, ok bool) { return p.literal(true, false) }

// literal is the text of a pattern that is nothing but a text with these anchors.
func (p *Pattern) literal(start, end bool) (text string, ok bool) {
	s := &p.segments
	if p.regex != nil || p.words != nil || p.fold || s.start != start || s.end != end || len(s.list) != 1 {
		return "", false
	}
	b, ok := s.list[0].literal()
	return string(b), ok
}
