package filter

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

// segment is characters; any is true for those that stand for any.
type segment struct {
	text []byte // all of it if any is nil
	any  []bool // per character
}

// like reads a pattern of LIKE.
func like(s string) pattern {
	p := pattern{begins: true}
	var seg segment
	var any []bool
	wild := false
	flush := func() {
		if len(any) > 0 {
			if wild {
				seg.any = any
			}
			p.segments = append(p.segments, seg)
		}
		seg, any, wild = segment{}, nil, false
	}
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		switch c := s[0]; {
		case c == '%':
			flush()
			p.begins = p.begins && len(p.segments) > 0
			p.ends = false
			s = s[1:]
			continue
		case c == '_':
			wild = true
			seg.text, any = append(seg.text, c), append(any, true)
		default:
			if c == '\\' && len(s) > 1 {
				s = s[1:]
				_, n = utf8.DecodeRuneInString(s)
			}
			seg.text, any = append(seg.text, s[:n]...), append(any, false)
		}
		p.ends = true
		s = s[n:]
	}
	flush()
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
	return string(p.segments[0].text), p.segments[0].any == nil
}

// at is the length of what fits at the beginning of v, -1 if nothing does.
func (s *segment) at(v []byte) int {
	if s.any == nil {
		if bytes.HasPrefix(v, s.text) {
			return len(s.text)
		}
		return -1
	}
	text, pos := s.text, 0
	for _, any := range s.any {
		if pos == len(v) {
			return -1
		}
		_, n := utf8.DecodeRune(v[pos:])
		_, k := utf8.DecodeRune(text)
		if !any && !bytes.Equal(v[pos:pos+n], text[:k]) {
			return -1
		}
		pos, text = pos+n, text[k:]
	}
	return pos
}

// find is the end of the first place in v that fits, -1 if there is none. With
// last it must be the end of v.
func (s *segment) find(v []byte, last bool) int {
	if s.any == nil {
		i := -1
		if last && bytes.HasSuffix(v, s.text) {
			i = len(v) - len(s.text)
		} else if !last {
			i = bytes.Index(v, s.text)
		}
		if i < 0 {
			return -1
		}
		return i + len(s.text)
	}
	for pos := 0; pos < len(v); {
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
			p.segments = []segment{{text: []byte(text)}}
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
