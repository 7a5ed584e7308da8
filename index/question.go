package index

import (
	"bytes"
	"unicode/utf8"

	"github.com/amudai/amudai-go/index/analysis"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// question is what a condition says about the terms of a value: it has all terms of one of several lists. No lists say nothing.
type question struct {
	any   [][]wantedTerm
	exact bool // values with these terms meet the condition
	not   bool // the condition is met by the others
}

// wantedTerm is a term, or the beginning of one.
type wantedTerm struct {
	text   []byte
	prefix bool
}

// maxAlternatives bounds the lists of a question. For a set of more values it says nothing.
const maxAlternatives = 1000

// question is what a condition on a field says about its terms.
func (s *termSettings) question(field int, test predicate.Test) question {
	t := s.tokenizers[field]
	switch test := test.(type) {
	case *predicate.Text:
		q := ofPattern(t, test.Pattern)
		q.not = test.Not
		return q
	case valueset.Bytes:
		if len(test) > maxAlternatives {
			return question{}
		}
		var q question
		for _, r := range test {
			part, whole := r.Constant()
			if !whole {
				var ok bool
				if part, ok = r.Prefix(); !ok {
					return question{}
				}
			}
			terms := termsOf(t, part, true, whole, !whole)
			if len(terms) == 0 {
				return question{}
			}
			q.any = append(q.any, terms)
		}
		return q
	}
	return question{}
}

func ofPattern(t analysis.Tokenizer, p *pattern.Pattern) question {
	if w := p.Words(); w != nil {
		if t == analysis.Trivial || !utf8.Valid(w.Text) {
			return question{}
		}
		if w.Phrase { // of an address it wants the numbers, whatever stands between them
			t = analysis.Word
		}
		terms := termsOf(t, w.Text, true, !w.Prefix, w.Prefix)
		if len(terms) == 0 {
			return question{}
		}
		whole := len(terms) == 1 && (w.Phrase && !terms[0].prefix || len(terms[0].text) == len(w.Text))
		return question{any: [][]wantedTerm{terms}, exact: whole && !(w.Prefix && t == analysis.Log && beginsAddress(w.Text))}
	}
	var all []wantedTerm
	if len(p.Prefix) > 0 {
		all = termsOf(t, p.Prefix, true, false, true)
	}
	if t != analysis.Trivial {
		for _, part := range p.Parts {
			all = append(all, termsOf(t, part, false, false, true)...)
		}
	}
	if len(all) == 0 {
		return question{}
	}
	return question{any: [][]wantedTerm{all}}
}

// termsOf returns the terms that every value has which contains a text. start says that no term of the value goes on to the left of the text, and end that none does to the
// right. With last, the last term counts as the beginning of one if it may go on.
func termsOf(t analysis.Tokenizer, text []byte, start, end, last bool) (terms []wantedTerm) {
	if !start || !end {
		text = wholeCharacters(text, start, end)
	}
	for _, s := range t.AppendAllTerms(nil, text) {
		term := text[s.From:s.To]
		open := int(s.To) == len(text) && !end // may go on
		address := len(term) > 0 && t == analysis.Log && hasDot(term)
		switch {
		case s.From == 0 && !start:
		case len(term) > maxUncut && t != analysis.Trivial:
			terms = append(terms, wantedTerm{term[:wholeRunes(term, maxUncut)], true})
		case !open:
			terms = append(terms, wantedTerm{term, false})
		case last && !address:
			terms = append(terms, wantedTerm{term, true})
		}
	}
	return terms
}

// wholeCharacters is a text without the bytes at its ends that may be parts of characters, unless it begins, or ends, a value.
func wholeCharacters(text []byte, start, end bool) []byte {
	for !start && len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	for at := len(text) - 1; !end && at >= max(len(text)-utf8.UTFMax, 0); at-- {
		if utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				text = text[:at]
			}
			break
		}
	}
	return text
}

// maxUncut is how long a term may be so that the same one in a value is surely not cut: in upper case, half of the bytes may be left.
const maxUncut = analysis.MaxTermLen/2 - utf8.UTFMax/2

// hasDot tells addresses from words.
func hasDot(term []byte) bool { return bytes.IndexByte(term, '.') >= 0 }

// beginsAddress reports whether a text of one word may be the first number of an address, which may stand behind a letter that is not of ASCII.
func beginsAddress(text []byte) bool {
	return len(text) <= 3 && len(bytes.TrimLeft(text, "0123456789")) == 0
}

// wholeRunes is the length of the characters of a text that end within n bytes.
func wholeRunes(text []byte, n int) int {
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return n
}
