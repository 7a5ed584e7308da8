package onpair

import "encoding/binary"

// matcher finds the longest token that a string begins with. A token of one or two bytes is in a table by two bytes, one of
// 3 to 7 in a table of its length. All of these are looked up without a branch between them, because which length it will be
// cannot be predicted. Each slot holds one token: of two with the same hash, only the first is added. The first 8 bytes of
// longer tokens have a slot, too, which tells whether there are any. These are in lists by 12 bytes, or 9 of shorter ones, the
// longest first.
type matcher struct {
	tokens []token          // by code
	short  [1 << 16]match   // by two bytes
	single [256]match       // by one byte: tokens of one byte
	exact  [4][slots]uint64 // of 3, 4, 5 and 6 bytes: these at the high end, and the code
	seven  [slots]word      // of 7 bytes
	eight  [slots]word      // the first 8 bytes of tokens
	lists  [slots]uint16    // the first token of a list in long, counted from 1
	long   []long
}

// word is the slot of 7 or 8 bytes, which are at the high end.
type word struct {
	bytes uint64
	match match // the token of just these, 0 if there is none
	long  uint8 // whether there are tokens of 9 to 11 bytes that begin with these, and of 12 and more
}

// Bits of word.long.
const (
	hasNine   = 1
	hasTwelve = 2
)

// long is a token of 9 bytes and more.
type long struct {
	hi   uint64 // the bytes from the ninth on
	slot uint16 // of the first 8
	next uint16 // the next one of the list, counted from 1
	match
}

// match is a code and, from bit 16 on, the length of its token; 0 for none.
type match uint32

func matchOf(code, length int) match { return match(code | length<<16) }
func (m match) code() uint16         { return uint16(m) }
func (m match) length() int          { return int(m >> 16) }

const (
	slotBits = 14
	slots    = 1 << slotBits

	golden = 0x9e3779b97f4a7c15

	// taken is in the slot of zeros: an empty one would be taken for a token of these. It is the bytes of another slot.
	taken = 1 << 63

	longestList = 64 // tokens
)

// slotOf is the slot of n bytes, which are at the high end: as many bytes of their product with the golden ratio.
func slotOf(bytes uint64, n int) uint64 { return bytes * (golden>>(64-8*n) | 1) >> (64 - slotBits) }

// twelveOf is the list of tokens of at least 12 bytes whose first 8 bytes have a slot, and which go on like next.
func twelveOf(slot, next uint64) uint64 {
	return (slot<<32 | low(next, 4)) * golden >> (64 - slotBits)
}

// nineOf is that of tokens of 9 to 11 bytes.
func nineOf(slot, next uint64) uint64 { return ^(slot<<32 | low(next, 1)) * golden >> (64 - slotBits) }

// listOf is the list of a token, and its bit.
func (t token) listOf(slot uint64) (list uint64, bit uint8) {
	if t.length < 12 {
		return nineOf(slot, t.hi), hasNine
	}
	return twelveOf(slot, t.hi), hasTwelve
}

// high is the first n bytes of a word, 1 to 8, at the high end.
func high(word uint64, n int) uint64 { return word << (64 - 8*n) }

// low is the first n bytes of a word.
func low(word uint64, n int) uint64 { return word & (1<<(8*n) - 1) }

// reset removes all tokens. Clearing their slots takes less than clearing the tables.
func (m *matcher) reset() {
	clear(m.short[:])
	clear(m.single[:])
	for _, t := range m.tokens {
		m.remove(t)
	}
	m.tokens, m.long = m.tokens[:0], m.long[:0]
	for i := range m.exact {
		m.exact[i][0] = taken
	}
	m.seven[0].bytes, m.eight[0].bytes = taken, taken
}

// remove clears the slots of a token of 3 bytes and more.
func (m *matcher) remove(t token) {
	n := int(t.length)
	s := slotOf(high(t.lo, min(n, 8)), min(n, 8))
	switch {
	case n < 3:
	case n < 7:
		m.exact[n-3][s] = 0
	case n == 7:
		m.seven[s] = word{}
	default:
		m.eight[s] = word{}
		list, _ := t.listOf(s)
		m.lists[list] = 0
	}
}

// add adds a token that is not there yet, with the next code. ok is false if its slot is taken.
func (m *matcher) add(t token) (code int, ok bool) {
	code, ok = len(m.tokens), true
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
		k := high(t.lo, n)
		slot := &m.exact[n-3][slotOf(k, n)]
		if ok = *slot == 0; ok {
			*slot = k | uint64(code)
		}
	case n == 7:
		k := high(t.lo, n)
		slot := &m.seven[slotOf(k, n)]
		if ok = slot.bytes == 0; ok {
			*slot = word{bytes: k, match: self}
		}
	default:
		ok = m.addLong(t, self)
	}
	if ok {
		m.tokens = append(m.tokens, t)
	}
	return code, ok
}

