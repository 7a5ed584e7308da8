package learn

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// form is how the fields at an edge were split in an earlier block. It does not change. Fields of the next block that have
// this form are parsed while values are matched with patterns.
type form struct {
	pieces   []piece   // without numbers and spans
	elements []element // nil for fields as byte strings
	stride   int       // numbers of a field
	columns  int
}

// element is a part of a form: constant bytes, and the text of a number behind them.
type element struct {
	literal
	kind elementKind
	size uint32 // bytes of the number, 0 if they differ
}

type elementKind uint8

const (
	ofNothing elementKind = iota
	ofDigits
	ofDecimal
	ofSigned
	ofLower
	ofUpper
	ofRun // letters and digits
)

// maxStride is the most numbers of a field with a form.
const maxStride = 32

// newForm is the form of fields that were split into pieces, nil if it is of no use.
func newForm(pieces []piece) *form {
	f := &form{pieces: slices.Clone(pieces)}
	texts := 0
	for i := range f.pieces {
		p := &f.pieces[i]
		p.text, p.numbers, p.spans = bytes.Clone(p.text), nil, nil
		p.form.Groups = slices.Clone(p.form.Groups)
		if p.column {
			f.columns++
			if p.form.Kind == fields.Text {
				texts++
			}
		}
	}
	if texts == 1 && f.columns == 1 {
		return f
	}
	for i := range f.pieces {
		f.addElements(&f.pieces[i])
	}
	if f.stride > maxStride {
		return nil
	}
	return f
}

func (f *form) addElements(p *piece) {
	text := p.text
	add := func(k elementKind, size int) {
		f.elements = append(f.elements, element{literalOf(string(text)), k, uint32(size)})
		f.stride++
	}
	if !p.column {
		f.elements = append(f.elements, element{literal: literalOf(string(text))})
		return
	}
	switch p.form.Kind {
	case fields.Text:
		add(ofRun, 0)
	case fields.Decimal:
		add(ofDecimal, 0)
	case fields.Signed:
		add(ofSigned, 0)
	case fields.HexLower:
		add(ofLower, p.form.Width)
	case fields.HexUpper:
		add(ofUpper, p.form.Width)
	case fields.Digits:
		for i := range p.form.Groups {
			g := &p.form.Groups[i]
			if g.Separator = bytes.Clone(g.Separator); i > 0 {
				text = g.Separator
			}
			add(ofDigits, g.Width)
		}
	}
}

// parse appends the numbers of the field that begins at a place of a value, which ends at stop, and returns where the field ends. ok is
// false if no field of this form is there.
func (f *form) parse(dst []uint64, data []byte, at, stop uint32) (_ []uint64, end uint32, ok bool) {
	for i := range f.elements {
		s := &f.elements[i]
		w := load(data, at)
		if s.text != "" {
			if !s.begins(w, data, at, stop) {
				return dst, 0, false
			}
			at += uint32(len(s.text))
			w = load(data, at)
		}
		n, x, ok := s.size, uint64(0), true
		if n > stop-at {
			return dst, 0, false
		}
		switch s.kind {
		case ofNothing:
			continue
		case ofDigits:
			if n <= 8 {
				x, ok = decimal8(w, int(n))
			} else {
				x, ok = decimal(data, span{at, at + n})
			}
		case ofDecimal:
			if n = min(firstNot(^between(w, '0', '9')), stop-at); n-1 < 7 && (n == 1 || byte(w) != '0') { // nearly always
				x = digitsOf(w, int(n))
			} else {
				x, n, ok = decimalAt(data, w, at, stop)
			}
		case ofSigned:
			x, n, ok = signedAt(data, w, at, stop)
		case ofLower, ofUpper:
			x, ok = hexAt(data, at, n, s.kind)
		case ofRun:
			n = runAt(data, w, at, stop)
			x, ok = uint64(at)<<32|uint64(at+n), n > 0
		}
		if !ok {
			return dst, 0, false
		}
		dst = append(dst, x)
		at += n
	}
	return dst, at, true
}

