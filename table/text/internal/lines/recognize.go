package lines

import (
	"bytes"
	"cmp"
	"strings"
)

// recognizer finds the time and the level of a line, at places that are the same in all lines.
//
//	2026-11-22 20:00:01,123 - INFO  [main] started        [Sun Dec 04 04:47:44 2005] [core:error] child exited
//	^stamp: token 0         ^  ^level: token 1 behind it   ^stamp: token 0, prefix "["   ^level: token 0 behind it
type recognizer struct {
	stamp *stampPlace // nil: there are no times
	level *levelPlace // nil: there are no levels

	time, name string // the first time and level of the sample
	at         stamp  // this time
	digits     int    // most digits in a fraction of a second
}

// stampPlace is where times are, and how they are written.
type stampPlace struct {
	token  int
	prefix string // of the token: [ or time=
	layout layout
	zoned  bool
}

// levelPlace is where levels are.
type levelPlace struct {
	token  int
	behind bool // tokens are counted from the end of the stamp
}

// Limits on what is looked at in a line.
const (
	stampTokens   = 6
	levelTokens   = 10
	bareTokens    = 4 // for levels of lines without times
	longestPrefix = 24
	longestGroup  = 256
)

// clearPercent is the percentage of lines that must agree.
const clearPercent = 95

// found is what a recognizer finds in a line.
type found struct {
	stamp stamp
	timed bool
	text  []byte // of the stamp
	level []byte // nil: none
}

// find finds the fields of a line. A line without a stamp has no level.
func (r *recognizer) find(line []byte) (f found) {
	line = bytes.TrimPrefix(line, byteOrderMark)
	before, behind, ok := r.cut(line, &f)
	if p := r.level; ok && p != nil {
		if p.behind {
			before = behind
		}
		f.level = levelIn(token(before, p.token), r.letters())
	}
	return f
}

// byteOrderMark may be before the first line.
var byteOrderMark = []byte("\xef\xbb\xbf")

// letters reports whether levels are letters.
func (r *recognizer) letters() bool { return r.stamp != nil && r.stamp.layout == android }

// cut cuts a line at its stamp. ok is false for a line without one, if there are times.
func (r *recognizer) cut(line []byte, f *found) (before, behind []byte, ok bool) {
	if r.stamp == nil {
		return line, nil, true
	}
	from, to := r.stamp.find(line, &f.stamp)
	if to == 0 {
		return nil, nil, false
	}
	f.timed, f.text = true, line[from:to]
	return line[:from], bytes.TrimLeft(line[to:], "])>}\"',;:"), true // what closes the stamp
}

// find finds the stamp in a line. to is 0 if there is none.
func (p *stampPlace) find(line []byte, s *stamp) (from, to int) {
	for t := range tokens(line) {
		if t.number < p.token {
			continue
		}
		word := line[t.from:]
		if !bytes.HasPrefix(word, []byte(p.prefix)) {
			break
		}
		n := 0
		if *s, n = p.layout.cut(word[len(p.prefix):]); n == 0 || s.zoned != p.zoned {
			break
		}
		from = t.from + len(p.prefix)
		return from, from + n
	}
	return 0, 0
}

// token returns a token of a line, or nil.
func token(line []byte, number int) []byte {
	for t := range tokens(line) {
		if t.number == number {
			return line[t.from:t.to]
		}
	}
	return nil
}

type span struct{ number, from, to int }

// tokens lists the tokens of a line. Between them are blanks and bars. What is in brackets is one token.
func tokens(line []byte) func(func(span) bool) {
	return func(yield func(span) bool) {
		at := 0
		for n := 0; ; n++ {
			for at < len(line) && isSeparator(line[at]) {
				at++
			}
			if at == len(line) {
				return
			}
			from := at
			if at = from + groupLength(line[from:]); at == from {
				for at < len(line) && !isSeparator(line[at]) {
					at++
				}
			}
			if !yield(span{n, from, at}) {
				return
			}
		}
	}
}

func isSeparator(c byte) bool { return c == ' ' || c == '\t' || c == '|' }

