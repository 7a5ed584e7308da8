package analysis

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"golang.org/x/text/unicode/norm"

	"github.com/amudai/amudai-go/internal/base/ascii"
)

// Terms are the terms of a text. The zero value has none, and room for all is reused.
type Terms struct {
	Spans []Span
	Text  []byte // which they are places of: the text itself, or what the tokenizer makes of it, in upper case

	folded, room, upper []byte
	stems               map[string]string // by word, of one tokenizer
	of                  Tokenizer
}

// Rewrites reports whether terms are other than parts of the text.
func (t Tokenizer) Rewrites() bool { return t >= Folded }

// Unstemmed is the tokenizer of beginnings of terms, and of terms that need not be right to the letter.
func (t Tokenizer) Unstemmed() Tokenizer {
	if t == English || t == German {
		return Folded
	}
	return t
}

// maxRewritten is the most bytes of a text that are rewritten, which makes them up to eleven times as many. Terms behind them are not found.
const maxRewritten = 256 << 20

// Find finds the terms of a text, which is to be kept as long as they are used: those of addresses first, then the others, each in the order of the
// text. Bytes that are not UTF-8 separate terms. The text must be shorter than 4 GiB. Addresses may overlap: those of "1.10.1.2.3" are "1.10.1.2"
// and "10.1.2.3". So each address in a text that is searched for is found wherever it stands. Pairs of characters overlap, too.
func (x *Terms) Find(t Tokenizer, text []byte) {
	x.Text, x.Spans = text, x.Spans[:0]
	switch t {
	case Trivial:
		if len(text) > 0 {
			x.Spans = append(x.Spans, Span{0, cut(text, 0, len(text), MaxTermLen)})
		}
		return
	case Log:
		x.Spans = appendAddresses(x.Spans, text)
	case Folded, English, German:
		x.rewrite(t, text[:min(len(text), maxRewritten)])
		return
	}
	x.Spans = appendWords(x.Spans, text, MaxTermLen)
}

// All are the terms.
func (x *Terms) All(yield func(term []byte) bool) {
	for _, s := range x.Spans {
		if !yield(x.Text[s.From:s.To]) {
			return
		}
	}
}

func (x *Terms) rewrite(t Tokenizer, text []byte) {
	if ascii.Only(text) {
		x.folded = AppendUpper(x.folded[:0], text)
	} else {
		x.fold(t, text)
	}
	x.Text = x.folded
	x.Spans = appendPairs(appendWords(x.Spans, x.Text, len(x.Text)), x.Text)
	if t != Folded {
		x.stem(t)
	}
	for i, s := range x.Spans {
		x.Spans[i].To = cut(x.Text, int(s.From), int(s.To), MaxTermLen)
	}
}

// fold makes a text of letters in upper case, without marks; but German stems are found by marks, and lose them then.
func (x *Terms) fold(t Tokenizer, text []byte) {
	form := norm.NFKD
	if t == German {
		form = norm.NFKC
	}
	x.upper = form.Append(x.upper[:0], text...)
	x.room = appendUnmarked(x.room[:0], x.upper)
	x.upper = AppendUpper(x.upper[:0], x.room)
	x.folded = norm.NFC.Append(x.folded[:0], x.upper...) // Hangul, and Kana with its marks
}

// appendUnmarked appends a decomposed text without marks. Those that stay are vowels of the scripts of India and its neighbours, and tell Kana apart. A sharp s is two.
func appendUnmarked(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf || !unicode.Is(unicode.Mn, r) && r != 'ß' && r != 'ẞ', r == '\u3099', r == '\u309a':
			dst = append(dst, text[:n]...)
		case r == 'ß' || r == 'ẞ':
			dst = append(dst, "SS"...)
		case unicode.Is(unicode.Other_Alphabetic, r) && r >= firstIndic:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

// firstIndic is the first character of the scripts of India. Before them, of Hebrew and Arabic, vowels are marks that most texts leave out.
const firstIndic = '\u0900'

// stem replaces words by their stems. Pairs of characters, and words that the language does not have, stay as they are.
func (x *Terms) stem(t Tokenizer) {
	if x.of != t || len(x.stems) >= maxStems || x.stems == nil {
		x.stems, x.of = map[string]string{}, t
	}
	x.room = x.room[:0]
	for i, s := range x.Spans {
		from := len(x.room)
		x.room = append(x.room, x.stemOf(t, x.Text[s.From:s.To])...)
		x.Spans[i] = Span{uint32(from), uint32(len(x.room))}
	}
	x.Text = x.room
}

// maxStems is how many stems are remembered, and maxStemmed the most bytes of a word that has one: numbers and codes do not fill the memory.
const (
	maxStems   = 1 << 14
	maxStemmed = 48
)

func (x *Terms) stemOf(t Tokenizer, word []byte) string {
	if stem, ok := x.stems[string(word)]; ok {
		return stem
	}
	stem := string(word)
	if len(word) <= maxStemmed && !bytes.ContainsAny(word, "0123456789") && !isPaired(word) {
		env := snowballstem.NewEnv(strings.ToLower(stem))
		if t == German {
			german.Stem(env)
		} else {
			english.Stem(env)
		}
		stem = string(AppendUpper(nil, []byte(env.Current())))
	}
	if t == German {
		stem = string(norm.NFC.Bytes(AppendUpper(nil, appendUnmarked(nil, norm.NFKD.Bytes([]byte(stem))))))
	}
	if len(word) <= maxStemmed {
		x.stems[string(word)] = stem
	}
	return stem
}

// firstPaired is the first character that belongs to scripts without spaces; isPaired reports whether a text has one.
const firstPaired = '\u1100'

func isPaired(text []byte) bool {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if isPairedRune(r) {
			return true
		}
		i += n
	}
	return false
}

// IsPaired reports whether a text is a single character of a script whose words are pairs of characters.
func IsPaired(text []byte) bool {
	r, n := utf8.DecodeRune(text)
	return n == len(text) && isPairedRune(r)
}

func isPairedRune(r rune) bool {
	return r >= firstPaired && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}

// appendPairs replaces runs of Han, Kana and Hangul in words by their pairs of characters, each of which begins with the second of the one before.
//
//	東京都庁A1   東京 京都 都庁 A1
func appendPairs(words []Span, text []byte) []Span {
	at := 0
	for at < len(words) && !isPaired(text[words[at].From:words[at].To]) {
		at++
	}
	if at == len(words) {
		return words
	}
	rest := append([]Span(nil), words[at:]...)
	words = words[:at]
	for _, w := range rest {
		for from := w.From; from < w.To; {
			paired, to := character(text, from, w.To)
			if !paired {
				for next := to; !paired && to < w.To; {
					if paired, next = character(text, to, w.To); !paired {
						to = next
					}
				}
				words, from = append(words, Span{from, to}), to
				continue
			}
			single := true
			for to < w.To {
				paired, next := character(text, to, w.To)
				if !paired {
					break
				}
				words, from, to, single = append(words, Span{from, next}), to, next, false
			}
			if single {
				words = append(words, Span{from, to})
			}
			from = to
		}
	}
	return words
}

// character looks at the character that begins at from.
func character(text []byte, from, to uint32) (paired bool, end uint32) {
	r, n := utf8.DecodeRune(text[from:to])
	return isPairedRune(r), from + uint32(n)
}
