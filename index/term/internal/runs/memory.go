package runs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Memory is terms with their rows in memory: a hash table of entries. Entries and pages are not copied when more are needed, so that
// they leave no garbage. A term of one row has no more than its entry. The rows of others, the first as a gap from 0, are gaps as uvarints in slices
// of pages, each followed by the place of the next:
//
//	slice of 8 bytes   gaps … | place   slice of 16 bytes   gaps … | place   …
type Memory struct {
	Repeats bool // whether a row that comes again counts again

	table   []uint64 // the upper half of the hash, and the number of the entry, counted from 1; 0 if free
	entries [][]entry
	n       int // entries
	terms   pages
	gaps    pages
	list    []uint32 // rows that are yielded
}

type entry struct {
	begin  [beginLen]byte // the first bytes of the term, zeros behind it
	place  uint32         // of the term, if it is longer
	last   uint32         // row
	n      uint32         // rows
	head   uint32         // place of the first slice
	tail   uint32         // place of the next gap
	left   uint16         // bytes of the last slice behind it
	field  uint16
	length uint8 // of the term
	slices uint8 // number of them, as far as their size grows
}

const (
	beginLen   = 8
	chunkLen   = 1 << 12 // entries
	pageLen    = 1 << 16
	firstSlice = 8
	maxSlices  = 9 // the size of slices doubles so often
	placeLen   = 4
	entrySize  = 36
)

// pages are bytes at places that stay where they are.
type pages struct {
	all  [][]byte
	used int    // of all
	free uint32 // place behind the last byte in use
}

// room returns the place of n bytes that were not in use.
func (p *pages) room(n uint32) uint32 {
	if p.free%pageLen+n > pageLen || p.free%pageLen == 0 { // the next page
		p.free = uint32(p.used) * pageLen
		if p.used == len(p.all) {
			p.all = append(p.all, make([]byte, pageLen))
		}
		p.used++
	}
	at := p.free
	p.free += n
	return at
}

// at returns n bytes from a place on.
func (p *pages) at(place, n uint32) []byte {
	place, page := place%pageLen, p.all[place/pageLen]
	return page[place : place+n]
}

func (m *Memory) entry(i int) *entry { return &m.entries[i/chunkLen][i%chunkLen] }

// Size is the memory in use, in bytes.
func (m *Memory) Size() int64 {
	return int64(8*cap(m.table) + entrySize*m.n + pageLen*(m.terms.used+m.gaps.used))
}

// Reset forgets all terms, but keeps the memory.
func (m *Memory) Reset() {
	clear(m.table)
	m.n = 0
	for _, p := range []*pages{&m.terms, &m.gaps} {
		p.used, p.free = 0, 0
	}
}

// Add adds a row to a term of a field. The rows of a term come in ascending order; the same row may come again, which counts only with Repeats.
func (m *Memory) Add(field int, row uint32, term []byte) {
	if 4*m.n >= 3*len(m.table) {
		m.grow()
	}
	var begin [beginLen]byte
	copy(begin[:], term)
	hash := xxh3.HashSeed(term, uint64(field))
	mask := uint64(len(m.table) - 1)
	const upper = 1<<64 - 1<<32
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := m.table[i]
		if slot == 0 {
			m.table[i] = hash&upper | uint64(m.n+1)
			m.insert(field, row, begin, term)
			return
		}
		if slot&upper != hash&upper {
			continue
		}
		e := m.entry(int(uint32(slot)) - 1)
		if e.begin == begin && int(e.length) == len(term) && int(e.field) == field && (len(term) <= beginLen || bytes.Equal(m.term(e), term)) {
			if row != e.last || m.Repeats {
				m.append(e, row)
			}
			return
		}
	}
}

// insert adds an entry.
func (m *Memory) insert(field int, row uint32, begin [beginLen]byte, term []byte) {
	if m.n == chunkLen*len(m.entries) {
		m.entries = append(m.entries, make([]entry, chunkLen))
	}
	e := m.entry(m.n)
	*e = entry{begin: begin, length: uint8(len(term)), field: uint16(field), last: row, n: 1}
	if len(term) > beginLen {
		e.place = m.terms.room(uint32(len(term)))
		copy(m.term(e), term)
	}
	m.n++
}

