package pattern

import (
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
func (p *Pattern) Texts() []Text {
	w := p.words
	switch {
	case w == nil:
		return p.Required().rarest()
	case len(w.Text) == 0 || !utf8.Valid(w.Text):
		return nil
	case !w.Phrase:
		return []Text{{Bytes: w.Text, Fold: true, WordStart: true}}
	}
	var words Required
	for _, s := range analysis.AppendWords(nil, w.Text) {
		words.All = append(words.All, &Required{Text: Text{Bytes: w.Text[s.From:s.To], Fold: true, WordStart: true}})
	}
	return words.rarest()
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

// rarest are the rarest texts of which one is required, nil if there are none.
func (r *Required) rarest() (texts []Text) {
	switch {
	case r == nil:
		return nil
	case r.Any != nil:
		for _, one := range r.Any {
			more := one.rarest()
			if more == nil || len(texts)+len(more) > MaxTexts {
				return nil
			}
			texts = append(texts, more...)
		}
		return texts
	case r.All != nil:
		for _, one := range r.All {
			texts = Rarer(texts, one.rarest())
		}
		return texts
	}
	return []Text{r.Text}
}

// Rarer are those of two lists of texts of which values probably have fewer. An empty list is of no use.
func Rarer(a, b []Text) []Text {
	rarity := func(texts []Text) (r int) {
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
	if len(a) == 0 || len(b) > 0 && rarity(b) > rarity(a) {
		return b
	}
	return a
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

// Next finds a text that lies in data from low on, and whose search does not begin before at. It returns where the text begins and
// ends, and the place for the next call. There is none if next is negative.
func (f *Finder) Next(data []byte, low, at int) (from, to, next int) {
	if f.texts == nil {
		i := f.needle.Index(data[at:])
		if i < 0 {
			return 0, 0, -1
		}
		return at + i, at + i + len(f.needle.Text()), at + i + 1
	}
	for {
		place, groups := f.starts.Next(data, at)
		if groups == 0 {
			return 0, 0, -1
		}
		at = place + 1
		for i := range f.texts {
			if t := &f.texts[i]; groups>>(i%8)&1 != 0 {
				if from, to, ok := t.at(data, low, place); ok {
					return from, to, at
				}
			}
		}
	}
}

// at is where a text lies whose rare bytes are at a place.
func (t *foundText) at(data []byte, low, place int) (from, to int, ok bool) {
	if !t.Fold {
		from, to = place-t.start, place-t.start+len(t.Bytes)
		return from, to, from >= low && to <= len(data) && string(data[from:to]) == string(t.Bytes)
	}
	from, to = place, place
	for behind := t.Bytes[t.start:]; len(behind) > 0; {
		r, n := utf8.DecodeRune(behind)
		have, size := utf8.DecodeRune(data[to:])
		if !t.equal(r, have, size) {
			return 0, 0, false
		}
		behind, to = behind[n:], to+size
	}
	for before := t.Bytes[:t.start]; len(before) > 0; {
		r, n := utf8.DecodeLastRune(before)
		have, size := utf8.DecodeLastRune(data[low:from])
		if !t.equal(r, have, size) {
			return 0, 0, false
		}
		before, from = before[:len(before)-n], from-size
	}
	return from, to, true
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
	value := 0
	for at := low; ; {
		from, to, next := f.Next(data, low, at)
		if next < 0 {
			return
		}
		v := value + search.EndsBefore(ends[value:], from)
		if at = next; to > int(ends[v]) { // it ends in another value
			continue
		}
		dst[v/8] |= 1 << (v % 8)
		value, low = v+1, int(ends[v])
		at = max(at, low)
	}
}
