package pattern

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Finder finds texts in bytes without dividing these into values first. Every match of what it was made of has one of the texts. It
// may be used by many goroutines.
type Finder struct {
	// Exact tells that every value with one of the texts is a match.
	Exact bool

	needle search.Needle // the only text, if case matters
	texts  []foundText
	starts search.Starts
}

// foundText is a text with the place where a search for it begins, which is one of rare bytes.
type foundText struct {
	Text
	start int
}

// NewFinder returns a finder of the rarest texts that every match of a pattern has one of, or nil if nothing is known.
func NewFinder(p *Pattern) *Finder {
	texts := p.Texts()
	if texts == nil {
		return nil
	}
	f := FinderOf(texts)
	f.Exact = p.exact(texts)
	return f
}

// Texts are the rarest texts of which every match has one, nil if none are known.
func (p *Pattern) Texts() []Text { return Rarest(p.Alternatives()) }

// Alternatives are lists of texts. Every match has a text of each list.
func (p *Pattern) Alternatives() [][]Text {
	w := p.words
	switch {
	case w == nil:
		return p.Required().alternatives()
	case len(w.Text) == 0 || w.fuzzy != nil || !utf8.Valid(w.Text):
		return nil
	case !w.Phrase:
		return [][]Text{{{Bytes: w.Text, Fold: true, WordStart: true}}}
	}
	var words Required
	for _, s := range analysis.AppendWords(nil, w.Text) {
		words.All = append(words.All, &Required{Text: Text{Bytes: w.Text[s.From:s.To], Fold: true, WordStart: true}})
	}
	return words.alternatives()
}

// exact reports whether every value with one of some texts, which are those of the pattern, is a match.
func (p *Pattern) exact(texts []Text) bool {
	anchored := func(t Text) bool { return t.Start || t.End || t.WordStart || t.WordEnd }
	switch {
	case p.words != nil || slices.ContainsFunc(texts, anchored):
		return false
	case p.regex != nil:
		return p.texts
	}
	s := &p.segments
	return !s.start && !s.end && len(s.list) == 1 && len(s.list[0]) == 1 && s.list[0][0].skip == 0
}

// alternatives are those of matches that have what is required.
func (r *Required) alternatives() (all [][]Text) {
	switch {
	case r == nil:
		return nil
	case r.Any != nil:
		var texts []Text
		for _, one := range r.Any {
			more := Rarest(one.alternatives())
			if more == nil || len(texts)+len(more) > MaxTexts {
				return nil
			}
			texts = append(texts, more...)
		}
		return [][]Text{texts}
	case r.All != nil:
		for _, one := range r.All {
			all = append(all, one.alternatives()...)
		}
		return all
	case len(r.Bytes) == 0:
		return nil
	}
	return [][]Text{{r.Text}}
}

// Rarest is the list of texts of which values probably have fewest, nil if there is none.
func Rarest(lists [][]Text) []Text {
	if len(lists) == 0 {
		return nil
	}
	return slices.MaxFunc(lists, func(a, b []Text) int { return cmp.Compare(rarity(a), rarity(b)) })
}

// ByRarity is the lists, the rarest first.
func ByRarity(lists [][]Text) [][]Text {
	return slices.SortedStableFunc(slices.Values(lists), func(a, b []Text) int { return cmp.Compare(rarity(b), rarity(a)) })
}

// rarity is greater of texts of which values probably have fewer.
func rarity(texts []Text) (r int) {
	for i, t := range texts {
		n := 0
		for _, c := range t.Bytes {
			n += 5 + search.Rarity(lower(c))
		}
		if i == 0 || n < r {
			r = n
		}
	}
	return r - 3*len(texts)
}

func lower(c byte) byte { return c | 0x20*byte(bitmap.Bit('A' <= c && c <= 'Z')) }

// FinderOf returns a finder of texts, which are not empty.
func FinderOf(texts []Text) *Finder {
	f := &Finder{}
	if len(texts) == 1 && (!texts[0].Fold || !hasSpellings(texts[0].Bytes)) {
		f.needle = search.New(texts[0].Bytes)
		return f
	}
	for i, t := range texts {
		found := foundText{t, t.rareStart()}
		f.texts = append(f.texts, found)
		for _, s := range t.spellings(t.Bytes[found.start:], nil, nil) {
			f.starts.Add(i%8, s)
		}
	}
	return f
}

// hasSpellings reports whether a text is the same as another one if case does not matter.
func hasSpellings(text []byte) bool {
	return slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' })
}

