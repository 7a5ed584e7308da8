package onpair

import "encoding/binary"

// matcher finds the longest token that a string begins with. A token of one or two bytes is in a table by two bytes, one of
// 3 to 7 in a table of its length. Each slot holds one token: of two with the same hash, only the first is added. Longer ones
// are in tables by the slot of their first 8 bytes, or of their first 12, and the other bytes. Which length it will be
// cannot be predicted: they are looked up without a branch between them, but for those of 8 and more.
type matcher struct {
	tokens  []token              // by code
	refused []token              // that were not added, but may have taken slots
	short   [1 << 16]match       // by two bytes
	single  [256]match           // by one byte: tokens of one byte
	exact   [4][slots]uint64     // of 3, 4, 5 and 6 bytes: these in the high 48 bits, and the code
	seven   [slots]word          // of 7 bytes
	eight   [slots]word          // the first 8 bytes of tokens
	longer  [4][longSlots]uint64 // of 9, 10 and 11 bytes, and the first 12 bytes of tokens: like exact
	twelve  [longSlots]match     // of 12 bytes
	longest [4][longSlots]uint64 // of 13 to 16 bytes: like exact
}

// word is the slot of 7 or 8 bytes.
type word struct {
	bytes uint64
	match match // the token of just these, 0 if there is none
}

// match is a code and, from bit 16 on, the length of its token; 0 for none.
type match uint32

func matchOf(code, length int) match { return match(code | length<<16) }
func (m match) code() uint16         { return uint16(m) }
func (m match) length() int          { return int(m >> 16) }

const (
	slotBits = 14
	slots    = 1 << slotBits

	longBits  = 13
	longSlots = 1 << longBits

	hashFactor = 0x9e3779b97f4a7c15
	longFactor = 0xc2b2ae3d27d4eb4f
)

// slotOf is the slot of up to 8 bytes, the others 0.
func slotOf(word uint64) uint64 { return word * hashFactor >> (64 - slotBits) }

// slotOfLonger is the slot of up to 4 bytes behind the 8 of a slot.
func slotOfLonger(key uint64) uint64 { return key * longFactor >> (64 - longBits) }

// low is the first n bytes of a word.
func low(word uint64, n int) uint64 { return word & (1<<(8*n) - 1) }

// reset removes all tokens. Clearing their slots takes less than clearing the tables.
func (m *matcher) reset() {
	clear(m.short[:])
	clear(m.single[:])
	for _, t := range m.tokens {
		m.remove(t)
	}
	for _, t := range m.refused {
		m.remove(t)
	}
	m.tokens, m.refused = m.tokens[:0], m.refused[:0]
	// An empty slot would be taken for that of bytes that are all 0.
	for i := range m.exact {
		m.exact[i][0], m.longer[i][0], m.longest[i][0] = ^uint64(0), ^uint64(0), ^uint64(0)
	}
	m.seven[0].bytes, m.eight[0].bytes = ^uint64(0), ^uint64(0)
}

// remove clears the slots of a token of 3 bytes and more.
func (m *matcher) remove(t token) {
	switch n := int(t.length); {
	case n < 3:
	case n < 7:
		m.exact[n-3][slotOf(t.lo)] = 0
	case n == 7:
		m.seven[slotOf(t.lo)] = word{}
	default:
		s8 := slotOf(t.lo)
		m.eight[s8] = word{}
		key := low(t.hi, min(n-8, 4)) | s8<<32
		s := slotOfLonger(key)
		switch {
		case n > 8 && n < 12:
			m.longer[n-9][s] = 0
		case n >= 12:
			m.longer[3][s], m.twelve[s] = 0, 0
		}
		if n > 12 {
			m.longest[n-13][slotOfLonger(t.hi>>32|s<<32)] = 0
		}
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
		ok = put(&m.exact[n-3][slotOf(t.lo)], t.lo, code)
	case n == 7:
		slot := &m.seven[slotOf(t.lo)]
		if ok = slot.bytes == 0; ok {
			*slot = word{t.lo, self}
		}
	default:
		ok = m.addLong(t, self)
	}
	if ok {
		m.tokens = append(m.tokens, t)
	} else {
		m.refused = append(m.refused, t)
	}
	return code, ok
}

// addByte adds a token for a byte that has none.
func (m *matcher) addByte(b byte) match {
	m.add(token{lo: uint64(b), length: 1})
	return m.single[b]
}

// put sets a slot of up to 6 bytes, if it is free.
func put(slot *uint64, bytes uint64, code int) bool {
	if *slot != 0 {
		return false
	}
	*slot = bytes<<16 | uint64(code)
	return true
}