// decimalAt is the number without zeros in front that begins at a place, whose bytes are w, and its size; ok is false if there is none.
func decimalAt(data []byte, w uint64, at, stop uint32) (x uint64, n uint32, ok bool) {
	if n = digitsAt(data, w, at, stop); n == 0 || n > fields.MaxDigits || n > 1 && byte(w) == '0' {
		return 0, 0, false
	}
	if n <= 8 {
		x, ok = decimal8(w, int(n))
	} else {
		x, ok = decimal(data, span{at, at + n})
	}
	return x, n, ok
}

// signedAt is like decimalAt, for numbers of which some are negative.
func signedAt(data []byte, w uint64, at, stop uint32) (x uint64, n uint32, ok bool) {
	minus := uint32(0)
	if byte(w) == '-' && at < stop {
		minus = 1
		w = load(data, at+1)
	}
	x, n, ok = decimalAt(data, w, at+minus, stop)
	if !ok || n == fields.MaxDigits || x == 0 && minus > 0 {
		return 0, 0, false
	}
	return (x ^ -uint64(minus)) + uint64(minus), n + minus, true
}

// firstNot is the first byte of a mask, 8 if there is none.
func firstNot(mask uint64) uint32 { return uint32(bits.TrailingZeros64(mask&highBits)) / 8 }

// digitsAt is how many digits begin at a place, whose bytes are w, before stop.
func digitsAt(data []byte, w uint64, at, stop uint32) uint32 {
	for n := uint32(0); ; w = load(data, at+n) {
		if not := ^between(w, '0', '9'); not&highBits != 0 {
			return min(n+firstNot(not), stop-at)
		}
		if n += 8; n >= stop-at {
			return stop - at
		}
	}
}

// runAt is how many letters and digits begin at a place, whose bytes are w, before stop.
func runAt(data []byte, w uint64, at, stop uint32) uint32 {
	for n := uint32(0); ; w = load(data, at+n) {
		if not := ^alnums(w); not&highBits != 0 {
			return min(n+firstNot(not), stop-at)
		}
		if n += 8; n >= stop-at {
			return stop - at
		}
	}
}

// hexAt is the number of n hexadecimal digits.
func hexAt(data []byte, at, n uint32, k elementKind) (x uint64, ok bool) {
	letter := uint64('a')
	if k == ofUpper {
		letter = 'A'
	}
	for end := at + n; at < end; at += 8 {
		w, some := load(data, at), min(end-at, 8)
		if mask := firstBytes(int(some)) & highBits; (between(w, '0', '9')|between(w, letter, letter+5))&mask != mask {
			return 0, false
		}
		x = x<<(4*some) | hexOf(w, int(some))
	}
	return x, true
}

// fit is the pieces of n fields that all have a form, with their numbers: rows of them one after the other. ok is false if they are better
// split anew: if groups need more than 64 bits, or numbers of any length have one length, so that they could be joined with others.
func (a *analysis) fit(f *form, rows []uint64, n int) (pieces []piece, ok bool) {
	if f.columns > 1 && a.fewRows(f, rows, n) {
		return nil, false
	}
	pieces = slices.Clone(f.pieces)
	at := 0 // in a row
	for i := range pieces {
		p := &pieces[i]
		if !p.column {
			continue
		}
		numbers := a.numbers(n)
		if f.stride == 1 && p.form.Kind != fields.Text {
			numbers = rows
		} else {
			for i := range numbers {
				numbers[i] = rows[i*f.stride+at]
			}
		}
		at++
		switch p.form.Kind {
		case fields.Text:
			p.spans = make([]span, n)
			for i, x := range numbers {
				p.spans[i] = span{uint32(x >> 32), uint32(x)}
			}
			continue
		case fields.Decimal:
			if f.columns > 1 && oneLength(numbers) {
				return nil, false
			}
		case fields.Digits:
			p.form.Groups = slices.Clone(p.form.Groups)
			for k := range p.form.Groups[1:] {
				if !addGroup(&p.form.Groups[k+1], numbers, rows[at:], f.stride) {
					return nil, false
				}
				at++
			}
		}
		p.numbers = numbers
	}
	return pieces, true
}

