package fsst

import "encoding/binary"

// Table is a set of symbols, with structures that find the longest symbol at the start of a string. [Train] makes it.
// The zero value is not usable. Searches may run concurrently.
type Table struct {
	symbols [MaxSymbols]symbol   // by code
	n       int                  // of the symbols
	long    [longSlots]longEntry // by three bytes: symbols of 3 to 8 bytes
	short   [1 << 16]match       // by two bytes: symbols of 1 or 2 bytes
	single  [256]match           // by one byte: symbols of 1 byte
}

// match is a code and, in higher bits, the number of bytes of its text. An escape stands for one byte.
type match uint16

const noMatch match = 1<<8 | escape

func (m match) code() byte  { return byte(m) }
func (m match) length() int { return int(m >> 8) }

// longEntry holds one symbol. If several symbols begin with the same three bytes, or with three bytes of the same
// hash, a table has only one of them.
type longEntry struct {
	value uint64
	mask  uint64 // mask of the bits of a word that are compared
	match match
}

const (
	longBits  = 11
	longSlots = 1 << longBits
)

// emptyEntry matches nothing: a word without any bits is not 1.
var emptyEntry = longEntry{value: 1}

// slot returns the index of symbols that begin with the low three bytes of word.
func slot(word uint64) uint32 {
	return uint32(word) << 8 * 2654435761 >> (32 - longBits)
}

// set fills the table with symbols, which must be different, sorted by length, and have different slots if they are
// long.
func (t *Table) set(symbols []symbol) {
	t.n = copy(t.symbols[:], symbols)
	for i := range t.long {
		t.long[i] = emptyEntry
	}
	for i := range t.single {
		t.single[i] = noMatch
	}
	first := len(symbols) // symbols of more than one byte
	for code, s := range symbols {
		if s.length > 1 {
			first = code
			break
		}
		t.single[s.value] = matchOf(code, s)
	}
	for high := range 256 {
		copy(t.short[high<<8:], t.single[:])
	}
	for i, s := range symbols[first:] {
		m := matchOf(first+i, s)
		if s.length == 2 {
			t.short[s.value] = m
		} else {
			t.long[slot(s.value)] = longEntry{s.value, ^uint64(0) >> ((MaxSymbolLen - s.length) * 8), m}
		}
	}
}

func matchOf(code int, s symbol) match { return match(s.length)<<8 | match(code) }

// find returns the match of 8 bytes.
func (t *Table) find(word uint64) match {
	e := &t.long[slot(word)]
	if word&e.mask == e.value {
		return e.match
	}
	return t.short[uint16(word)]
}

// findLast returns the match of the last bytes of a string, 1 to 7 of them.
func (t *Table) findLast(b []byte) match {
	var bytes [8]byte
	copy(bytes[:], b)
	word := binary.LittleEndian.Uint64(bytes[:])
	if m := t.find(word); m.length() <= len(b) {
		return m
	}
	if m := t.short[uint16(word)]; m.length() <= len(b) {
		return m
	}
	return t.single[b[0]]
}

// Clone returns a copy of the table. The result of [Trainer.Train] changes with its next call.
func (t *Table) Clone() *Table {
	c := *t
	return &c
}

// Len is the number of symbols.
func (t *Table) Len() int { return t.n }

// Append appends the stored table: 8 bytes for each symbol, then one byte for each length.
func (t *Table) Append(dst []byte) []byte {
	for _, s := range t.symbols[:t.n] {
		dst = binary.LittleEndian.AppendUint64(dst, s.value)
	}
	for _, s := range t.symbols[:t.n] {
		dst = append(dst, s.length)
	}
	return dst
}
