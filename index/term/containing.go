package term

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sort"

	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// FindContaining yields the entries of some blocks whose terms contain a text, or with end those whose terms end with it, in their order. It also yields
// every term that may have been cut ([analysis.MaxTermLen]), because the rest of it is not known. The text is compared as the index has
// terms: the caller gives it in upper case if the index is case-insensitive.
func (x *Index) FindContaining(ctx context.Context, blocks []uint32, text []byte, end bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		x.walk(ctx, blocks, func(b *block) iter.Seq[int] { return b.containing(x.Collation, text, end) }, yield)
	}
}

// FindFuzzy yields the entries whose terms are like a word of a distance (package analysis, Fuzzy), in their order. It reads only blocks that may have such terms.
func (x *Index) FindFuzzy(ctx context.Context, word []byte, distance int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := analysis.NewFuzzy(analysis.AppendUpper(nil, word), distance)
		x.walk(ctx, x.fuzzyBlocks(f), func(b *block) iter.Seq[int] { return b.fuzzy(f) }, yield)
	}
}

// fuzzyBlocks are the blocks that may have terms like a word. None is read for it.
func (x *Index) fuzzyBlocks(f *analysis.Fuzzy) (blocks []uint32) {
	for i := 0; i < len(x.blocks); i++ {
		next, ok := f.Next(analysis.AppendUpper(nil, x.blocks[i].first))
		if !ok {
			break
		}
		i = max(i, x.blockOf(next)-1) // it may be the last term there
		blocks = append(blocks, uint32(i))
	}
	return blocks
}

// fuzzy yields the terms that are like a word.
func (b *block) fuzzy(f *analysis.Fuzzy) iter.Seq[int] {
	return func(yield func(int) bool) {
		var upper []byte
		for i := range b.len() {
			if upper = analysis.AppendUpper(upper[:0], b.term(i)); f.Match(upper) && !yield(i) {
				return
			}
		}
	}
}

// readAhead is the number of blocks that are read at once.
const readAhead = 64

// walk yields the entries of terms that find finds in some blocks.
func (x *Index) walk(ctx context.Context, blocks []uint32, find func(*block) iter.Seq[int], yield func(Entry, error) bool) {
	w := blockWalk{x: x, find: find}
	for part := range slices.Chunk(blocks, readAhead) {
		if !w.part(ctx, part, yield) {
			return
		}
	}
}

// blockWalk looks for terms in blocks.
type blockWalk struct {
	x     *Index
	find  func(*block) iter.Seq[int]
	spare *block // one without such terms, whose memory is used again
}

// part looks into some blocks. It reports whether there is more to do.
func (w *blockWalk) part(ctx context.Context, blocks []uint32, yield func(Entry, error) bool) bool {
	x := w.x
	var ranges []storage.ByteRange
	for _, i := range blocks {
		if e := x.blocks[i]; !x.cache.Has(int(i)) {
			ranges = append(ranges, storage.ByteRange{Reader: x.file.Reader, Offset: x.file.Offset + e.block, Size: e.end - e.block})
		}
	}
	read, err := storage.Prefetch(ctx, ranges, storage.DefaultCoalesce(x.file.Reader.Capabilities().Latency))
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	for _, i := range blocks {
		of := int(i)
		b, err := w.block(ctx, of, read)
		if err != nil {
			yield(Entry{}, err)
			return false
		}
		found := false
		for i := range w.find(b) {
			if !found && b == w.spare {
				w.spare = nil
				x.cache.Put(of, b, b.memory())
			}
			found = true
			if !yield(b.entry(of, i), nil) {
				return false
			}
		}
	}
	return true
}

// block returns a block, in the memory of the spare one if it is not in the cache.
func (w *blockWalk) block(ctx context.Context, i int, read storage.Prefetched) (*block, error) {
	if b, ok := w.x.cache.Get(i); ok {
		return b, nil
	}
	x, e := w.x, w.x.blocks[i]
	data, err := read.Read(ctx, x.file.Reader, x.file.Offset+e.block, e.end-e.block)
	if err != nil {
		return nil, err
	}
	if w.spare == nil {
		w.spare = new(block)
	}
	return w.spare, w.x.parse(w.spare, i, data)
}

// containing yields the terms that contain or end with a text, and those that may have been cut.
func (b *block) containing(c Collation, text []byte, end bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		next := 0
		for i := range b.occurrences(text, end) {
			for ; next < i; next++ {
				if analysis.MayBeCut(c, b.term(next)) && !yield(next) {
					return
				}
			}
			if !yield(i) {
				return
			}
			next = i + 1
		}
		for ; next < b.len(); next++ {
			if analysis.MayBeCut(c, b.term(next)) && !yield(next) {
				return
			}
		}
	}
}

// occurrences yields the terms that contain or end with a text.
func (b *block) occurrences(text []byte, end bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, at := 0, 0; i < b.len(); {
			n := bytes.Index(b.terms[at:], text)
			if n < 0 {
				return
			}
			at += n
			i += sort.Search(b.len()-i, func(k int) bool { return int(b.ends[i+k]) > at })
			switch {
			case i == b.len():
				return
			case end && bytes.HasSuffix(b.term(i), text), !end && at+len(text) <= int(b.ends[i]):
				if !yield(i) {
					return
				}
				at = int(b.ends[i])
				i++
			default:
				at++
			}
		}
	}
}