// fewRows is few for fields of a form.
func (a *analysis) fewRows(f *form, rows []uint64, n int) bool {
	return fewDistinct(n, func(i int) (h uint64) {
		row := rows[i*f.stride:]
		for k := range f.elements {
			switch e := &f.elements[k]; e.kind {
			case ofNothing:
				continue
			case ofRun:
				h = hash(h, a.at(span{uint32(row[0] >> 32), uint32(row[0])}))
			default:
				h = (h ^ h>>29 ^ row[0]) * 0x9e3779b97f4a7c15
			}
			row = row[1:]
		}
		return h
	})
}

// oneLength tells whether numbers have the same number of digits.
func oneLength(numbers []uint64) bool {
	low, most := numbers[0], numbers[0]
	for _, x := range numbers {
		low, most = min(low, x), max(most, x)
	}
	for n := range fields.MaxDigits {
		p := fields.Power(n + 1)
		if most < p {
			return true
		}
		if low < p {
			return false
		}
	}
	return true
}

// addGroup adds a group to numbers, every stride-th of others; false if they become too large.
func addGroup(g *fields.Group, numbers, others []uint64, stride int) bool {
	low, most, top := others[0], uint64(0), uint64(0)
	for i, x := range numbers {
		low, most, top = min(low, others[i*stride]), max(most, others[i*stride]), max(top, x)
	}
	g.Low, g.Radix = low, most-low+1
	if top >= 1<<62/g.Radix {
		return false
	}
	for i, x := range numbers {
		numbers[i] = x*g.Radix + others[i*stride] - low
	}
	return true
}

// form is that of the fields at a path, nil if it is not known.
func (t *Patterns) form(path int) *form {
	if path >= len(t.forms) {
		return nil
	}
	return t.forms[path]
}

// parsed is the fields that were parsed while values were matched.
type parsed struct {
	open []bool     // by edge: all fields so far have its form
	rows [][]uint64 // by edge: their numbers
}

func (p *parsed) begin(t *Patterns) {
	n := len(t.edges) + len(t.nodes)
	p.open = p.open[:0]
	for i := range n {
		f := t.form(i)
		p.open = append(p.open, f != nil && f.elements != nil && i < len(t.edges))
	}
	for len(p.rows) < n {
		p.rows = append(p.rows, nil)
	}
	for i := range p.rows {
		p.rows[i] = p.rows[i][:0]
	}
}

// scan is the word at a place, once it was looked for.
type scan struct {
	done  bool
	end   uint32
	class class
	shape uint64
}

// field is where the field of a branch ends, whose word begins at a place of the value that ends at stop; ok is false if no such field is there. It
// is parsed if all fields of the edge had the same form so far. p may be nil.
func (p *parsed) field(t *Patterns, b *branch, s *scan, data []byte, word, stop uint32) (end uint32, ok bool) {
	quoted := t.grammar.quotes && b.size > 0 && data[word-1] == '"'
	open := p != nil && p.open[b.edge]
	if open {
		rows, end, ok := t.forms[b.edge].parse(p.rows[b.edge], data, word, stop)
		if ok && t.wordEnds(data, end, stop) && (!quoted || end == stop || data[end] == '"') {
			p.rows[b.edge] = rows
			return end, true
		}
	}
	switch {
	case t.wordEnds(data, word, stop):
		return 0, false
	case s.done:
	case b.kind == ofWord:
		s.end = t.grammar.wordEnd(data[:stop], word, quoted)
	default:
		s.end, s.class, s.shape = t.grammar.word(data[:stop], word, quoted)
		s.done = true
	}
	if b.kind == ofShape && (s.class == letters || s.shape != b.shape) {
		return 0, false
	}
	if open {
		p.open[b.edge] = false
	}
	return s.end, true
}

// isText tells whether fields are probably best as texts.
func (a *analysis) isText(spans []span) bool {
	const some = 256
	if len(spans) <= some {
		return false
	}
	var sample [some]span
	for i := range sample {
		sample[i] = spans[i*len(spans)/some]
	}
	before := len(a.memory)
	pieces := a.split(sample[:])
	a.release(before)
	f := newForm(pieces)
	return f != nil && f.elements == nil
}
