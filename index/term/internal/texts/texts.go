// Package texts has the terms of an index in memory, and finds the blocks of them that contain a text.
package texts

import (
	"slices"

	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Texts are the terms of blocks, of which none changes once many goroutines use them. The zero value has none.
type Texts struct {
	text []byte   // all terms, a byte before each that keeps them apart
	ends []uint32 // of each block in text
	cut  []bool   // whether a block has a term that may have been cut
}

// Add adds a block of terms, which lie one behind the other and end at ends.
func (t *Texts) Add(c analysis.Collation, terms []byte, ends []uint32) {
	from, cut := uint32(0), false
	for _, end := range ends {
		term := terms[from:end]
		t.text, from = append(append(t.text, 0), term...), end
		cut = cut || analysis.MayBeCut(c, term)
	}
	t.ends, t.cut = append(t.ends, uint32(len(t.text))), append(t.cut, cut)
}

// Size is the number of bytes of the terms.
func (t *Texts) Size() int { return len(t.text) }

// Narrow leaves out the blocks in which no term contains a text, and none may have been cut. It overwrites the list.
func (t *Texts) Narrow(blocks []uint32, text []byte) []uint32 {
	needle := search.New(text)
	return slices.DeleteFunc(blocks, func(b uint32) bool {
		from := uint32(0)
		if b > 0 {
			from = t.ends[b-1]
		}
		return !t.cut[b] && needle.Index(t.text[from:t.ends[b]]) < 0
	})
}
