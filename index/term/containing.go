package term

import (
	"bytes"
	"context"
	"iter"
	"sort"
	"unicode/utf8"

	"github.com/amudai/amudai-go/index/analysis"
)

// FindContaining yields the entries whose terms contain a text, or with end those whose terms end with it, in their order. It also yields
// every term that may have been cut ([analysis.MaxTermLen]), because the rest of it is not known. The text is compared as the index has
// terms: the caller gives it in upper case if the index is case-insensitive.
//
// It may read as many blocks as [Index.ContainingBlocks] says.
func (x *Index) FindContaining(ctx context.Context, text []byte, end bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for of := range x.blocks {
			b, err := x.block(ctx, of)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for i := range b.containing(x.Collation, text, end) {
				if !yield(b.entry(of, i), nil) {
					return
				}
			}
		}
	}
}

// ContainingBlocks is how many of all blocks of the index [Index.FindContaining] may read.
func (x *Index) ContainingBlocks(ctx context.Context, text []byte) (blocks, of int, err error) {
	return len(x.blocks), len(x.blocks), nil
}

// containing yields the terms that contain or end with a text, and those that may have been cut.
func (b *block) containing(c analysis.Collation, text []byte, end bool) iter.Seq[int] {
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
func mayBeCut(c analysis.Collation, term []byte) bool {
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
