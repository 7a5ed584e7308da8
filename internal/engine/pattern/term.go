package pattern

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Words is what a pattern asks about the words of values. A word is a run of letters and digits. Case does not matter.
type Words struct {
	Text     []byte // in upper case
	Prefix   bool   // the last word may go on
	Phrase   bool   // anything but words may stand between words, instead of what stands there in Text
	Distance int    // of words like the one that is Text; 0 for Text as it is

	fuzzy *analysis.Fuzzy
}

// Term matches values that contain a text that begins and ends where words do. Inside of it there may be anything: "10.1.2.3" for example. With
// prefix, the last word may go on.
func Term(text string, prefix bool) *Pattern {
	return ofWords(Words{Text: upperCase(text), Prefix: prefix})
}

// Phrase matches values that have the words of a text one behind the other, whatever stands between them.
func Phrase(text string) *Pattern {
	return ofWords(Words{Text: upperCase(text), Phrase: true})
}

// Fuzzy matches values that have a word like one: its text is the word, a tilde and the distance, or no distance for 1.
func Fuzzy(text string) (*Pattern, error) {
	word, distance, err := DivideFuzzy(text)
	if err != nil {
		return nil, err
	}
	upper := upperCase(word)
	return ofWords(Words{Text: upper, Distance: distance, fuzzy: analysis.NewFuzzy(upper, distance)}), nil
}

// DivideFuzzy divides the text of a fuzzy word.
func DivideFuzzy(text string) (word string, distance int, err error) {
	word, edits, _ := strings.Cut(text, "~")
	switch distance, err = strconv.Atoi(cmp.Or(edits, "1")); {
	case err != nil || distance < 1 || distance > analysis.MaxDistance:
		return "", 0, fmt.Errorf("the distance of a word is 1 or %d, as in word~ or word~2", analysis.MaxDistance)
	case !analysis.IsWord([]byte(word)):
		return "", 0, errors.New("~ follows a single word of letters and digits; a text with it is put in quotes")
	case len(upperCase(word)) > analysis.MaxFuzzyLen:
		return "", 0, fmt.Errorf("a word with ~ has at most %d bytes", analysis.MaxFuzzyLen)
	}
	return word, distance, nil
}

func upperCase(text string) []byte { return analysis.AppendUpper(nil, []byte(text)) }

func ofWords(w Words) *Pattern {
	p := &Pattern{words: &w}
	if !w.Phrase && w.fuzzy == nil && len(w.Text) > 0 && !hasSpellings(w.Text) {
		p.Parts = [][]byte{w.Text}
	}
	return p
}

// Words is what the pattern asks about words. It is nil for any other pattern.
func (p *Pattern) Words() *Words { return p.words }

// match reports whether a value in upper case matches.
func (w *Words) match(value []byte) bool {
	switch {
	case w.Phrase:
		return w.matchPhrase(value)
	case w.fuzzy != nil:
		var room [32]analysis.Span
		return slices.ContainsFunc(analysis.AppendWords(room[:0], value), func(s analysis.Span) bool { return w.fuzzy.Match(value[s.From:s.To]) })
	}
	for at := 0; ; {
		i := bytes.Index(value[at:], w.Text)
		if i < 0 {
			return false
		}
		from := at + i
		to := from + len(w.Text)
		if !analysis.InsideWord(value, from) && (w.Prefix || !analysis.InsideWord(value, to)) {
			return true
		}
		if from == len(value) {
			return false
		}
		at = from + 1
	}
}

func (w *Words) matchPhrase(value []byte) bool {
	var room, valueRoom [32]analysis.Span
	words := analysis.AppendWords(room[:0], w.Text)
	have := analysis.AppendWords(valueRoom[:0], value)
	for i := 0; i+len(words) <= len(have); i++ {
		same := 0
		for same < len(words) && bytes.Equal(value[have[i+same].From:have[i+same].To], w.Text[words[same].From:words[same].To]) {
			same++
		}
		if same == len(words) {
			return true
		}
	}
	return false
}
