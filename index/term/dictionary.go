package term

import (
	"context"
	"iter"
	"sync"

	"github.com/amudai/amudai-go/index/term/internal/texts"
)

// dictionaryBytes bounds a dictionary. An index whose terms have more bytes has none.
const dictionaryBytes = 16 << 20

// dictionary is the terms of an index in memory, once they were read. It is for texts that may be in many blocks, as a few digits are where most terms are numbers.
type dictionary struct {
	mu    sync.Mutex
	read  bool
	texts *texts.Texts // nil if there is no room
}

// Narrow leaves out the blocks in which no term contains a text, and none may have been cut. It reads all blocks of the index once, and none later.
func (x *Index) Narrow(ctx context.Context, blocks []uint32, text []byte) ([]uint32, error) {
	all, err := x.dictionary.get(ctx, x)
	if all == nil || err != nil {
		return blocks, err
	}
	return all.Narrow(blocks, text), nil
}

func (d *dictionary) get(ctx context.Context, x *Index) (_ *texts.Texts, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read {
		return d.texts, nil
	}
	all := new(texts.Texts)
	x.walk(ctx, x.allBlocks(), func(b *block) iter.Seq[int] {
		return func(yield func(int) bool) {
			if all.Add(x.Collation, b.terms, b.ends); all.Size() > dictionaryBytes {
				all = nil
				yield(0)
			}
		}
	}, func(_ Entry, failed error) bool {
		err = failed
		return false
	})
	if err == nil {
		d.read, d.texts = true, all
	}
	return d.texts, err
}
