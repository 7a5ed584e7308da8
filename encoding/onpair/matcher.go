package onpair

import (
	"encoding/binary"
	"math/bits"
)

// matcher finds the longest token that a string begins with. A token of one or two bytes is in a table by two bytes, one of 3
// to 7 in a table of its length. Each slot holds one token: of two with the same hash, only the first is added. These
// lengths are looked up without a branch between them: which one it will be cannot be predicted. Longer tokens are
// looked up for strings that begin with 8 bytes of one.
type matcher struct {
	tokens []token          // by code
	short  [1 << 16]match   // by two bytes
	single [256]match       // by one byte: tokens of one byte
	exact  [4][slots]uint64 // of 3, 4, 5 and 6 bytes: these in the high 48 bits, and the code
	seven  [slots]seven     // of 7 bytes
	eight  [slots]eight     // by the first 8 bytes: of 8 and more
	long   [slots]uint32    // of more than 8 bytes: 1 + code, 0 if there is none
}

// seven is the slot of a token of 7 bytes.
type seven struct {
	bytes uint64
	match match
}

// eight is 8 bytes that a token begins with.
type eight struct {
	bytes  uint64
	match  match // the token of just these, 0 if there is none
	longer uint8 // a bit for each length of the others, from 9 bytes on
}

// match is a code and, from bit 16 on, the length of its token; 0 for none.
type match uint32

func matchOf(code, length int) match { return match(code | length<<16) }
func (m match) code() uint16         { return uint16(m) }
func (m match) length() int          { return int(m >> 16) }

const (
	slotBits = 14
	slots    = 1 << slotBits

	hashFactor = 0x9e3779b97f4a7c15
	longFactor = 0xc2b2ae3d27d4eb4f
)

// slotOf is the slot of up to 8 bytes, the others 0.
func slotOf(word uint64) uint64 { return word * hashFactor >> (64 - slotBits) }

// slotOfLong is the slot of more than 8 bytes, the others 0.
func slotOfLong(lo, hi uint64) uint64 {
	return (lo*hashFactor ^ hi) * longFactor >> (64 - slotBits)
}

// low is the first n bytes of a word.
func low(word uint64, n int) uint64 { return word & (^uint64(0) >> (64 - 8*n)) }

func (m *matcher) reset() {
	m.tokens = m.tokens[:0]
	clear(m.short[:])
	clear(m.single[:])
	for i := range m.exact {
		clear(m.exact[i][:])
	}
	clear(m.seven[:])
	clear(m.eight[:])
	clear(m.long[:])
	// An empty slot would be taken for that of bytes that are all 0.
	for i := range m.exact {
		m.exact[i][0] = ^uint64(0)
	}
	m.seven[0].bytes = ^uint64(0)
	m.eight[0].bytes = ^uint64(0)
}

// add adds a token that is not there yet, with the next code. ok is false if its slot is taken.
func (m *matcher) add(t token) (code int, ok bool) {
	code = len(m.tokens)
	n := int(t.length)
	self := matchOf(code, n)
	switch {
	case n == 1:
		m.single[t.lo] = self
		for high := range 256 {
			if at := &m.short[int(t.lo)|high<<8]; at.length() < 2 {
				*at = self
			}
		}
	case n == 2:
		m.short[t.lo] = self
	case n < 7:
		slot := &m.exact[n-3][slotOf(t.lo)]
		if *slot != 0 {
			return 0, false
		}
		*slot = t.lo<<16 | uint64(code)
	case n == 7:
		slot := &m.seven[slotOf(t.lo)]
		if slot.bytes != 0 {
			return 0, false
		}
		*slot = seven{t.lo, self}
	default:
		if !m.addLong(t, self) {
			return 0, false
		}
	}
	m.tokens = append(m.tokens, t)
	return code, true
}

// addLong adds a token of at least 8 bytes.
func (m *matcher) addLong(t token, self match) bool {
	e := &m.eight[slotOf(t.lo)]
	if e.bytes != t.lo && e.bytes != 0 {
		return false
	}
	if t.length == 8 {
		e.bytes, e.match = t.lo, self
		return true
	}
	slot := &m.long[slotOfLong(t.lo, t.hi)]
	if *slot != 0 {
		return false
	}
	*slot = uint32(self.code()) + 1
	e.bytes = t.lo
	e.longer |= 1 << (t.length - 9)
	return true
}

// find is the longest token of up to 7 bytes that a word begins with, and the slot of the word.
func (m *matcher) find(word uint64) (match, *eight) {
	best := m.short[uint16(word)]
	k3, k4, k5, k6, k7 := low(word, 3), low(word, 4), low(word, 5), low(word, 6), low(word, 7)
	e3, e4, e5, e6 := m.exact[0][slotOf(k3)], m.exact[1][slotOf(k4)], m.exact[2][slotOf(k5)], m.exact[3][slotOf(k6)]
	e7 := &m.seven[slotOf(k7)]
	x := match(uint16(e3)) | 3<<16
	if e3>>16 == k3 {
		best = x
	}
	x = match(uint16(e4)) | 4<<16
	if e4>>16 == k4 {
		best = x
	}
	x = match(uint16(e5)) | 5<<16
	if e5>>16 == k5 {
		best = x
	}
	x = match(uint16(e6)) | 6<<16
	if e6>>16 == k6 {
		best = x
	}
	x = e7.match
	if e7.bytes == k7 {
		best = x
	}
	return best, &m.eight[slotOf(word)]
}

// longest is the longest token that the bytes of data from at to end begin with, 0 if there is none.
func (m *matcher) longest(data []byte, at, end int) match {
	word := load(data, at)
	best, e := m.find(word)
	if e.bytes == word {
		best = m.findLong(e, best, data, at, end)
	}
	if uint(best.length()-1) >= uint(end-at) {
		best = m.findLast(word, end-at)
	}
	return best
}

// findLong is the longest of the tokens of at least 8 bytes, best if there is none.
func (m *matcher) findLong(e *eight, best match, data []byte, at, end int) match {
	if e.longer != 0 {
		next := load(data, at+8)
		for longer := e.longer; longer != 0; {
			n := bits.Len8(longer)
			longer &^= 1 << (n - 1)
			if at+8+n > end {
				continue
			}
			hi := low(next, n)
			if c := m.long[slotOfLong(e.bytes, hi)]; c != 0 {
				if t := &m.tokens[c-1]; t.lo == e.bytes && t.hi == hi && int(t.length) == n+8 {
					return matchOf(int(c-1), n+8)
				}
			}
		}
	}
	if e.match != 0 {
		return e.match
	}
	return best
}

// findLast is the longest token of up to 7 bytes in the last ones, left, of a string.
func (m *matcher) findLast(word uint64, left int) match {
	if left >= 7 {
		if e := &m.seven[slotOf(low(word, 7))]; e.bytes == low(word, 7) {
			return e.match
		}
	}
	for n := min(left, 6); n >= 3; n-- {
		key := low(word, n)
		if e := m.exact[n-3][slotOf(key)]; e>>16 == key {
			return matchOf(int(uint16(e)), n)
		}
	}
	if left >= 2 {
		return m.short[uint16(word)]
	}
	return m.single[byte(word)]
}

// load is the word at a place in data; bytes behind the end are 0.
func load(data []byte, at int) uint64 {
	if at+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[at:])
	}
	var b [8]byte
	copy(b[:], data[min(at, len(data)):])
	return binary.LittleEndian.Uint64(b[:])
}