func (m *Memory) term(e *entry) []byte {
	if e.length <= beginLen {
		return e.begin[:e.length]
	}
	return m.terms.at(e.place, uint32(e.length))
}

// grow doubles the table.
func (m *Memory) grow() {
	old := m.table
	m.table = make([]uint64, max(2*len(old), 1<<10))
	mask := uint64(len(m.table) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		e := m.entry(int(uint32(slot)) - 1)
		i := xxh3.HashSeed(m.term(e), uint64(e.field)) & mask
		for m.table[i] != 0 {
			i = (i + 1) & mask
		}
		m.table[i] = slot
	}
}

// append adds a row behind the last one.
func (m *Memory) append(e *entry, row uint32) {
	if e.n == 1 {
		m.appendGap(e, e.last)
	}
	m.appendGap(e, row-e.last)
	e.last = row
	e.n++
}

func (m *Memory) appendGap(e *entry, gap uint32) {
	for ; gap >= 0x80; gap >>= 7 {
		m.put(e, byte(gap)|0x80)
	}
	m.put(e, byte(gap))
}

// put appends a byte to the gaps of an entry.
func (m *Memory) put(e *entry, c byte) {
	if e.left == 0 {
		m.extend(e)
	}
	m.gaps.all[e.tail/pageLen][e.tail%pageLen] = c
	e.tail++
	e.left--
}

// extend adds a slice to an entry.
func (m *Memory) extend(e *entry) {
	size := sliceSize(e.slices)
	at := m.gaps.room(size + placeLen)
	if e.slices == 0 {
		e.head = at
	} else {
		binary.LittleEndian.PutUint32(m.gaps.at(e.tail, placeLen), at)
	}
	e.tail, e.left, e.slices = at, uint16(size), min(e.slices+1, maxSlices)
}

// sliceSize is the size of the slice behind some others.
func sliceSize(others uint8) uint32 { return firstSlice << others }

// gapReader reads the gaps of an entry.
type gapReader struct {
	pages    *pages
	at, left uint32
	slices   uint8
}

func (g *gapReader) next() (gap uint32) {
	for shift := 0; ; shift += 7 {
		if g.left == 0 {
			if g.slices > 0 {
				g.at = binary.LittleEndian.Uint32(g.pages.at(g.at, placeLen))
			}
			g.left = sliceSize(g.slices)
			g.slices = min(g.slices+1, maxSlices)
		}
		c := g.pages.all[g.at/pageLen][g.at%pageLen]
		g.at++
		g.left--
		gap |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return gap
		}
	}
}

// rows calls yield with the rows of an entry, several at a time.
func (m *Memory) rows(e *entry, yield func(rows []uint32)) {
	if e.n == 1 {
		m.list = append(m.list[:0], e.last)
		yield(m.list)
		return
	}
	g := gapReader{pages: &m.gaps, at: e.head}
	row := uint32(0)
	for n := e.n; n > 0; n -= uint32(len(m.list)) {
		m.list = m.list[:0]
		for range min(n, batch) {
			row += g.next()
			m.list = append(m.list, row)
		}
		yield(m.list)
	}
}

// key is an entry to be sorted.
type key struct {
	begin uint64 // of the term, in upper case
	entry uint32
}

// sorted returns the entries in the order of an index.
func (m *Memory) sorted(c analysis.Collation) []key {
	keys := make([]key, m.n)
	var upper []byte
	for i := range keys {
		e := m.entry(i)
		begin := e.begin
		if c == analysis.CasePreserving {
			upper = analysis.AppendUpper(upper[:0], m.term(e))
			begin = [beginLen]byte{}
			copy(begin[:], upper)
		}
		keys[i] = key{binary.BigEndian.Uint64(begin[:]), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		x, y := m.entry(int(a.entry)), m.entry(int(b.entry))
		return Compare(c, m.term(x), int(x.field), m.term(y), int(y.field))
	})
	return keys
}

// Compare compares terms of fields in the order of an index.
func Compare(c analysis.Collation, a []byte, f int, b []byte, g int) int {
	order := 0
	if c == analysis.CasePreserving {
		order = c.Compare(a, b)
	} else { // terms are in upper case
		order = bytes.Compare(a, b)
	}
	return cmp.Or(order, f-g)
}
