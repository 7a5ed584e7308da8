package predicate

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Text is a test that looks into byte strings: parts, patterns, regular
// expressions, all that ignore case.
type Text struct {
	// Not turns the answer around, for all values but null.
	Not bool
	// Prefix is what every value begins with that the test (without Not) is met
	// by.
	Prefix []byte
	// Parts are byte strings that each of these values contains.
	Parts [][]byte

	pattern pattern        // if regex is nil
	regex   *regexp.Regexp // to search for, in values that have all Parts
	fold    bool           // of the pattern: values are folded first
}

// Match tells whether a value meets the test. scratch is memory for it to use,
// which it may make larger; nil is allowed.
func (t *Text) Match(value []byte, scratch *[]byte) bool {
	return t.match(value, scratch) != t.Not
}

func (t *Text) match(value []byte, scratch *[]byte) bool {
	if t.regex != nil {
		return t.regex.Match(value)
	}
	if t.fold {
		var own []byte
		if scratch == nil {
			scratch = &own
		}
		*scratch = appendFolded((*scratch)[:0], value)
		value = *scratch
	}
	return t.pattern.match(value)
}

// pattern is the segments between the % of LIKE.
type pattern struct {
	segments []segment
	begins   bool // no % before the first segment
	ends     bool // no % behind the last
}

// segment is what stands between two % of LIKE: literals, each with a number of
// characters behind it that may be any.
type segment []piece

type piece struct {
	text []byte
	any  int
}

// literal is the only text that fits, if there is only one.
func (s segment) literal() ([]byte, bool) {
	return s[0].text, len(s) == 1 && s[0].any == 0
}

// like reads a pattern of LIKE.
func like(s string) pattern {
	p := pattern{begins: true}
	var seg segment
	add := func(text string, any int) {
		if last := len(seg) - 1; last >= 0 && (any > 0 || seg[last].any == 0) {
			seg[last].text, seg[last].any = append(seg[last].text, text...), seg[last].any+any
		} else {
			seg = append(seg, piece{[]byte(text), any})
		}
		p.ends = true
	}
	for ; len(s) > 0; s = s[1:] {
		switch {
		case s[0] == '%':
			p.begins = p.begins && (seg != nil || len(p.segments) > 0)
			p.ends = false
			if seg != nil {
				p.segments, seg = append(p.segments, seg), nil
			}
		case s[0] == '_':
			add("", 1)
		case s[0] == '\\' && len(s) > 1:
			s = s[1:]
			add(s[:1], 0)
		default:
			add(s[:1], 0)
		}
	}
	if seg != nil {
		p.segments = append(p.segments, seg)
	}
	if len(p.segments) == 0 && p.begins {
		p.ends = true // the empty pattern
	}
	return p
}

// exact is the only value that fits, if there is only one.
func (p *pattern) exact() (string, bool) {
	if !p.begins || !p.ends || len(p.segments) > 1 {
		return "", false
	}
	if len(p.segments) == 0 {
		return "", true
	}
	text, ok := p.segments[0].literal()
	return string(text), ok
}

// at is the length of what fits at the beginning of v, -1 if nothing does.
func (s segment) at(v []byte) int {
	size := len(v)
	for _, p := range s {
		if !bytes.HasPrefix(v, p.text) {
			return -1
		}
		v = v[len(p.text):]
		for range p.any {
			if len(v) == 0 {
				return -1
			}
			_, n := utf8.DecodeRune(v)
			v = v[n:]
		}
	}
	return size - len(v)
}

// find is the end of the first place in v that fits, -1 if there is none. With
// last it must be the end of v.
func (s segment) find(v []byte, last bool) int {
	text, literal := s.literal()
	if literal && last {
		if bytes.HasSuffix(v, text) {
			return len(v)
		}
		return -1
	}
	for pos := 0; pos < len(v); {
		i := bytes.Index(v[pos:], text)
		if i < 0 {
			return -1
		}
		pos += i
		if n := s.at(v[pos:]); n >= 0 && (!last || pos+n == len(v)) {
			return pos + n
		}
		_, n := utf8.DecodeRune(v[pos:])
		pos += n
	}
	return -1
}

func (p *pattern) match(v []byte) bool {
	segments := p.segments
	if len(segments) == 0 {
		return len(v) == 0 || !p.begins
	}
	if p.begins {
		n := segments[0].at(v)
		if n < 0 {
			return false
		}
		if v, segments = v[n:], segments[1:]; len(segments) == 0 {
			return len(v) == 0 || !p.ends
		}
	}
	for i := range segments {
		n := segments[i].find(v, p.ends && i == len(segments)-1)
		if n < 0 {
			return false
		}
		v = v[n:]
	}
	return true
}

// literalRegex gives what a regular expression asks for if that is a text, at
// one end or anywhere.
func literalRegex(re *syntax.Regexp) (pattern, bool) {
	p := pattern{}
	for i, item := range concatenated(re) {
		switch {
		case item.Op == syntax.OpBeginText && i == 0:
			p.begins = true
		case p.ends || p.begins && item.Op == syntax.OpBeginText:
			return p, false
		case item.Op == syntax.OpEndText:
			p.ends = true
		case item.Op == syntax.OpEmptyMatch:
		default:
			text, ok := literalText(item)
			if !ok || len(p.segments) > 0 {
				return p, false
			}
			p.segments = []segment{{{text: []byte(text)}}}
		}
	}
	if len(p.segments) == 0 {
		p.begins = p.begins && p.ends // ^ alone is met by all
	}
	return p, true
}

// concatenated are the parts that must follow each other.
func concatenated(re *syntax.Regexp) []*syntax.Regexp {
	if re.Op == syntax.OpConcat {
		return re.Sub
	}
	return []*syntax.Regexp{re}
}

// literalText is the text that a part stands for. The character U+FFFD would
// stand for bytes that are not UTF-8 too.
func literalText(re *syntax.Regexp) (string, bool) {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	text := string(re.Rune)
	return text, !strings.ContainsRune(text, utf8.RuneError)
}

// known finds what must be in a text for a regular expression to match.
func (t *Text) known(re *syntax.Regexp) {
	items := concatenated(re)
	for i, item := range items {
		if item.Op == syntax.OpPlus {
			item = item.Sub[0]
		}
		text, ok := literalText(item)
		if !ok {
			continue
		}
		if i == 1 && items[0].Op == syntax.OpBeginText {
			t.Prefix = []byte(text)
		}
		t.Parts = append(t.Parts, []byte(text))
	}
}
