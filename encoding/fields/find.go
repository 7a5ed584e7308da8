package fields

import (
	"bytes"
	"slices"

	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Wanted is a text that values contain, begin with or are.
type Wanted struct {
	Text  []byte
	Begin bool // at the beginning of the value
	Whole bool // the value is the text; Begin is set, too
}

// How is the relation of a field to a text.
type How uint8

// A field contains the text, begins with it, ends with it, or is the text.
const (
	Contains How = iota
	Begins
	Ends
	Equals
)

// Test is true for those fields of a column that have a relation to a part of the wanted text.
type Test struct {
	Column   uint32
	How      How
	From, To uint32 // the part
}

// Way is one way for values to match: all tests are true.
type Way struct {
	Tests    []uint16 // of the finder, the cheapest and most selective first
	Patterns []uint32 // whose values can match like that, ascending
}

// Limits of what a finder looks at. A pattern with more is taken to match.
const (
	maxTests = 1024
	maxSteps = 4096 // by pattern
)

// Finder divides a search for values into tests of their fields.
type Finder struct {
	Tests []Test
	Ways  []Way
	Sure  []bool // by pattern: all its values have to be looked at

	wanted   Wanted
	columns  []*Column
	places   []Place
	literals [][]byte // of the pattern: before each place, and behind the last
	steps    int
	path     []uint16 // tests of the way so far
	ids      map[Test]uint16
	ways     map[string]int
	key      []byte
}

// Find finds the ways in which values of each pattern can match. No value matches that is neither of a pattern in Sure
// nor true for all tests of one of the Ways. The results are valid until the next call.
func (f *Finder) Find(d *Decoder, columns []*Column, w Wanted) {
	f.wanted, f.columns = w, columns
	f.Tests, f.Ways = f.Tests[:0], f.Ways[:0]
	if f.ids == nil {
		f.ids, f.ways = map[Test]uint16{}, map[string]int{}
	}
	clear(f.ids)
	clear(f.ways)
	clear(scratch.Slice(&f.Sure, d.Len()))
	for code := range f.Sure {
		p := d.patterns[code]
		f.places = d.places[p.place:d.patterns[code+1].place]
		text := d.text[p.text:][:p.size]
		f.literals = f.literals[:0]
		for _, place := range f.places {
			f.literals, text = append(f.literals, text[:place.Before]), text[place.Before:]
		}
		f.literals = append(f.literals, text)
		f.path, f.steps = f.path[:0], maxSteps
		if w.Begin {
			f.literal(uint32(code), 0, 0)
		} else {
			f.anywhere(uint32(code))
		}
		if f.steps < 0 {
			f.Sure[code] = true
		}
	}
}

// anywhere finds the ways in which the text begins in each of the literals and fields of a pattern.
func (f *Finder) anywhere(code uint32) {
	text := f.wanted.Text
	for k, lit := range f.literals {
		if bytes.Contains(lit, text) {
			f.Sure[code] = true
			return
		}
		for at := max(0, len(lit)-len(text)+1); at < len(lit); at++ {
			if bytes.HasPrefix(text, lit[at:]) {
				f.field(code, k, len(lit)-at)
			}
		}
		if k == len(f.places) {
			return
		}
		f.test(k, Contains, 0, len(text), func() { f.add(code) })
		for n := 1; n < len(text); n++ {
			if agree(f.literals[k+1], text[n:]) {
				f.test(k, Ends, 0, n, func() { f.literal(code, k+1, n) })
			}
		}
	}
}

// agree reports whether one of two texts begins with the other.
func agree(a, b []byte) bool {
	n := min(len(a), len(b))
	return bytes.Equal(a[:n], b[:n])
}

// literal goes on with the text from a place on at the beginning of a literal.
func (f *Finder) literal(code uint32, k, at int) {
	lit, rest := f.literals[k], f.wanted.Text[at:]
	switch {
	case !agree(lit, rest):
	case len(rest) > len(lit) || f.wanted.Whole && len(rest) == len(lit) && k < len(f.places):
		f.field(code, k, at+len(lit))
	case !f.wanted.Whole || len(rest) == len(lit):
		f.add(code)
	}
}

// field goes on with the text from a place on at the beginning of a field.
func (f *Finder) field(code uint32, k, at int) {
	if f.steps--; k == len(f.places) || f.steps < 0 {
		return
	}
	rest, next := f.wanted.Text[at:], f.literals[k+1]
	most := len(rest)
	if !f.wanted.Whole {
		f.test(k, Begins, at, at+len(rest), func() { f.add(code) })
		most--
	}
	least := 0
	if c := f.columns[f.places[k].Column]; c.Kind != Text {
		least, most = c.lengths(most)
	}
	for n := least; n <= most; n++ {
		if agree(next, rest[n:]) {
			f.test(k, Equals, at, at+n, func() { f.literal(code, k+1, at+n) })
		}
	}
}

// test adds a test to the way as long as then runs, if a field can be true for it.
func (f *Finder) test(k int, how How, from, to int, then func()) {
	t := Test{f.places[k].Column, how, uint32(from), uint32(to)}
	if !f.columns[t.Column].can(how, f.wanted.Text[from:to]) {
		return
	}
	id, ok := f.ids[t]
	if !ok {
		if len(f.Tests) == maxTests {
			f.steps = -1
			return
		}
		id = uint16(len(f.Tests))
		f.Tests = append(f.Tests, t)
		f.ids[t] = id
	}
	f.path = append(f.path, id)
	then()
	f.path = f.path[:len(f.path)-1]
}

// add adds the way that has been gone.
func (f *Finder) add(code uint32) {
	if len(f.path) == 0 {
		f.Sure[code] = true
		return
	}
	tests := slices.Clone(f.path)
	slices.SortStableFunc(tests, func(a, b uint16) int { return f.worth(b) - f.worth(a) })
	f.key = f.key[:0]
	for _, t := range tests {
		f.key = append(f.key, byte(t), byte(t>>8))
	}
	i, ok := f.ways[string(f.key)]
	if !ok {
		i = len(f.Ways)
		f.Ways = append(f.Ways, Way{Tests: tests})
		f.ways[string(f.key)] = i
	}
	if w := &f.Ways[i]; len(w.Patterns) == 0 || w.Patterns[len(w.Patterns)-1] != code {
		w.Patterns = append(w.Patterns, code)
	}
}

// worth is how early a test should be made: the longer the text the fewer fields are true, and numbers are compared
// faster than texts.
func (f *Finder) worth(id uint16) int {
	t := f.Tests[id]
	n := int(t.To - t.From)
	if f.columns[t.Column].Kind == Text {
		n -= 4
	}
	return n
}

// Text is the text of a test.
func (f *Finder) Text(t Test) []byte { return f.wanted.Text[t.From:t.To] }

// Times writes how many fields of a column the values of each pattern have.
func (d *Decoder) Times(dst []uint32, column uint32) {
	for code := range dst {
		dst[code] = 0
		for _, place := range d.places[d.patterns[code].place:d.patterns[code+1].place] {
			if place.Column == column {
				dst[code]++
			}
		}
	}
}
