// Package find finds values of Fields blocks (docs/format.md §7.5) by what these begin with or contain. It divides a search into
// tests of fields, and leaves these to the caller, who has the columns.
package find

import (
	"bytes"
	"slices"

	"github.com/amudai/amudai-go/encoding/internal/fields"
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

// Values are those of a block that are searched.
type Values struct {
	Patterns *fields.Decoder
	Codes    []uint32 // the pattern of each value
	Columns  Columns
}

// Columns are those of the fields.
type Columns interface {
	// Header is the header of a column.
	Header(column uint32) *fields.Header
	// Test sets the bits of the fields of a column that have a relation to a text; false if they cannot be read. It may set
	// bits of others, too. None is set before.
	Test(found []uint64, column uint32, how How, text []byte) (ok bool)
}

// test is true for those fields of a column that have a relation to a part of the wanted text.
type test struct {
	column   uint32
	how      How
	from, to uint32 // the part
}

// way is one way for values to match: all tests are true.
type way struct {
	tests    []uint16 // of the finder, the cheapest and most selective first
	patterns []uint32 // whose values can match like that, ascending
}

// Limits of what a finder looks at. A pattern with more is taken to match.
const (
	maxTests = 1024
	maxSteps = 4096 // by pattern
)

// Finder finds values, and is the memory for that.
type Finder struct {
	values Values
	wanted Wanted

	// How values can match. No value does that is neither of a pattern in sure nor true for all tests of one of the ways.
	tests []test
	ways  []way
	sure  []bool // by pattern: all its values have to be looked at

	places   []fields.Place
	literals [][]byte // of the pattern: before each place, and behind the last
	steps    int
	path     []uint16 // tests of the way so far
	ids      map[test]uint16
	wayIDs   map[string]int
	key      []byte

	results []result // by test
	fields  []uint64 // a bit for each field of a column
	found   []uint64 // a bit for each value
	some    []uint64
	all     []uint64
	times   []uint32
}

// plan finds the ways in which values of each pattern can match.
func (f *Finder) plan() {
	f.tests, f.ways = f.tests[:0], f.ways[:0]
	if f.ids == nil {
		f.ids, f.wayIDs = map[test]uint16{}, map[string]int{}
	}
	clear(f.ids)
	clear(f.wayIDs)
	clear(scratch.Slice(&f.sure, f.values.Patterns.Len()))
	for code := range f.sure {
		places, text := f.values.Patterns.Pattern(code)
		f.places, f.literals = places, f.literals[:0]
		for _, place := range places {
			f.literals, text = append(f.literals, text[:place.Before]), text[place.Before:]
		}
		f.literals = append(f.literals, text)
		f.path, f.steps = f.path[:0], maxSteps
		if f.wanted.Begin {
			f.literal(uint32(code), 0, 0)
		} else {
			f.anywhere(uint32(code))
		}
		if f.steps < 0 {
			f.sure[code] = true
		}
	}
}

// anywhere finds the ways in which the text begins in each of the literals and fields of a pattern.
func (f *Finder) anywhere(code uint32) {
	text := f.wanted.Text
	for k, lit := range f.literals {
		if bytes.Contains(lit, text) {
			f.sure[code] = true
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
		f.withTest(k, Contains, 0, len(text), func() { f.add(code) })
		for n := 1; n < len(text); n++ {
			if agree(f.literals[k+1], text[n:]) {
				f.withTest(k, Ends, 0, n, func() { f.literal(code, k+1, n) })
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
		f.withTest(k, Begins, at, at+len(rest), func() { f.add(code) })
		most--
	}
	least := 0
	if c := f.column(f.places[k].Column); c.Kind != fields.Text {
		least, most = lengths(c, most)
	}
	for n := least; n <= most; n++ {
		if agree(next, rest[n:]) {
			f.withTest(k, Equals, at, at+n, func() { f.literal(code, k+1, at+n) })
		}
	}
}

// withTest adds a test to the way as long as then runs, if a field can be true for it.
func (f *Finder) withTest(k int, how How, from, to int, then func()) {
	t := test{f.places[k].Column, how, uint32(from), uint32(to)}
	if !can(f.column(t.column), how, f.wanted.Text[from:to]) {
		return
	}
	id, ok := f.ids[t]
	if !ok {
		if len(f.tests) == maxTests {
			f.steps = -1
			return
		}
		id = uint16(len(f.tests))
		f.tests = append(f.tests, t)
		f.ids[t] = id
	}
	f.path = append(f.path, id)
	then()
	f.path = f.path[:len(f.path)-1]
}

// add adds the way that has been gone.
func (f *Finder) add(code uint32) {
	if len(f.path) == 0 {
		f.sure[code] = true
		return
	}
	tests := slices.Clone(f.path)
	slices.SortStableFunc(tests, func(a, b uint16) int { return f.worth(b) - f.worth(a) })
	f.key = f.key[:0]
	for _, t := range tests {
		f.key = append(f.key, byte(t), byte(t>>8))
	}
	i, ok := f.wayIDs[string(f.key)]
	if !ok {
		i = len(f.ways)
		f.ways = append(f.ways, way{tests: tests})
		f.wayIDs[string(f.key)] = i
	}
	if w := &f.ways[i]; len(w.patterns) == 0 || w.patterns[len(w.patterns)-1] != code {
		w.patterns = append(w.patterns, code)
	}
}

// worth is how early a test should be made: the longer the text the fewer fields are true, and numbers are compared
// faster than texts.
func (f *Finder) worth(id uint16) int {
	t := f.tests[id]
	n := int(t.to - t.from)
	if f.column(t.column).Kind == fields.Text {
		n -= 4
	}
	return n
}

func (f *Finder) column(i uint32) *fields.Column { return &f.values.Columns.Header(i).Column }
