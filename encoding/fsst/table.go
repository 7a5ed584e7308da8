package fsst

import "encoding/binary"

// Table is a set of symbols with the structures to find the longest that a
// string begins with. [Train] makes it; the zero value is of no use. Reading it
// is safe for concurrent use.
type Table struct {
	symbols [MaxSymbols]symbol   // by code
	n       int                  // of them
	long    [longSlots]longEntry // by three bytes: symbols of 3 to 8 bytes
	short   [1 << 16]match       // by two bytes: symbols of 1 or 2 bytes
	single  [256]match           // by one byte: symbols of 1 byte
}

// match is a code and, above it, the number of bytes that it stands for. An
// escape stands for one.
type match uint16

const noMatch match = 1<<8 | escape

func (m match) code() byte  { return byte(m) }
func (m match) length() int { return int(m >> 8) }

// longEntry holds one symbol. Of those that begin with the same three bytes, or
// whose three bytes have the same hash, only one is in a table.
type longEntry struct {
	value uint64
	mask  uint64 // of the bits of a word that count
	match match
}

const (
	longBits  = 11
	longSlots = 1 << longBits
)

// emptyEntry matches nothing: a word without its bits is not 1.
var emptyEntry = longEntry{value: 1}

// slot is the place of symbols that begin with the low three bytes of word.
func slot(word uint64) uint32 {
	return uint32(word) << 8 * 2654435761 >> (32 - longBits)
}

// set makes the table one of these symbols. They must differ, also in their
// slots where they are long, and be sorted by length.
func (t *Table) set(symbols []symbol) {
	t.n = copy(t.symbols[:], symbols)
	for i := range t.long {
		t.long[i] = emptyEntry
	}
	for i := range t.single {
		t.single[i] = noMatch
	}
	first := len(symbols) // of those with more than one byte
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

// find is the match of 8 bytes.
func (t *Table) find(word uint64) match {
	e := &t.long[slot(word)]
	if word&e.mask == e.value {
		return e.match
	}
	return t.short[uint16(word)]
}

// findLast is find for the last bytes of a string, 1 to 7 of them.
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

// Clone is a table of its own with the same symbols: what [Trainer.Train]
// returns changes with its next call.
func (t *Table) Clone() *Table {
	c := *t
	return &c
}

// Len is the number of symbols.
func (t *Table) Len() int { return t.n }

// Symbol is the symbol with code i: its bytes, the first in the low byte and
// unused ones 0, and their number.
func (t *Table) Symbol(i int) (value uint64, length uint8) {
	s := t.symbols[:t.n][i]
	return s.value, s.length
}

// Append appends the table as it is stored: 8 bytes a symbol, then one byte a
// length.
func (t *Table) Append(dst []byte) []byte {
	for _, s := range t.symbols[:t.n] {
		dst = binary.LittleEndian.AppendUint64(dst, s.value)
	}
	for _, s := range t.symbols[:t.n] {
		dst = append(dst, s.length)
	}
	return dst
}
