package fsst

import (
	"encoding/binary"
	"slices"
)

// Table is a set of symbols with the structures to find the longest that a
// string begins with. Reading it is safe for concurrent use.
type Table struct {
	symbols []symbol
	long    [longSlots]longEntry
	short   [1 << 16]uint16 // by two bytes: code | length<<8 of a symbol of 1 or 2 bytes, or escapeEntry
}

// longEntry holds one symbol of 3 to 8 bytes. Of those that begin with the same
// three bytes, or whose three bytes have the same hash, only one is in a table.
type longEntry struct {
	value uint64
	mask  uint64 // of the bytes that count
	match uint16 // code | length<<8
}

const (
	longSlots   = 1 << 11
	escapeEntry = escape | 1<<8
)

// slot is the place of symbols that begin with the low three bytes of word.
func slot(word uint64) uint32 {
	return uint32(word) << 8 * 2654435761 >> (32 - 11)
}

// reset empties the table.
func (t *Table) reset() {
	t.symbols = t.symbols[:0]
	for i := range t.long {
		t.long[i] = longEntry{value: 1} // mask 0: matches nothing
	}
	for i := range t.short {
		t.short[i] = escapeEntry
	}
}

// add gives the next code to s, or returns false if there is no room for it.
// Symbols must be added once each, those of one byte before those of two.
func (t *Table) add(s symbol) bool {
	code := len(t.symbols)
	if code == MaxSymbols {
		return false
	}
	match := uint16(code) | uint16(s.length)<<8
	switch s.length {
	case 1:
		for high := range 256 {
			t.short[int(s.value)|high<<8] = match
		}
	case 2:
		t.short[s.value] = match
	default:
		e := &t.long[slot(s.value)]
		if e.mask != 0 {
			return false
		}
		*e = longEntry{s.value, cut(^uint64(0), s.length), match}
	}
	t.symbols = append(t.symbols, s)
	return true
}

// find is the code | length<<8 of the symbol that the 8 bytes of word begin
// with; escapeEntry if there is none.
func (t *Table) find(word uint64) uint16 {
	if e := &t.long[slot(word)]; word&e.mask == e.value {
		return e.match
	}
	return t.short[uint16(word)]
}

// findShort is find for fewer than 8 bytes.
func (t *Table) findShort(b []byte) uint16 {
	match := uint16(escapeEntry)
	best := uint8(0)
	var word [8]byte
	copy(word[:], b)
	w := binary.LittleEndian.Uint64(word[:])
	for code, s := range t.symbols {
		if s.length > best && int(s.length) <= len(b) && cut(w, s.length) == s.value {
			best, match = s.length, uint16(code)|uint16(s.length)<<8
		}
	}
	return match
}

// Len is the number of symbols.
func (t *Table) Len() int { return len(t.symbols) }

// Symbol is the symbol with code i: its bytes, the first in the low byte and
// unused ones 0, and their number.
func (t *Table) Symbol(i int) (value uint64, length uint8) {
	s := t.symbols[i]
	return s.value, s.length
}

// Append appends the table as it is stored: 8 bytes a symbol, then one byte a
// length.
func (t *Table) Append(dst []byte) []byte {
	for _, s := range t.symbols {
		dst = binary.LittleEndian.AppendUint64(dst, s.value)
	}
	for _, s := range t.symbols {
		dst = append(dst, s.length)
	}
	return dst
}

// encodeStep bytes are encoded between looks at the room that is left.
const encodeStep = 4096

// Encode appends the codes of src to dst.
func (t *Table) Encode(dst, src []byte) []byte {
	for len(src) >= MaxSymbolLen {
		// The words of a step may reach 8 bytes beyond its end, no further.
		last := min(encodeStep, len(src)-MaxSymbolLen)
		n := len(dst)
		dst = slices.Grow(dst, 2*last+4)
		out := dst[n:cap(dst)]
		at, o := 0, 0
		for at <= last {
			word := binary.LittleEndian.Uint64(src[at:])
			match := t.find(word)
			// An escape needs its byte; for other codes the next one writes over it.
			out[o], out[o+1] = byte(match), byte(word)
			o++
			if byte(match) == escape {
				o++
			}
			at += int(match >> 8)
		}
		dst = dst[:n+o]
		src = src[at:]
	}
	for len(src) > 0 {
		match := t.findShort(src)
		dst = append(dst, byte(match))
		if byte(match) == escape {
			dst = append(dst, src[0])
		}
		src = src[match>>8:]
	}
	return dst
}