// groupLength is the length of the brackets at the start of b with their content, or 0.
func groupLength(b []byte) int {
	if b[0] != '[' {
		return 0
	}
	depth := 0
	for i, c := range b[:min(len(b), longestGroup)] {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// prefixLength is the length of what may be before a stamp in its token: a bracket, a quote, or a key, as in time="…
func prefixLength(b []byte) int {
	n := 0
	for n < min(len(b), longestPrefix) && (isLetter(b[n]) || b[n] == '_' || b[n] == '@') {
		n++
	}
	if n > 0 {
		if n == len(b) || b[n] != '=' {
			return 0
		}
		n++
	}
	if n < len(b) && bytes.IndexByte([]byte(`[("'<`), b[n]) >= 0 {
		n++
	}
	return n
}

// sampleLine is a line of the sample.
type sampleLine struct {
	text      []byte
	continues bool // it is empty, indented or next to an indented line, as stack traces are
}

// newRecognizer finds the places of times and levels in the lines of a sample. A place is clear if nearly all lines have a time there in the
// same layout, without those that continue others.
func newRecognizer(sample []byte, whole bool, most int) *recognizer {
	lines := sampleLines(sample, whole, most)
	r := &recognizer{stamp: clearStamp(lines)}
	r.level = r.clearLevel(lines)
	for _, l := range lines {
		f := r.find(l.text)
		if f.timed && r.time == "" {
			r.time, r.at = string(f.text), f.stamp
		}
		if f.level != nil && r.name == "" {
			r.name = string(f.level)
		}
		r.digits = max(r.digits, f.stamp.digits)
	}
	return r
}

// sampleLines splits a sample. Without its end, the last line is left out.
func sampleLines(sample []byte, whole bool, most int) []sampleLine {
	var lines []sampleLine
	indented := false // the line before
	for len(sample) > 0 && len(lines) < most {
		line, rest, ended := bytes.Cut(sample, []byte{'\n'})
		if !ended && !whole {
			break
		}
		sample = rest
		line = bytes.TrimPrefix(bytes.TrimSuffix(line, []byte{'\r'}), byteOrderMark)
		indents := len(line) > 0 && (line[0] == ' ' || line[0] == '\t')
		if last := len(lines) - 1; indents && last >= 0 {
			lines[last].continues = true
		}
		lines = append(lines, sampleLine{line, len(line) == 0 || indents || indented})
		indented = indents
	}
	return lines
}

// tally counts the lines that have something at a place.
type tally struct{ lines, begins int } // begins: those that do not continue others

func (t *tally) add(l sampleLine) {
	t.lines++
	if !l.continues {
		t.begins++
	}
}

// count counts a line at a place.
func count[P comparable](places map[P]*tally, p P, l sampleLine) {
	if places[p] == nil {
		places[p] = &tally{}
	}
	places[p].add(l)
}

// isClear compares a tally with that of all lines.
func (t *tally) isClear(all tally) bool {
	return t.lines*100 >= clearPercent*(t.lines+all.begins-t.begins) && t.lines*100 >= all.lines
}

// clearStamp returns the first place of times in the lines. Those with a year are preferred.
func clearStamp(lines []sampleLine) *stampPlace {
	var all tally
	places := map[stampPlace]*tally{}
	for _, l := range lines {
		all.add(l)
		for t := range tokens(l.text) {
			if t.number >= stampTokens {
				break
			}
			countStamps(places, t, l)
		}
	}
	var best *stampPlace
	for p, t := range places {
		if t.isClear(all) && (best == nil || p.compare(best) < 0) {
			best = &p
		}
	}
	return best
}

// countStamps counts the stamps at the start of a token.
func countStamps(places map[stampPlace]*tally, t span, l sampleLine) {
	word := l.text[t.from:]
	prefix := prefixLength(word)
	for _, layout := range layouts {
		s, n := layout.cut(word[prefix:])
		if n == 0 || layout == "u" && (t.number > 1 || prefix+n == len(word)) { // other numbers may be anything
			continue
		}
		count(places, stampPlace{t.number, string(word[:prefix]), layout, s.zoned}, l)
		break
	}
}

// compare orders places: those with a year, then by the order in lines. The rest decides between equals only.
func (p *stampPlace) compare(q *stampPlace) int {
	rank := func(p *stampPlace) (year, zoned int) {
		if !p.layout.hasYear() {
			year = 1
		}
		if !p.zoned {
			zoned = 1
		}
		return year, zoned
	}
	py, pz := rank(p)
	qy, qz := rank(q)
	return cmp.Or(py-qy, p.token-q.token, pz-qz, strings.Compare(p.prefix, q.prefix), strings.Compare(string(p.layout), string(q.layout)))
}

// clearLevel returns the first place of levels in the lines with times, or in all lines if there are no times.
func (r *recognizer) clearLevel(lines []sampleLine) *levelPlace {
	var all tally
	places := map[levelPlace]*tally{}
	most := levelTokens
	if r.stamp == nil {
		most = bareTokens
	}
	for _, l := range lines {
		before, behind, ok := r.cut(l.text, &found{})
		if !ok {
			continue
		}
		all.add(l)
		for i, part := range [][]byte{before, behind} {
			for t := range tokens(part) {
				if t.number >= most {
					break
				}
				if levelIn(part[t.from:t.to], r.letters()) != nil {
					count(places, levelPlace{t.number, i == 1}, l)
				}
			}
		}
	}
	var best *levelPlace
	for p, t := range places {
		if t.isClear(all) && (best == nil || !p.behind && best.behind || p.behind == best.behind && p.token < best.token) {
			best = &p
		}
	}
	return best
}
