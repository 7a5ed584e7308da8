package term

import (
	"bytes"
	"context"
	"iter"
	"sort"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// FindContaining yields the entries whose terms contain a text, or with end those whose terms end with it, in their order. It also yields
// every term that may have been cut ([analysis.MaxTermLen]), because the rest of it is not known. The text is compared as the index has
// terms: the caller gives it in upper case if the index is case-insensitive.
//
// It may read as many blocks as [Index.ContainingBlocks] says.
func (x *Index) FindContaining(ctx context.Context, text []byte, end bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		blocks, all, err := x.candidates(ctx, text)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		n := len(blocks)
		if all {
			n = len(x.blocks)
		}
		w := blockWalk{x: x}
		for i := 0; i < n; i += readAhead {
			part := make([]int, 0, readAhead)
			for k := i; k < min(i+readAhead, n); k++ {
				if all {
					part = append(part, k)
				} else {
					part = append(part, int(blocks[k]))
				}
			}
			if !w.part(ctx, part, text, end, yield) {
				return
			}
		}
	}
}

// ContainingBlocks is how many of all blocks of the index [Index.FindContaining] reads for a text. It reads the grams of the text, if it has
// any, and no blocks.
func (x *Index) ContainingBlocks(ctx context.Context, text []byte) (blocks, of int, err error) {
	list, all, err := x.candidates(ctx, text)
	if all {
		return len(x.blocks), len(x.blocks), err
	}
	return len(list), len(x.blocks), err
}

// readAhead is the number of blocks that are read at once.
const readAhead = 64

// blockWalk looks for a text in blocks.
type blockWalk struct {
	x     *Index
	spare *block // one without the text, whose memory is used again
}

// part looks for a text in some blocks. It reports whether there is more to do.
func (w *blockWalk) part(ctx context.Context, blocks []int, text []byte, end bool, yield func(Entry, error) bool) bool {
	x := w.x
	var ranges []storage.ByteRange
	for _, i := range blocks {
		if e := x.blocks[i]; !x.cache.Has(i) {
			ranges = append(ranges, storage.ByteRange{Reader: x.file.Reader, Offset: x.file.Offset + e.block, Size: e.end - e.block})
		}
	}
	read, err := storage.Prefetch(ctx, ranges, storage.DefaultCoalesce(x.file.Reader.Capabilities().Latency))
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	for _, of := range blocks {
		b, err := w.block(ctx, of, read)
		if err != nil {
			yield(Entry{}, err)
			return false
		}
		found := false
		for i := range b.containing(x.Collation, text, end) {
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
	e := w.x.blocks[i]
	data := read.Bytes(w.x.file.Reader, w.x.file.Offset+e.block, e.end-e.block)
	if data == nil { // it was in the cache
		var err error
		if data, err = w.x.read(ctx, e.block, e.end); err != nil {
			return nil, err
		}
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
				if mayBeCut(c, b.term(next)) && !yield(next) {
					return
				}
			}
			if !yield(i) {
				return
			}
			next = i + 1
		}
		for ; next < b.len(); next++ {
			if mayBeCut(c, b.term(next)) && !yield(next) {
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

// leastCut is the least length of a term that was cut, before it was put in upper case.
const leastCut = analysis.MaxTermLen - utf8.UTFMax + 1

// mayBeCut reports whether a term may be the beginning of a longer word: whether the longest text of which it is the upper case is.
func mayBeCut(c Collation, term []byte) bool {
	n := len(term)
	if c == analysis.CasePreserving || 2*n < leastCut {
		return n >= leastCut
	}
	for _, b := range term {
		// Those of "ı" and "ſ" are "I" and "S". Of other characters, only some of two bytes are the upper case of one of three.
		if b == 'I' || b == 'S' || b&0xe0 == 0xc0 {
			n++
		}
	}
	return n >= leastCut
}