// addLong adds a token of at least 8 bytes.
func (m *matcher) addLong(t token, self match) bool {
	s8 := slotOf(t.lo)
	e := &m.eight[s8]
	if e.bytes != t.lo && e.bytes != 0 {
		return false
	}
	e.bytes = t.lo
	if t.length == 8 {
		e.match = self
		return true
	}
	code := int(self.code())
	if t.length < 12 {
		key := t.hi | s8<<32
		return put(&m.longer[t.length-9][slotOfLonger(key)], key, code)
	}
	key := low(t.hi, 4) | s8<<32
	s12 := slotOfLonger(key)
	if slot := &m.longer[3][s12]; *slot>>16 != key && !put(slot, key, 0) {
		return false
	}
	if t.length == 12 {
		m.twelve[s12] = self
		return true
	}
	key = t.hi>>32 | s12<<32
	return put(&m.longest[t.length-13][slotOfLonger(key)], key, code)
}

// find is the longest token of up to 7 bytes that a word begins with, and the slot of the word.
func (m *matcher) find(bytes uint64) (match, *word) {
	best := m.short[uint16(bytes)]
	k3, k4, k5, k6, k7 := low(bytes, 3), low(bytes, 4), low(bytes, 5), low(bytes, 6), low(bytes, 7)
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
	return best, &m.eight[slotOf(bytes)]
}

// longestOf is the longest token that the bytes of data from at to end begin with, 0 if there is none. best and e are what was
// found for the word there.
func (m *matcher) longestOf(best match, e *word, data []byte, at, end int) match {
	bytes := load(data, at)
	if e.bytes == bytes {
		best = m.findLong(best, e, load(data, at+8))
	}
	if uint(best.length()-1) >= uint(end-at) {
		best = m.findLast(bytes, load(data, at+8), end-at)
	}
	return best
}

// findLong is the longest token of at least 8 bytes, best if there is none: those of e, and next.
func (m *matcher) findLong(best match, e *word, next uint64) match {
	if e.match != 0 {
		best = e.match
	}
	s8 := slotOf(e.bytes) << 32
	k1, k2, k3, k4 := low(next, 1)|s8, low(next, 2)|s8, low(next, 3)|s8, low(next, 4)|s8
	s12 := slotOfLonger(k4)
	e1, e2, e3, e4 := m.longer[0][slotOfLonger(k1)], m.longer[1][slotOfLonger(k2)], m.longer[2][slotOfLonger(k3)], m.longer[3][s12]
	x := match(uint16(e1)) | 9<<16
	if e1>>16 == k1 {
		best = x
	}
	x = match(uint16(e2)) | 10<<16
	if e2>>16 == k2 {
		best = x
	}
	x = match(uint16(e3)) | 11<<16
	if e3>>16 == k3 {
		best = x
	}
	x = m.findLongest(best, s12, next>>32)
	if e4>>16 == k4 {
		best = x
	}
	return best
}

// findLongest is the longest token of at least 12 bytes, best if there is none: those of a slot, and next.
func (m *matcher) findLongest(best match, s12, next uint64) match {
	if x := m.twelve[s12]; x != 0 {
		best = x
	}
	s12 <<= 32
	k1, k2, k3, k4 := low(next, 1)|s12, low(next, 2)|s12, low(next, 3)|s12, next|s12
	e1, e2, e3, e4 := m.longest[0][slotOfLonger(k1)], m.longest[1][slotOfLonger(k2)], m.longest[2][slotOfLonger(k3)], m.longest[3][slotOfLonger(k4)]
	x := match(uint16(e1)) | 13<<16
	if e1>>16 == k1 {
		best = x
	}
	x = match(uint16(e2)) | 14<<16
	if e2>>16 == k2 {
		best = x
	}
	x = match(uint16(e3)) | 15<<16
	if e3>>16 == k3 {
		best = x
	}
	x = match(uint16(e4)) | 16<<16
	if e4>>16 == k4 {
		best = x
	}
	return best
}

// findLast is the longest token of up to left bytes.
func (m *matcher) findLast(bytes, next uint64, left int) match {
	for n := min(left, MaxTokenLen); n > 0; n-- {
		best := m.single[byte(bytes)]
		if n == 2 {
			best = m.short[uint16(bytes)]
		} else if n > 2 {
			head := low(bytes, min(n, 8))
			var e *word
			if best, e = m.find(head); n >= 8 && e.bytes == head {
				best = m.findLong(best, e, low(next, n-8))
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
