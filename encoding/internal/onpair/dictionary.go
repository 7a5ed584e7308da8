package onpair

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Dictionary is tokens that strings are written with. [Encoder.Train] makes it. It
// does not change, and is safe for concurrent use.
type Dictionary struct {
	tokens []token // in the order of their bytes, but for those that [Encoder.Encode] added

	codes, bytes int // how many codes so many bytes took that it was learnt from
}

// Len is the number of tokens.
func (d *Dictionary) Len() int { return len(d.tokens) }

// newDictionary is a dictionary of tokens, which it keeps and sorts.
func newDictionary(tokens []token) *Dictionary {
	slices.SortFunc(tokens, compare)
	return &Dictionary{tokens: tokens}
}

// compare has the order of bytes. Behind the last one are zeros.
func compare(a, b token) int {
	switch {
	case a.lo != b.lo:
		return cmp.Compare(bits.ReverseBytes64(a.lo), bits.ReverseBytes64(b.lo))
	case a.hi != b.hi:
		return cmp.Compare(bits.ReverseBytes64(a.hi), bits.ReverseBytes64(b.hi))
	}
	return cmp.Compare(a.length, b.length)
}

func (t token) bytes() (b [MaxTokenLen]byte) {
	binary.LittleEndian.PutUint64(b[:], t.lo)
	binary.LittleEndian.PutUint64(b[8:], t.hi)
	return b
}

// Complete is a dictionary with which any string can be written: of the same tokens, and the bytes that have none. If codes would need a bit
// more for that, tokens that are rare among some codes are left out.
func (d *Dictionary) Complete(codes []uint16) *Dictionary {
	var single [1 << 8]bool
	counts := make([]int, d.Len())
	for i, t := range d.tokens {
		if t.length == 1 {
			single[t.lo] = true
			counts[i] = math.MaxInt / 2 // stays
		}
	}
	tokens := make([]token, 0, d.Len()+len(single))
	for b, have := range single {
		if !have {
			tokens = append(tokens, token{lo: uint64(b), length: 1})
		}
	}
	for _, c := range codes {
		if int(c) < len(counts) { // others are bytes
			counts[c]++
		}
	}
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	room := min(1<<bits.Len(uint(max(d.Len(), len(single))-1)), MaxTokens) - len(tokens)
	for _, i := range order[:min(len(order), room)] {
		tokens = append(tokens, d.tokens[i])
	}
	all := newDictionary(tokens)
	all.codes, all.bytes = d.codes, d.bytes
	return all
}

// ByFrequency is a dictionary of the same tokens, those that are frequent in codes first. Codes become those of that dictionary. Tokens that
// are about as frequent stay in their order, in which they share more bytes.
func (d *Dictionary) ByFrequency(codes []uint16) *Dictionary {
	counts := make([]uint32, d.Len())
	for _, c := range codes {
		counts[c]++
	}
	order := make([]uint16, d.Len())
	for i, n := range counts {
		order[i] = uint16(i)
		counts[i] = magnitude(n)
	}
	slices.SortStableFunc(order, func(a, b uint16) int { return cmp.Compare(counts[b], counts[a]) })
	tokens, code := make([]token, d.Len()), make([]uint16, d.Len())
	for i, c := range order {
		tokens[i], code[c] = d.tokens[c], uint16(i)
	}
	for i, c := range codes {
		codes[i] = code[c]
	}
	return &Dictionary{tokens: tokens, codes: d.codes, bytes: d.bytes}
}

// magnitude is twice the logarithm of a number, rounded.
func magnitude(n uint32) uint32 {
	length := bits.Len32(n)
	if length < 2 {
		return uint32(2 * length)
	}
	return uint32(2*length) | n>>(length-2)&1
}

// AppendHeads appends the head of each token.
func (d *Dictionary) AppendHeads(dst []byte) []byte {
	var last token
	for _, t := range d.tokens {
		dst = append(dst, byte(last.shared(t))|(t.length-1)<<4)
		last = t
	}
	return dst
}

// AppendBytes appends the bytes that tokens do not share with the one before.
func (d *Dictionary) AppendBytes(dst []byte) []byte {
	var last token
	for _, t := range d.tokens {
		b := t.bytes()
		dst = append(dst, b[last.shared(t):t.length]...)
		last = t
	}
	return dst
}

// shared is how many bytes of u, fewer than all, are those of t.
func (t token) shared(u token) int {
	n := bits.TrailingZeros64(t.lo^u.lo) / 8
	if n == 8 {
		n += bits.TrailingZeros64(t.hi^u.hi) / 8
	}
	return min(n, int(t.length), int(u.length)-1)
}