// rareStart is the character of a text from which on the first bytes are the rarest.
func (t Text) rareStart() (start int) {
	best := -1
	for i := range t.Bytes {
		if !utf8.RuneStart(t.Bytes[i]) && t.Fold {
			continue
		}
		rarity := 0
		for _, c := range t.Bytes[i:min(i+search.StartBytes, len(t.Bytes))] {
			rarity += search.Rarity(lower(c))
			if c = lower(c); t.Fold && (c >= utf8.RuneSelf || c == 'k' || c == 's' || c == 'i') { // other characters are the same
				rarity -= 8
			}
		}
		if rarity > best && (start == 0 || i+search.StartBytes <= len(t.Bytes)) {
			start, best = i, rarity
		}
	}
	return start
}

// spellings adds all spellings of the beginning of a text to a list, behind what was read of them so far.
func (t Text) spellings(text, sofar []byte, all [][]byte) [][]byte {
	switch {
	case !t.Fold:
		return append(all, text[:min(len(text), search.StartBytes)])
	case len(sofar) >= search.StartBytes || len(text) == 0:
		return append(all, sofar)
	}
	r, n := utf8.DecodeRune(text)
	sofar = slices.Clip(sofar)
	for _, s := range t.same(r) {
		all = t.spellings(text[n:], utf8.AppendRune(sofar, s), all)
	}
	return all
}

// same are the characters that are the same as r if case does not matter.
func (t Text) same(r rune) []rune {
	all := []rune{r}
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		all = append(all, c)
	}
	if t.WordStart && foldRune(r) == 'I' {
		all = append(all, dotless)
	}
	return all
}

// dotless is the letter whose upper case is I, which differs from it in more than case by Unicode's folding. Words take both for the same.
const dotless = 'ı'

// Next is a place within the first text in data, or -1.
func (f *Finder) Next(data []byte) int {
	if f.texts == nil {
		return f.needle.Index(data)
	}
	for at := 0; ; at++ {
		var groups byte
		if at, groups = f.starts.Next(data, at); groups == 0 {
			return -1
		}
		if f.at(data, at, groups) {
			return at
		}
	}
}

// at reports whether there is a text in data whose rare bytes are at a place. It is one of some groups.
func (f *Finder) at(data []byte, place int, groups byte) bool {
	for i := range f.texts {
		if groups>>(i%8)&1 != 0 && f.texts[i].at(data, place) {
			return true
		}
	}
	return false
}

func (t *foundText) at(data []byte, place int) bool {
	if !t.Fold {
		from, to := place-t.start, place-t.start+len(t.Bytes)
		return from >= 0 && to <= len(data) && string(data[from:to]) == string(t.Bytes)
	}
	for before, have := t.Bytes[:t.start], data[:place]; len(before) > 0; {
		r, n := utf8.DecodeLastRune(before)
		h, size := utf8.DecodeLastRune(have)
		if !t.equal(r, h, size) {
			return false
		}
		before, have = before[:len(before)-n], have[:len(have)-size]
	}
	for behind, have := t.Bytes[t.start:], data[place:]; len(behind) > 0; {
		r, n := utf8.DecodeRune(behind)
		h, size := utf8.DecodeRune(have)
		if !t.equal(r, h, size) {
			return false
		}
		behind, have = behind[n:], have[size:]
	}
	return true
}

// equal reports whether a character, and one that was read with some bytes, are the same if case does not matter.
func (t *foundText) equal(r, have rune, size int) bool {
	switch {
	case have == utf8.RuneError && size <= 1: // no character
		return false
	case r == have:
		return true
	}
	if r < utf8.RuneSelf && have < utf8.RuneSelf {
		return upper[r] == upper[have]
	}
	return foldRune(r) == foldRune(have) || t.WordStart && have == dotless && foldRune(r) == 'I'
}

// Containing sets the bits of those values that have one of the texts. They lie back to back in data, from a place on to its end, and
// end at ends.
func Containing[O int32 | int64](dst []byte, data []byte, low int, ends []O, f *Finder) {
	if f.texts == nil {
		search.Containing(dst, data, low, ends, &f.needle)
		return
	}
	value, begin := 0, low
	for at := low; ; at++ {
		var groups byte
		if at, groups = f.starts.Next(data, at); groups == 0 {
			return
		}
		if n := search.EndsBefore(ends[value:], at); n > 0 {
			value += n
			begin = int(ends[value-1])
		}
		if end := int(ends[value]); f.at(data[begin:end], at-begin, groups) {
			dst[value/8] |= 1 << (value % 8)
			at = end - 1
		}
	}
}
