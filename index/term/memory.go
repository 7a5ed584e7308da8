package term

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/index/analysis"
)

// memory is terms with their rows in memory: a hash table of entries. The rows of an entry are gaps as uvarints in slices of pages, each
// followed by the place of the next:
//
//	slice of 12 bytes   gaps … | place   slice of 28 bytes   gaps … | place   …
type memory struct {
	table   []uint64 // the upper half of the hash, and the number of the entry, counted from 1; 0 if free
	entries []entry
	terms   []byte // of all entries
	pages   [][]byte
	free    uint32 // place behind the last slice
}

type entry struct {
	at          uint32 // of the term
	length      uint16
	field       uint16
	first, last uint32 // rows
	n           uint32 // rows
	head, tail  uint32 // places of the first slice, and of the next gap
	end         uint32 // place where the last slice ends
	size        uint32 // of it
}

const (
	pageLen      = 1 << 16
	firstSlice   = 12
	largestSlice = 4 << 10
	placeLen     = 4
	entrySize    = 40
)

func (m *memory) len() int { return len(m.entries) }

// size is the memory in use.
func (m *memory) size() int64 {
	return int64(8*cap(m.table) + entrySize*cap(m.entries) + cap(m.terms) + pageLen*len(m.pages))
}

// add adds a row to a term.
func (m *memory) add(field int, row uint32, term []byte) {
	if 4*len(m.entries) >= 3*len(m.table) {
		m.grow()
	}
	hash := xxh3.HashSeed(term, uint64(field))
	mask := uint64(len(m.table) - 1)
	const upper = 1<<64 - 1<<32
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := m.table[i]
		if slot == 0 {
			m.table[i] = hash&upper | uint64(len(m.entries)+1)
			m.entries = append(m.entries, entry{at: uint32(len(m.terms)), length: uint16(len(term)), field: uint16(field), first: row, last: row, n: 1})
			m.terms = append(m.terms, term...)
			return
		}
		if slot&upper != hash&upper {
			continue
		}
		e := &m.entries[uint32(slot)-1]
		if int(e.field) == field && bytes.Equal(m.term(e), term) {
			if row != e.last {
				m.append(e, row)
			}
			return
		}
	}
}

func (m *memory) term(e *entry) []byte { return m.terms[e.at : e.at+uint32(e.length)] }

// grow doubles the table.
func (m *memory) grow() {
	old := m.table
	m.table = make([]uint64, max(2*len(old), 1<<10))
	mask := uint64(len(m.table) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		e := &m.entries[uint32(slot)-1]
		i := xxh3.HashSeed(m.term(e), uint64(e.field)) & mask
		for m.table[i] != 0 {
			i = (i + 1) & mask
		}
		m.table[i] = slot
	}
}

// append adds a row behind the last one.
func (m *memory) append(e *entry, row uint32) {
	gap := row - e.last
	e.last = row
	e.n++
	for ; gap >= 0x80; gap >>= 7 {
		m.put(e, byte(gap)|0x80)
	}
	m.put(e, byte(gap))
}

func (m *memory) put(e *entry, c byte) {
	if e.tail == e.end {
		m.extend(e)
	}
	m.pages[e.tail/pageLen][e.tail%pageLen] = c
	e.tail++
}

// extend gives an entry another slice, twice as long as the last.
func (m *memory) extend(e *entry) {
	size := nextSlice(e.size)
	if m.free%pageLen+size+placeLen > pageLen || int(m.free/pageLen) == len(m.pages) {
		m.free = uint32(len(m.pages)) * pageLen
		m.pages = append(m.pages, make([]byte, pageLen))
	}
	if e.size == 0 {
		e.head = m.free
	} else {
		binary.LittleEndian.PutUint32(m.pages[e.end/pageLen][e.end%pageLen:], m.free)
	}
	e.tail, e.end, e.size = m.free, m.free+size, size
	m.free += size + placeLen
}

func nextSlice(size uint32) uint32 { return min(max(2*size, firstSlice), largestSlice) }

// gaps reads the gaps of an entry.
type gaps struct {
	m             *memory
	at, end, size uint32
}

func (g *gaps) ReadByte() (byte, error) {
	if g.at == g.end {
		if g.size > 0 {
			g.at = binary.LittleEndian.Uint32(g.m.pages[g.end/pageLen][g.end%pageLen:])
		}
		g.size = nextSlice(g.size)
		g.end = g.at + g.size
	}
	c := g.m.pages[g.at/pageLen][g.at%pageLen]
	g.at++
	return c, nil
}

// rows calls yield with each row of an entry.
func (m *memory) rows(e *entry, yield func(row uint32)) {
	row := e.first
	yield(row)
	g := gaps{m: m, at: e.head, end: e.head}
	for range e.n - 1 {
		gap, shift := uint32(0), 0
		for {
			c, _ := g.ReadByte()
			gap |= uint32(c&0x7f) << shift
			if c < 0x80 {
				break
			}
			shift += 7
		}
		row += gap
		yield(row)
	}
}

// sorted returns the entries in the order of an index.
func (m *memory) sorted(c analysis.Collation) []*entry {
	type key struct {
		begin uint64 // of the term, in upper case
		e     *entry
	}
	keys := make([]key, len(m.entries))
	var upper []byte
	for i := range keys {
		e := &m.entries[i]
		term := m.term(e)
		if c == analysis.CasePreserving {
			upper = analysis.AppendUpper(upper[:0], term)
			term = upper
		}
		var begin [8]byte
		copy(begin[:], term)
		keys[i] = key{binary.BigEndian.Uint64(begin[:]), e}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return compare(c, m.term(a.e), int(a.e.field), m.term(b.e), int(b.e.field))
	})
	out := make([]*entry, len(keys))
	for i, k := range keys {
		out[i] = k.e
	}
	return out
}

// compare compares terms of fields in the order of an index.
func compare(c analysis.Collation, a []byte, f int, b []byte, g int) int {
	order := 0
	if c == analysis.CasePreserving {
		order = c.Compare(a, b)
	} else { // terms are in upper case
		order = bytes.Compare(a, b)
	}
	return cmp.Or(order, f-g)
}
