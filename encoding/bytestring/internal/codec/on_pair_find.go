package codec

import (
	"slices"

	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/internal/base/search"
)

// findOnPair looks in the codes for the longest part: for tokens that can hold its rarest byte, and then at the tokens around
// these. In a value that is in two chunks, it does not look at the tokens around.
func findOnPair(t *tree.Tree, dst []byte, parts [][]byte) bool {
	needle := longest(parts)
	p := tree.State[pairTree](t)
	starts, decoder, marks := p.starts, p.tokens, p.marksOf()
	place := search.Rarest(needle)
	decoder.Cover(marks, needle, place)
	clear(dst)
	value, count := 0, 0
	chunks := p.codesOf(0, t.N)
	for chunks.next() {
		first, codes := chunks.first, chunks.codes
		for k := marks.Next(codes, 0); k < len(codes); k = marks.Next(codes, k+1) {
			value += search.EndsBefore(starts[value+1:], first+k)
			from, to := int(starts[value])-first, int(starts[value+1])-first
			if dst[value/8]>>(value%8)&1 != 0 || from >= 0 && to <= len(codes) && !decoder.Contains(codes[from:to], k-from, needle, place) {
				continue
			}
			dst[value/8] |= 1 << (value % 8)
			count++
		}
	}
	return chunks.err == nil && 4*count < 3*t.N // decoding meets the error again
}

// longest is the first of the longest parts.
func longest(parts [][]byte) []byte {
	return slices.MaxFunc(parts, func(a, b []byte) int { return len(a) - len(b) })
}

// onPairBegins looks at the first code of each value, and then at the following ones. Of a value that is in two chunks, it looks at
// the first only.
func onPairBegins(t *tree.Tree, dst []byte, r tree.Required) bool {
	p := tree.State[pairTree](t)
	starts, decoder, marks := p.starts, p.tokens, p.marksOf()
	decoder.Begin(marks, r.Prefix, r.Equal)
	clear(dst)
	value, count := 0, 0
	chunks := p.codesOf(0, t.N)
	for chunks.next() {
		first, codes := chunks.first, chunks.codes
		for ; value < t.N && int(starts[value])-first < len(codes); value++ {
			from, to := int(starts[value])-first, int(starts[value+1])-first
			if marks[codes[from]] != 0 && from < to && (to > len(codes) || decoder.Begins(codes[from:to], r.Prefix, r.Equal)) {
				dst[value/8] |= 1 << (value % 8)
				count++
			}
		}
	}
	return chunks.err == nil && 4*count < 3*t.N // decoding meets the error again
}

// marksOf is the memory for marks.
func (p *pairTree) marksOf() *onpair.Marks {
	if p.marks == nil {
		p.marks = new(onpair.Marks)
	}
	return p.marks
}
