package term

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/search"
)

// dictionaryBytes bounds a dictionary. An index whose terms have more bytes has none.
const dictionaryBytes = 16 << 20

// dictionary is the terms of an index in memory. It is for texts that may be in many blocks, as a few digits are where most terms are numbers.
type dictionary struct {
	text []byte   // all terms, a byte before each that keeps them apart
	ends []uint32 // of each block in text, from 0 on
	cut  []bool   // whether a block has a term that may have been cut
}

// keptDictionary is a dictionary that is read once, nil if there is no room.
type keptDictionary struct {
	mu   sync.Mutex
	read bool
	all  *dictionary
}

// Narrow leaves out the blocks in which no term contains a text, and none may have been cut. It reads all blocks of the index once, and none later.
func (x *Index) Narrow(ctx context.Context, blocks []uint32, text []byte) ([]uint32, error) {
	d, err := x.dictionary.get(ctx, x)
	if d == nil || err != nil {
		return blocks, err
	}
	needle := search.New(text)
	return slices.DeleteFunc(blocks, func(b uint32) bool { return !d.cut[b] && needle.Index(d.text[d.ends[b]:d.ends[b+1]]) < 0 }), nil
}

func (k *keptDictionary) get(ctx context.Context, x *Index) (*dictionary, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read {
		return k.all, nil
	}
	d, err := &dictionary{ends: []uint32{0}}, error(nil)
	x.walk(ctx, x.allBlocks(), func(b *block) iter.Seq[int] {
		return func(yield func(int) bool) {
			if d.add(x.Collation, b); len(d.text) > dictionaryBytes {
				d = nil
				yield(0)
			}
		}
	}, func(_ Entry, failed error) bool {
		err = failed
		return false
	})
	if err != nil {
		return nil, err
	}
	k.read, k.all = true, d
	return d, nil
}

func (d *dictionary) add(c Collation, b *block) {
	cut := false
	for i := range b.len() {
		d.text = append(append(d.text, 0), b.term(i)...)
		cut = cut || mayBeCut(c, b.term(i))
	}
	d.ends, d.cut = append(d.ends, uint32(len(d.text))), append(d.cut, cut)
}
