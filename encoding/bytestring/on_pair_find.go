package bytestring

import (
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/internal/base/search"
)

// findOnPair looks in the codes for the longest part: for tokens that can hold its rarest byte, and then at the tokens around
// these. In a value that is in two chunks, it does not look at the tokens around.
func findOnPair(b *Block, dst []byte, parts [][]byte) bool {
	var needle []byte
	for _, part := range parts {
		if len(part) > len(needle) {
			needle = part
		}
	}
	starts, decoder, marks := b.pairs.starts, &b.s.onpair, b.s.pairMarksOf()
	place := search.Rarest(needle)
	decoder.Cover(marks, needle, place)
	clear(dst)
	value, count := 0, 0
	chunks := b.readCodes(0, int(starts[b.n]))
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
	return chunks.err == nil && 4*count < 3*b.n // decoding meets the error again
}

// onPairBegins looks at the first code of each value, and then at the following ones. Of a value that is in two chunks, it looks at
// the first only.
func onPairBegins(b *Block, dst []byte, r Required) bool {
	starts, decoder, marks := b.pairs.starts, &b.s.onpair, b.s.pairMarksOf()
	decoder.Begin(marks, r.Prefix, r.Equal)
	clear(dst)
	value, count := 0, 0
	chunks := b.readCodes(0, int(starts[b.n]))
	for chunks.next() {
		first, codes := chunks.first, chunks.codes
		for ; value < b.n && int(starts[value])-first < len(codes); value++ {
			from, to := int(starts[value])-first, int(starts[value+1])-first
			if marks[codes[from]] != 0 && from < to && (to > len(codes) || decoder.Begins(codes[from:to], r.Prefix, r.Equal)) {
				dst[value/8] |= 1 << (value % 8)
				count++
			}
		}
	}
	return chunks.err == nil && 4*count < 3*b.n // decoding meets the error again
}

// pairMarksOf is the memory for marks.
func (s *Scratch) pairMarksOf() *onpair.Marks {
	if s.pairMarks == nil {
		s.pairMarks = new(onpair.Marks)
	}
	return s.pairMarks
}