// addByte adds a token for a byte that has none.
func (m *matcher) addByte(b byte) match {
	m.add(token{lo: uint64(b), length: 1})
	return m.single[b]
}

// addLong adds a token of at least 8 bytes.
func (m *matcher) addLong(t token, self match) bool {
	s := slotOf(t.lo, 8)
	e := &m.eight[s]
	if e.bytes != t.lo && e.bytes != 0 {
		return false
	}
	if t.length == 8 {
		e.bytes, e.match = t.lo, self
		return true
	}
	list, bit := t.listOf(s)
	at := &m.lists[list]
	for n := 0; *at != 0 && m.long[*at-1].length() >= self.length(); n++ {
		if n == longestList {
			return false
		}
		at = &m.long[*at-1].next
	}
	l := long{hi: t.hi, slot: uint16(s), next: *at, match: self}
	*at = uint16(len(m.long) + 1)
	m.long = append(m.long, l)
	e.bytes, e.long = t.lo, e.long|bit
	return true
}

// find is the longest token of up to 7 bytes that a word begins with, and the slot of the word.
func (m *matcher) find(w uint64) (match, uint64) {
	best := m.short[uint16(w)]
	k3, k4, k5, k6, k7 := high(w, 3), high(w, 4), high(w, 5), high(w, 6), high(w, 7)
	x3, x4 := m.exact[0][slotOf(k3, 3)]^k3, m.exact[1][slotOf(k4, 4)]^k4 // a code, if the bytes are the same
	x5, x6 := m.exact[2][slotOf(k5, 5)]^k5, m.exact[3][slotOf(k6, 6)]^k6
	e7, s8 := &m.seven[slotOf(k7, 7)], slotOf(w, 8)
	if x3 < 1<<16 {
		best = match(x3) | 3<<16
	}
	if x4 < 1<<16 {
		best = match(x4) | 4<<16
	}
	if x5 < 1<<16 {
		best = match(x5) | 5<<16
	}
	if x6 < 1<<16 {
		best = match(x6) | 6<<16
	}
	x := e7.match
	if e7.bytes == k7 {
		best = x
	}
	return best, s8
}

// longest is the longest token that the bytes of data from at to end begin with, 0 if there is none.
func (m *matcher) longest(data []byte, at, end int) match {
	w := load(data, at)
	best, slot := m.find(w)
	if m.eight[slot].bytes == w {
		best = m.findLong(best, slot, load(data, at+8))
	}
	if best.exceeds(end - at) {
		best = m.findLast(w, load(data, at+8), end-at)
	}
	return best
}

// exceeds tells whether a match is of more bytes than are left, or none.
func (m match) exceeds(left int) bool { return uint(m.length()-1) >= uint(left) }

// findLong is the longest token of at least 8 bytes, best if there is none: those with the first 8 of a slot, and next.
func (m *matcher) findLong(best match, slot, next uint64) match {
	e := &m.eight[slot]
	if e.match != 0 {
		best = e.match
	}
	if e.long&hasTwelve != 0 {
		if x := m.inList(twelveOf(slot, next), slot, next); x != 0 {
			return x
		}
	}
	if e.long&hasNine != 0 {
		if x := m.inList(nineOf(slot, next), slot, next); x != 0 {
			return x
		}
	}
	return best
}

// inList is the longest token of a list that goes on like next behind the first 8 bytes, 0 if there is none.
func (m *matcher) inList(list, slot, next uint64) match {
	for i := m.lists[list]; i != 0; {
		l := &m.long[i-1]
		if (l.hi^next)<<(128-8*l.length()) == 0 && uint64(l.slot) == slot {
			return l.match
		}
		i = l.next
	}
	return 0
}

// findLast is the longest token of up to left bytes.
func (m *matcher) findLast(bytes, next uint64, left int) match {
	for n := min(left, MaxTokenLen); n > 0; n-- {
		best := m.single[byte(bytes)]
		if n == 2 {
			best = m.short[uint16(bytes)]
		} else if n > 2 {
			first := low(bytes, min(n, 8))
			var slot uint64
			if best, slot = m.find(first); n >= 8 && m.eight[slot].bytes == first {
				best = m.findLong(best, slot, low(next, n-8))
			}
		}
		if best.length() <= n { // else it ends in zeros that are not there
			return best
		}
	}
	return 0
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
