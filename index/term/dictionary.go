package term

import (
	"context"
	"iter"
	"slices"

	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// dictionaryBytes bounds a dictionary. An index whose terms have more bytes has none.
const dictionaryBytes = 16 << 20

// dictionary is the terms of an index in memory. It is for texts that may be in many blocks, as a few digits are where most terms are numbers.
type dictionary struct {
	text []byte   // all terms, a byte before each that keeps them apart; nil if there is no room
	ends []uint32 // of each block in text, from 0 on
	cut  []bool   // whether a block has a term that may have been cut
}

// Narrow leaves out the blocks in which no term contains a text, and none may have been cut. It reads all blocks of the index once, and none later.
func (x *Index) Narrow(ctx context.Context, blocks []uint32, text []byte) ([]uint32, error) {
	d, err := x.dictionary.Get(ctx, func() (*dictionary, error) { return x.readDictionary(ctx) })
	if err != nil || d.text == nil {
		return blocks, err
	}
	needle := search.New(text)
	return slices.DeleteFunc(blocks, func(b uint32) bool { return !d.cut[b] && needle.Index(d.text[d.ends[b]:d.ends[b+1]]) < 0 }), nil
}

func (x *Index) readDictionary(ctx context.Context) (d *dictionary, err error) {
	text, ends, cut := []byte{}, []uint32{0}, []bool(nil)
	x.walk(ctx, x.allBlocks(), func(b *block) iter.Seq[int] {
		return func(yield func(int) bool) {
			cuts := false
			for i := range b.len() {
				text = append(append(text, 0), b.term(i)...)
				cuts = cuts || analysis.MayBeCut(x.Collation, b.term(i))
			}
			ends, cut = append(ends, uint32(len(text))), append(cut, cuts)
			if len(text) > dictionaryBytes {
				yield(0)
			}
		}
	}, func(_ Entry, failed error) bool {
		err = failed
		return false
	})
	if len(text) > dictionaryBytes {
		text, ends, cut = nil, nil, nil
	}
	return &dictionary{text, ends, cut}, err
}
