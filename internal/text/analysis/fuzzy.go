package analysis

import (
	"slices"
	"unicode/utf8"
)

// MaxDistance is the greatest distance of a [Fuzzy] word, and MaxFuzzyLen the most bytes of one in upper case: no term like it is cut.
const (
	MaxDistance = 2
	MaxFuzzyLen = 48
)

// Fuzzy is a word that others are like: each is made of it by some edits. An edit inserts, deletes or replaces a character, or swaps two neighbours, and no
// character is edited twice (the optimal string alignment distance, as of fuzzy queries of Lucene). Both words have more characters than there are edits.
type Fuzzy struct {
	word  []rune
	edits int
}

// NewFuzzy returns a word in upper case, of at most [MaxFuzzyLen] bytes, with a distance of at most [MaxDistance].
func NewFuzzy(word []byte, distance int) *Fuzzy {
	f := &Fuzzy{word: []rune(string(word))}
	f.edits = min(distance, len(f.word)-1)
	return f
}

// Match reports whether a word in upper case is like this one.
func (f *Fuzzy) Match(word []byte) bool {
	if len(word) > utf8.UTFMax*(len(f.word)+f.edits) || utf8.RuneCount(word) < len(f.word)-f.edits {
		return false
	}
	var before, now, next edits
	f.start(&now)
	n, last := 0, rune(-1)
	for at := 0; at < len(word); n++ {
		r, size := utf8.DecodeRune(word[at:])
		if n == len(f.word)+f.edits || !f.step(&before, &now, &next, n, last, r) {
			return false
		}
		before, now, last, at = now, next, r, at+size
	}
	d := int(now[len(f.word)])
	return d <= f.edits && d < n
}

// edits are how many turn a text into each beginning of the word, as far as they are few.
type edits [MaxFuzzyLen + 1]uint8

const tooMany = 2*MaxDistance + 1

// start sets the edits of an empty text.
func (f *Fuzzy) start(e *edits) {
	for i := range e[:len(f.word)+1] {
		e[i] = uint8(min(i, tooMany))
	}
}

// step sets the edits of a text of n characters that goes on with r, given those of the text and of the text without its last character. It reports whether
// such a text may go on to a word that is like this one.
func (f *Fuzzy) step(before, now, next *edits, n int, last, r rune) (alive bool) {
	from, to := max(n+1-f.edits, 1), min(n+1+f.edits, len(f.word))
	next[0] = uint8(min(n+1, tooMany))
	if from > 1 {
		next[from-1] = tooMany
	}
	least := next[0]
	for i := from; i <= to; i++ {
		w := f.word[i-1]
		d := now[i-1]
		if w != r {
			d = min(d, next[i-1], now[i]) + 1
			if i > 1 && n > 0 && w == last && f.word[i-2] == r {
				d = min(d, before[i-2]+1)
			}
		}
		next[i] = min(d, tooMany)
		least = min(least, d)
	}
	for i := to + 1; i <= len(f.word); i++ {
		next[i] = tooMany
	}
	return int(least) <= f.edits
}

// firstOfWords is the first character of words. Surrogates are no characters.
const (
	firstOfWords   = '0'
	firstSurrogate = 0xd800
	lastSurrogate  = 0xdfff
)

// Next is a text that no word in upper case like this one comes before, of those that are not before a text; ok is false if there is none.
func (f *Fuzzy) Next(text []byte) (next []byte, ok bool) {
	states := make([]edits, 1, len(f.word)+f.edits+2) // of the beginnings of the text
	f.start(&states[0])
	runes, rest := []rune(nil), text
	for alive := true; alive && len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		alive = f.extend(&states, runes, r)
		runes, rest = append(runes, r), rest[size:]
	}
	if len(states) == len(runes)+1 { // the text may go on
		return f.complete(states, runes), true
	}
	// Otherwise a beginning of it goes on with a later character.
	for n := len(states) - 1; n >= 0; n-- {
		least := max(runes[n]+1, firstOfWords)
		states, runes = states[:n+1], runes[:n]
		if least == firstSurrogate {
			least = lastSurrogate + 1
		}
		if r, ok := f.least(&states, runes, least); ok {
			return f.complete(states, append(runes, r)), true
		}
	}
	return nil, false
}

// extend appends the state of a text that goes on with r, if it is alive.
func (f *Fuzzy) extend(states *[]edits, runes []rune, r rune) bool {
	n, last := len(runes), rune(-1)
	var before, next edits
	if n > 0 {
		before, last = (*states)[n-1], runes[n-1]
	}
	alive := n < len(f.word)+f.edits && f.step(&before, &(*states)[n], &next, n, last, r)
	if alive {
		*states = append(*states, next)
	}
	return alive
}

// least appends the state of a text that goes on with the first character from least on that is alive.
func (f *Fuzzy) least(states *[]edits, runes []rune, least rune) (rune, bool) {
	candidates := []rune{least}
	for _, r := range f.word[max(len(runes)-f.edits, 0):min(len(runes)+f.edits+1, len(f.word))] {
		if r > least {
			candidates = append(candidates, r)
		}
	}
	slices.Sort(candidates)
	for _, r := range candidates {
		if r <= utf8.MaxRune && f.extend(states, runes, r) {
			return r, true
		}
	}
	return 0, false
}

// complete is the first text that is like the word and begins with some characters, whose state is alive.
func (f *Fuzzy) complete(states []edits, runes []rune) []byte {
	for int(states[len(runes)][len(f.word)]) > f.edits {
		r, ok := f.least(&states, runes, firstOfWords)
		if !ok {
			break
		}
		runes = append(runes, r)
	}
	return []byte(string(runes))
}
