package index

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// question is what a condition says about the terms of a value.
type question struct {
	need  *need // of values that meet the condition; nil if it says nothing
	exact bool  // values with these terms meet the condition
	not   bool  // the condition is met by the others
	slow  bool  // values are matched with a regular expression
}

// need is what a value has: all of some needs, or one of some, or a term.
type need struct {
	all, any []*need
	term     wantedTerm
}

// wantedTerm is a term, or a part of one.
type wantedTerm struct {
	text     []byte
	before   bool // the term may begin before the text
	behind   bool // the term may go on behind the text
	pair     bool // the text is a pair of words
	distance int  // the term is like the text
}

// allOf joins needs, and those that are joined already. What says nothing is left out.
func allOf(needs []*need) *need {
	if len(needs) == 1 {
		return needs[0]
	}
	var all []*need
	for _, n := range needs {
		switch {
		case n == nil:
		case len(n.all) > 0:
			all = append(all, n.all...)
		default:
			all = append(all, n)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &need{all: all}
}

// anyOf says nothing if one of the needs does not.
func anyOf(needs []*need) *need {
	switch {
	case len(needs) == 0 || slices.Contains(needs, nil):
		return nil
	case len(needs) == 1:
		return needs[0]
	}
	return &need{any: needs}
}

// terms is the number of terms.
func (n *need) terms() int {
	if n == nil {
		return 0
	}
	sum := 0
	for _, one := range slices.Concat(n.all, n.any) {
		sum += one.terms()
	}
	return max(sum, 1)
}

// analyzer takes texts apart as an index does.
type analyzer struct {
	tokenizer analysis.Tokenizer
	collation analysis.Collation
	inside    bool // the index can be searched for parts of terms
	phrases   bool // the index has pairs of words
}

// maxAlternatives bounds the texts of a question. A set of more values says nothing.
const maxAlternatives = 1000

// questionOf is what a test of a column says. A JSON text may have escapes in the place of terms of the values in it, and terms that are rewritten are
// not in the text.
func (a analyzer) questionOf(p Part) question {
	if p.Inside > 0 || a.tokenizer.Rewrites() {
		return question{}
	}
	return a.question(p.Test)
}

// question is what a condition says about the terms of a value.
func (a analyzer) question(test predicate.Test) question {
	switch test := test.(type) {
	case *predicate.Text:
		if w := test.Words(); w != nil {
			need, exact := a.ofWords(w)
			return question{need: need, exact: exact, not: test.Not}
		}
		if test.Not { // values that have what the pattern requires may still not match it
			return question{}
		}
		return question{need: a.ofRequired(test.Required()), slow: test.IsRegexp()}
	case valueset.Bytes:
		if len(test) > maxAlternatives {
			return question{}
		}
		var texts []*need
		for _, r := range test {
			part, whole := r.Constant()
			if !whole {
				var ok bool
				if part, ok = r.Prefix(); !ok {
					return question{}
				}
			}
			texts = append(texts, a.ofText(part, true, whole))
		}
		return question{need: anyOf(texts)}
	}
	return question{}
}

// ofWords is exact if values with the terms have the words: all but those of which the index has only parts.
func (a analyzer) ofWords(w *pattern.Words) (n *need, exact bool) {
	if a.tokenizer == analysis.Trivial || !utf8.Valid(w.Text) {
		return nil, false
	}
	if w.Distance > 0 && !a.inside {
		return nil, false
	}
	if w.Distance > 0 {
		return &need{term: wantedTerm{text: w.Text, distance: w.Distance}}, true
	}
	if w.Phrase { // of an address it wants the numbers, whatever stands between them
		a.tokenizer = analysis.Word
	}
	n = a.ofText(w.Text, true, !w.Prefix)
	if n != nil && n.term.pair {
		return n, w.Phrase
	}
	if n == nil || n.all != nil || n.term.behind != w.Prefix || w.Prefix && a.tokenizer == analysis.Log && beginsAddress(w.Text) {
		return n, false
	}
	return n, w.Phrase || len(n.term.text) == len(w.Text)
}

// beginsAddress reports whether a text of one word may be the first number of an address, which may stand behind a letter that is not of ASCII.
func beginsAddress(text []byte) bool {
	return len(text) <= 3 && len(bytes.TrimLeft(text, "0123456789")) == 0
}

func (a analyzer) ofRequired(r *pattern.Required) *need {
	if r == nil {
		return nil
	}
	list := func(all []*pattern.Required) (needs []*need) {
		for _, one := range all {
			needs = append(needs, a.ofRequired(one))
		}
		return needs
	}
	switch {
	case len(r.All) > 0:
		return allOf(list(r.All))
	case len(r.Any) > 0:
		return anyOf(list(r.Any))
	}
	start, end := r.Start, r.End
	if a.tokenizer != analysis.Trivial {
		start, end = r.WordStart, r.WordEnd
	}
	if !r.Fold {
		return a.ofText(r.Bytes, start, end)
	}
	if a.collation == analysis.CasePreserving {
		a.inside = false // whose search tells cases apart
	}
	var spellings []*need
	for _, text := range upperCases(r.Bytes) {
		spellings = append(spellings, a.ofText(text, start, end))
	}
	return anyOf(spellings)
}

// maxSpellings bounds the texts in upper case that differ only in case.
const maxSpellings = 16

// upperCases returns the upper cases of all texts that differ from a text only in case. There are several if it has a letter like
// the "k", which is the same as the sign of Kelvin but for case, and that is upper case. Of too many, none is returned.
func upperCases(text []byte) [][]byte {
	all := [][]byte{nil}
	for _, r := range string(text) {
		var upper []rune
		for c := unicode.SimpleFold(r); ; c = unicode.SimpleFold(c) {
			if u := analysis.Upper(c); !slices.Contains(upper, u) {
				upper = append(upper, u)
			}
			if c == r {
				break
			}
		}
		if len(all)*len(upper) > maxSpellings {
			return nil
		}
		longer := make([][]byte, 0, len(all)*len(upper))
		for _, t := range all {
			for _, u := range upper {
				longer = append(longer, utf8.AppendRune(slices.Clip(t), u))
			}
		}
		all = longer
	}
	return all
}

// ofText is what a value has that contains a text. start says that no term of the value goes on to the left of the text, and end
// that none does to the right.
func (a analyzer) ofText(text []byte, start, end bool) *need {
	text = wholeCharacters(text, start, end)
	needs, paired := a.pairs(text, start, end)
	var found analysis.Terms
	found.Find(a.tokenizer, text)
	for _, s := range found.Spans {
		if slices.Contains(paired, s) {
			continue
		}
		t := wantedTerm{text: text[s.From:s.To], before: s.From == 0 && !start, behind: int(s.To) == len(text) && !end}
		if a.tokenizer == analysis.Log && hasDot(t.text) && (t.before || t.behind) {
			continue // perhaps no address
		}
		if len(t.text) > maxUncut {
			t.text, t.behind = t.text[:wholeRunes(t.text, maxUncut)], true
		}
		if t.before && !a.inside {
			continue
		}
		if a.collation == analysis.CaseInsensitive {
			t.text = analysis.AppendUpper(nil, t.text)
		}
		needs = append(needs, &need{term: t})
	}
	return allOf(needs)
}

// pairs returns the pairs of whole words in a text, and these words.
func (a analyzer) pairs(text []byte, start, end bool) (needs []*need, paired []analysis.Span) {
	if !a.phrases || a.tokenizer == analysis.Trivial {
		return nil, nil
	}
	words := analysis.AppendWords(nil, text)
	if len(words) > 0 && !end && int(words[len(words)-1].To) == len(text) {
		words = words[:len(words)-1]
	}
	if len(words) > 0 && !start && words[0].From == 0 {
		words = words[1:]
	}
	for i := 1; i < len(words); i++ {
		first, second := words[i-1], words[i]
		pair := term.AppendPair(nil, text[first.From:first.To], text[second.From:second.To])
		if len(pair) > maxUncut { // perhaps there is none for so long words
			continue
		}
		if a.collation == analysis.CaseInsensitive {
			pair = analysis.AppendUpper(nil, pair)
		}
		needs = append(needs, &need{term: wantedTerm{text: pair, pair: true}})
		paired = append(paired, first, second)
	}
	return needs, paired
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

// wholeRunes is the length of the characters of a text that end within n bytes.
func wholeRunes(text []byte, n int) int {
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return n
}
