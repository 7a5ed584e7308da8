package fsst

import (
	"encoding/binary"
	"slices"
)

// The next symbol begins at the end of the last one, so that each search waits for the one before. A string is
// therefore divided into lanes, which are encoded alternately, and whose codes are then joined.
const (
	lanes   = 2
	laneLen = 8 << 10
)

// Encode appends the codes of src to dst.
func (t *Table) Encode(dst, src []byte) []byte {
	for len(src) >= lanes*64 {
		n := min(laneLen, len(src)/lanes)
		dst = t.encodeLanes(dst, src[:lanes*n], n)
		src = src[lanes*n:]
	}
	n := len(dst)
	dst = slices.Grow(dst, 2*len(src)+1)
	return dst[:n+t.encodeRest(dst[n:cap(dst)], src)]
}

// encodeLanes appends the codes of src, which is 2 lanes of n bytes.
func (t *Table) encodeLanes(dst, src []byte, n int) []byte {
	// Codes take up to twice the bytes. One more byte is overwritten.
	room := 2*n + 1
	base := len(dst)
	dst = slices.Grow(dst, lanes*room)
	out := dst[base : base+lanes*room]
	// Positions of each lane in src and out.
	i0, i1 := 0, n
	o0, o1 := 0, room
	for {
		// Every lane has space for this many symbols of any length.
		left := min(n-i0, 2*n-i1)
		if left < MaxSymbolLen {
			break
		}
		for range left / MaxSymbolLen {
			w0 := binary.LittleEndian.Uint64(src[i0:])
			w1 := binary.LittleEndian.Uint64(src[i1:])
			m0, m1 := t.find(w0), t.find(w1)
			i0, o0 = i0+m0.length(), o0+m0.put(out[o0:], w0)
			i1, o1 = i1+m1.length(), o1+m1.put(out[o1:], w1)
		}
	}
	o0 += t.encodeRest(out[o0:], src[i0:n])
	o1 += t.encodeRest(out[o1:], src[i1:2*n])
	return append(dst[:base+o0], out[room:o1]...)
}

// put writes the code, and behind it the byte of word for an escape, which the next code otherwise overwrites. It
// returns the size of the code, 1 or 2.
func (m match) put(dst []byte, word uint64) int {
	binary.LittleEndian.PutUint16(dst, uint16(m.code())|uint16(word)<<8)
	return 1 + int((uint32(m.code())+1)>>8)
}

// encodeRest writes the codes of src to dst and returns their number. dst has space for twice the bytes, and one more
// if there are any.
func (t *Table) encodeRest(dst, src []byte) int {
	i, o := 0, 0
	for i+MaxSymbolLen <= len(src) {
		word := binary.LittleEndian.Uint64(src[i:])
		m := t.find(word)
		o += m.put(dst[o:], word)
		i += m.length()
	}
	for i < len(src) {
		m := t.findLast(src[i:])
		o += m.put(dst[o:], uint64(src[i]))
		i += m.length()
	}
	return o
}
