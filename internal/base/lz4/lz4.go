// Package lz4 compresses to LZ4 blocks that are smaller than those of common fast compressors. It takes half as much
// time again, and unpacking is as fast. Package decompress unpacks them. Blocks are parts of trees: docs/format.md
// §7.4, §7.5.
//
// A block is a list of sequences. Each is a number of literal bytes and a match, which is a copy of earlier bytes
// (github.com/lz4/lz4, doc/lz4_Block_format.md):
//
//	token        high 4 bits: literals, low 4 bits: length of the match less 4
//	             15 in either means that bytes follow which are added to it, up to
//	             and including the first that is not 255
//	literals
//	u16          how far back the match begins: 1 to 65535
//
// The last sequence has literals only, at least 5 of them; no match begins in the
// last 12 bytes. Example, "abcabcabcabcabcabc12345":
//
//	3b 61 62 63 | 03 00 | 50 31 32 33 34 35     3 literals, 15 bytes from 3 back; 5 literals
package lz4

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/frontcode"
)

const (
	minMatch     = 4
	maxOffset    = 1<<16 - 1
	lastLiterals = 5
	matchMargin  = 12

	tableBits = 13
	skipLog   = 4 // without matches, steps grow by one every 16 bytes
)

var le = binary.LittleEndian

// Encoder compresses. The zero value is ready to use. It holds tables of 64 KiB, and must not be used concurrently.
// Its output depends on the source only.
//
// It remembers one place for each hash of eight bytes and one for each hash of
// five, as the double-fast strategy of Zstandard does, and prefers a match of the
// former. Tables are small enough for the nearest cache: larger ones find a little more,
// and so do a look one byte further and remembering more of a match, but all cost more than they save.
type Encoder struct {
	long  [1 << tableBits]uint32
	short [1 << tableBits]uint32
	base  uint32 // position of the first byte of the next source, counted over all sources
}

func hashLong(v uint64) uint32  { return uint32(v * 0xcf1bbcdcb7a56463 >> (64 - tableBits)) }
func hashShort(v uint64) uint32 { return uint32(v << 24 * 889523592379 >> (64 - tableBits)) }

// Append appends src to dst as one block. The block may be longer than src, by one byte in 255 and a few.
func (e *Encoder) Append(dst, src []byte) []byte {
	base := e.begin(len(src))
	limit := len(src) - matchMargin
	done := 0 // src[:done] is encoded
	for s := 0; s < limit; {
		v := le.Uint64(src[s:])
		pos := base + uint32(s)
		long, short := &e.long[hashLong(v)], &e.short[hashShort(v)]
		l, h := *long, *short
		*long, *short = pos, pos
		var from int
		switch {
		case pos-l <= maxOffset && le.Uint64(src[l-base:]) == v:
			from = int(l - base)
		case pos-h <= maxOffset && le.Uint32(src[h-base:]) == uint32(v):
			from = int(h - base)
		default:
			s += 1 + (s-done)>>skipLog
			continue
		}
		n := frontcode.CommonPrefix(src[s:len(src)-lastLiterals], src[from:])
		if n < minMatch {
			s += 1 + (s-done)>>skipLog
			continue
		}
		for s > done && from > 0 && src[s-1] == src[from-1] {
			s--
			from--
			n++
		}
		dst = appendSequence(dst, src[done:s], s-from, n)
		s += n
		done = s
		if s < limit {
			e.remember(src, s-2, base)
		}
	}
	return appendRun(dst, src[done:], 0)
}

// begin returns the position of the first byte of a source of n bytes. It is so far beyond earlier sources that their
// entries, and empty ones, are never used.
func (e *Encoder) begin(n int) uint32 {
	if e.base == 0 || uint64(e.base)+uint64(n)+2*maxOffset > 1<<32-1 {
		clear(e.long[:])
		clear(e.short[:])
		e.base = maxOffset + 1
	}
	base := e.base
	e.base += uint32(n) + maxOffset + 1
	return base
}

func (e *Encoder) remember(src []byte, s int, base uint32) {
	v := le.Uint64(src[s:])
	e.long[hashLong(v)] = base + uint32(s)
	e.short[hashShort(v)] = base + uint32(s)
}

func appendSequence(dst, literals []byte, offset, n int) []byte {
	n -= minMatch
	dst = appendRun(dst, literals, byte(min(n, 15)))
	dst = append(dst, byte(offset), byte(offset>>8))
	if n >= 15 {
		dst = appendLength(dst, n-15)
	}
	return dst
}

// appendRun appends a token with the given low bits, and literals.
func appendRun(dst, literals []byte, token byte) []byte {
	n := len(literals)
	dst = append(dst, byte(min(n, 15))<<4|token)
	if n >= 15 {
		dst = appendLength(dst, n-15)
	}
	return append(dst, literals...)
}

func appendLength(dst []byte, n int) []byte {
	for ; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}
