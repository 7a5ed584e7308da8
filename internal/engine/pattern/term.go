package pattern

import (
	"bytes"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Words is what a pattern asks about the words of values. A word is a run of letters and digits. Case does not matter.
type Words struct {
	Text   []byte // in upper case
	Prefix bool   // the last word may go on
	Phrase bool   // anything but words may stand between words, instead of what stands there in Text
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

func upperCase(text string) []byte { return analysis.AppendUpper(nil, []byte(text)) }

func ofWords(w Words) *Pattern {
	p := &Pattern{words: &w}
	if !w.Phrase && len(w.Text) > 0 && !hasSpellings(w.Text) {
		p.Parts = [][]byte{w.Text}
	}
	return p
}

// Words is what the pattern asks about words. It is nil for any other pattern.
func (p *Pattern) Words() *Words { return p.words }

// match reports whether a value in upper case matches.
func (w *Words) match(value []byte) bool {
	if w.Phrase {
		return w.matchPhrase(value)
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
