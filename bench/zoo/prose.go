package zoo

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

var prose = []Column{
	{Name: "prose_120", Group: "prose", open: speech(comments, 12, 28)},
	{Name: "prose_sentence", Group: "prose", open: realComments},
	{Name: "prose_paragraph", Group: "prose", open: speech(comments, 30, 70)},
	{Name: "prose_book", Group: "prose", HeldOut: true, open: speech(opticks, 6, 30)},
	{Name: "prose_title", Group: "prose", HeldOut: true, open: speech(films, 2, 8)},
}

// comments are the first words of the comments of Go's own sources.
func comments(s Sources, limit int) (words []string, err error) {
	err = s.sentences(func(sentence string) error {
		words = append(words, strings.Fields(sentence)...)
		if len(words) > limit {
			return errEnough
		}
		return nil
	})
	return words, err
}

// opticks is the text of Newton's Opticks, which comes with Go.
func opticks(s Sources, _ int) ([]string, error) {
	root, err := s.goRoot()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "src", "testdata", "Isaac.Newton-Opticks.txt"))
	return strings.Fields(valid(string(text))), err
}

func films(s Sources, _ int) ([]string, error) {
	titles, err := s.titles()
	return strings.Fields(strings.Join(titles, " ")), err
}

// sentences calls f with the sentences of comments, until it returns errEnough.
func (s Sources) sentences(f func(sentence string) error) error {
	return s.goFiles(func(_, content string) error {
		var block []string
		for line := range strings.Lines(content) {
			text, is := strings.CutPrefix(strings.TrimSpace(line), "// ")
			if is && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "Copyright") {
				block = append(block, strings.TrimSpace(text))
				continue
			}
			for sentence := range strings.SplitAfterSeq(strings.Join(block, " "), ". ") {
				if sentence = strings.TrimSpace(sentence); isProse(sentence) {
					if err := f(sentence); err != nil {
						return err
					}
				}
			}
			block = block[:0]
		}
		return nil
	})
}

// isProse reports whether a sentence has some words, and few other characters than letters. The licence, which is in every
// file, does not count.
func isProse(s string) bool {
	other := 0
	for _, c := range s {
		if !unicode.IsLetter(c) && c != ' ' {
			other++
		}
	}
	return strings.Count(s, " ") >= 4 && other*12 <= len(s) && !strings.HasPrefix(s, "Use of this source") && !strings.HasPrefix(s, "license that can")
}

// realComments are the sentences of comments as they are, and after them sentences with the statistics of these.
func realComments(g *gen) (next, error) {
	var all []string
	seen := map[string]bool{}
	err := g.sentences(func(sentence string) error {
		if seen[sentence] {
			return nil
		}
		seen[sentence] = true
		if all = append(all, sentence); len(all) >= g.n {
			return errEnough
		}
		return nil
	})
	real, count := inOrder(all), len(all)
	if err != nil || count >= g.n {
		return real, err
	}
	more, err := speech(comments, 6, 30)(g)
	return func(b []byte) []byte {
		if count--; count < 0 {
			return more(b)
		}
		return real(b)
	}, err
}

// speech makes values of from to to words by a Markov chain of order two over the words of a real text, of which few
// values need only the beginning.
func speech(text func(s Sources, limit int) ([]string, error), from, to int) opener {
	return func(g *gen) (next, error) {
		words, err := text(g.Sources, min(max(50_000, g.n*20), 1_500_000))
		if err != nil {
			return nil, err
		}
		if len(words) < 1000 {
			return nil, errors.New("the text is too short")
		}
		m := newMarkov(words)
		return func(b []byte) []byte { return m.appendWords(g, b, from+g.IntN(to-from+1)) }, nil
	}
}

// markov is a text, and its positions sorted by the two words there.
type markov struct {
	text   []uint32 // ids of words
	words  []string
	sorted []uint32
	starts map[uint64]uint32 // the first in sorted of two words
	at     uint32
}

func newMarkov(text []string) *markov {
	m := &markov{starts: map[uint64]uint32{}}
	ids := map[string]uint32{}
	for _, w := range text {
		id, ok := ids[w]
		if !ok {
			id = uint32(len(m.words))
			ids[w], m.words = id, append(m.words, w)
		}
		m.text = append(m.text, id)
	}
	for at := range len(text) - 2 {
		m.sorted = append(m.sorted, uint32(at))
	}
	slices.SortFunc(m.sorted, func(a, b uint32) int { return cmp.Or(cmp.Compare(m.key(a), m.key(b)), cmp.Compare(a, b)) })
	for i, at := range m.sorted {
		if _, ok := m.starts[m.key(at)]; !ok {
			m.starts[m.key(at)] = uint32(i)
		}
	}
	return m
}

// key is the two words at a position.
func (m *markov) key(at uint32) uint64 { return uint64(m.text[at])<<32 | uint64(m.text[at+1]) }

// step moves to another place with the same word, or the same two words, and one word on. A short text repeats itself
// unless one word decides.
func (m *markov) step(g *gen) {
	if int(m.at) >= len(m.sorted) {
		m.at = uint32(g.IntN(len(m.sorted)))
	}
	from, to := m.key(m.at), m.key(m.at)+1
	if len(m.text) < shortText {
		from, to = from>>32<<32, (from>>32+1)<<32
	}
	first, last := m.search(from), m.search(to)
	m.at = m.sorted[first+g.IntN(last-first)] + 1
}

// shortText is the number of words below which one word decides which follow.
const shortText = 30_000

// search is the index of the first place with a key that is not smaller.
func (m *markov) search(key uint64) int {
	if at, ok := m.starts[key]; ok {
		return int(at)
	}
	i, _ := slices.BinarySearchFunc(m.sorted, key, func(at uint32, k uint64) int { return cmp.Compare(m.key(at), k) })
	return i
}

// appendWords appends n words, which begin with a capital letter and end with a full stop.
func (m *markov) appendWords(g *gen, b []byte, n int) []byte {
	m.at = uint32(g.IntN(len(m.sorted)))
	begin := len(b)
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		if int(m.at) < len(m.text) {
			b = append(b, m.words[m.text[m.at]]...)
		}
		m.step(g)
	}
	if c := b[begin]; c >= 'a' && c <= 'z' {
		b[begin] = c - 'a' + 'A'
	}
	if last := b[len(b)-1]; last >= 'a' && last <= 'z' {
		b = append(b, '.')
	}
	return b
}
