package pattern

import (
	"bytes"
	"unicode/utf8"
)

// segments are the parts of a pattern of LIKE between its %. Without any, and unless both anchors are set, every value
// matches.
type segments struct {
	list  []segment
	start bool // the first one is at the start of the value: no % before it
	end   bool // the last one is at the end of the value: no % behind it
}

// segment is a part of a pattern without %: literals, each followed by a number of arbitrary characters.
//
//	a%b_c_     has the segments {a} and {b, one character}, {c, one character}
type segment []piece

type piece struct {
	text []byte
	skip int // arbitrary characters behind text
}

// literal is the only text that matches, if there is only one.
func (s segment) literal() ([]byte, bool) {
	return s[0].text, len(s) == 1 && s[0].skip == 0
}

// parseLike reads a pattern of LIKE.
func parseLike(text string) segments {
	p := segments{start: true}
	var seg segment
	add := func(text string, skip int) {
		if last := len(seg) - 1; last >= 0 && (skip > 0 || seg[last].skip == 0) {
			seg[last].text, seg[last].skip = append(seg[last].text, text...), seg[last].skip+skip
		} else {
			seg = append(seg, piece{[]byte(text), skip})
		}
		p.end = true
	}
	for ; len(text) > 0; text = text[1:] {
		switch {
		case text[0] == '%':
			p.start = p.start && (seg != nil || len(p.list) > 0)
			p.end = false
			if seg != nil {
				p.list, seg = append(p.list, seg), nil
			}
		case text[0] == '_':
			add("", 1)
		case text[0] == '\\' && len(text) > 1:
			text = text[1:]
			add(text[:1], 0)
		default:
			add(text[:1], 0)
		}
	}
	if seg != nil {
		p.list = append(p.list, seg)
	}
	if len(p.list) == 0 && p.start {
		p.end = true // the empty pattern
	}
	return p
}

// matchPrefix is the length of the match at the start of v, or -1.
func (s segment) matchPrefix(v []byte) int {
	size := len(v)
	for _, p := range s {
		if !bytes.HasPrefix(v, p.text) {
			return -1
		}
		v = v[len(p.text):]
		for range p.skip {
			if len(v) == 0 {
				return -1
			}
			_, n := utf8.DecodeRune(v)
			v = v[n:]
		}
	}
	return size - len(v)
}

// find is the end of the first match in v, or -1. With last, the match must reach to the end of v.
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
		if n := s.matchPrefix(v[pos:]); n >= 0 && (!last || pos+n == len(v)) {
			return pos + n
		}
		_, n := utf8.DecodeRune(v[pos:])
		pos += n
	}
	return -1
}

// match takes the first match of each segment: a later one would leave less to those that follow.
func (p *segments) match(v []byte) bool {
	list := p.list
	if len(list) == 0 {
		return len(v) == 0 || !p.start
	}
	if p.start {
		n := list[0].matchPrefix(v)
		if n < 0 {
			return false
		}
		if v, list = v[n:], list[1:]; len(list) == 0 {
			return len(v) == 0 || !p.end
		}
	}
	for i := range list {
		n := list[i].find(v, p.end && i == len(list)-1)
		if n < 0 {
			return false
		}
		v = v[n:]
	}
	return true
}
