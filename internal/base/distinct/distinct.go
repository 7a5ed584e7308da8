// Package distinct numbers byte strings: the same string always gets the same
// id, and ids are dense, from 0, in the order in which strings first appear.
package distinct

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/zeebo/xxh3"
)

const (
	minSlots    = 64
	sparseSlots = 4096
)

// Set is a hash table of byte strings. The zero value is empty and ready to use.
type Set struct {
	data    []byte // all strings, in the order of their ids
	entries []entry
	slots   []uint64 // open addressing: hash<<32 | id+1, 0 = free; the length is a power of 2
	last    uint32   // the id given last
}

// entry is a string: its first eight bytes, padded with zeros, and where it ends in data.
// Strings of up to eight bytes are compared without access to data.
type entry struct {
	head uint64
	end  int
	n    int
}

// Add returns the id of value, and whether it is new.
func (s *Set) Add(value []byte) (id uint32, added bool) {
	head := headOf(value)
	if int(s.last) < len(s.entries) && s.equal(s.last, head, value) {
		return s.last, false
	}
	if len(s.entries) >= s.capacity() {
		s.grow()
	}
	h := hashOf(head, value)
	mask := uint32(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			s.slots[i] = uint64(h)<<32 | uint64(len(s.entries)+1)
			s.last = s.append(head, value)
			return s.last, true
		}
		if uint32(slot>>32) == h && s.equal(uint32(slot)-1, head, value) {
			s.last = uint32(slot) - 1
			return s.last, false
		}
	}
}

// AddAll appends the ids of many values to ids: value i is
// data[offsets[i]:offsets[i+1]].
func (s *Set) AddAll(ids []uint32, data []byte, offsets []int64) []uint32 {
	if len(s.slots) == 0 {
		s.grow()
	}
	mask := uint32(len(s.slots) - 1)
	start := offsets[0]
	for _, end := range offsets[1:] {
		value := data[start:end]
		start = end
		if len(value) <= 8 { // usually found in the first slot
			head := headOf(value)
			h := hashOf(head, value)
			if slot := s.slots[h&mask]; uint32(slot>>32) == h && slot != 0 {
				if e := &s.entries[uint32(slot)-1]; e.head == head && e.n == len(value) {
					ids = append(ids, uint32(slot)-1)
					continue
				}
			}
		}
		id, _ := s.Add(value)
		mask = uint32(len(s.slots) - 1)
		ids = append(ids, id)
	}
	return ids
}

// AddApart gives value a separate id, which Add never returns.
func (s *Set) AddApart(value []byte) (id uint32) {
	id = s.append(headOf(value), value)
	s.entries[id].n = -1 - len(value)
	return id
}

func (s *Set) append(head uint64, value []byte) uint32 {
	s.data = append(s.data, value...)
	s.entries = append(s.entries, entry{head, len(s.data), len(value)})
	return uint32(len(s.entries) - 1)
}

func (s *Set) equal(id uint32, head uint64, value []byte) bool {
	e := &s.entries[id]
	if e.head != head || e.n != len(value) {
		return false
	}
	return e.n <= 8 || bytes.Equal(s.data[e.end-e.n+8:e.end], value[8:])
}

// capacity is the number of strings that the slots are for. Small tables have a low load, so
// that nearly all strings are in their first slot.
func (s *Set) capacity() int {
	if len(s.slots) <= sparseSlots {
		return len(s.slots) / 4
	}
	return len(s.slots) / 4 * 3
}

func (s *Set) grow() {
	old := s.slots
	s.slots = make([]uint64, max(2*len(old), minSlots))
	mask := uint32(len(s.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := uint32(slot>>32) & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = slot
	}
}

// headOf is the first eight bytes, padded with zeros.
func headOf(value []byte) uint64 {
	n := len(value)
	if n >= 8 {
		return binary.LittleEndian.Uint64(value)
	}
	if cap(value) >= 8 {
		return binary.LittleEndian.Uint64(value[:8]) & (1<<(8*n) - 1)
	}
	var word uint64
	for i, b := range value {
		word |= uint64(b) << (8 * i)
	}
	return word
}

// seeds make hashes differ between processes, so that an attacker cannot choose strings that
// collide. Ids do not depend on hashes.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64()}

func hashOf(head uint64, value []byte) uint32 {
	n := len(value)
	switch {
	case n <= 8:
		hi, lo := bits.Mul64(head^uint64(n)<<56^seeds[0], seeds[1]|1<<63|1)
		return uint32(hi ^ lo)
	case n <= 16:
		tail := binary.LittleEndian.Uint64(value[n-8:])
		hi, lo := bits.Mul64(head^seeds[0], tail^uint64(n)^seeds[1])
		return uint32(hi ^ lo)
	}
	return uint32(xxh3.HashSeed(value, seeds[0]) >> 32)
}

// Len is the number of ids.
func (s *Set) Len() int { return len(s.entries) }

// Data is the concatenation of all strings, in the order of their ids.
func (s *Set) Data() []byte { return s.data }

// End is the offset at which the string with an id ends in Data; it begins at the end of the
// string before.
func (s *Set) End(id uint32) int { return s.entries[id].end }

// Value is the string with the given id, a view of Data. It is valid until the
// next change.
func (s *Set) Value(id uint32) []byte {
	from := 0
	if id > 0 {
		from = s.entries[id-1].end
	}
	end := s.entries[id].end
	return s.data[from:end:end]
}

// Memory is the size of the set in bytes.
func (s *Set) Memory() int { return cap(s.data) + 24*cap(s.entries) + 8*len(s.slots) }

// Reset empties the set, and keeps its memory.
func (s *Set) Reset() {
	s.data, s.entries, s.last = s.data[:0], s.entries[:0], 0
	clear(s.slots)
}

// Renumber changes the id i of each string to perm[i], for a permutation of all ids.
func (s *Set) Renumber(perm []uint32) {
	old := make([]uint32, len(perm))
	for id, to := range perm {
		old[to] = uint32(id)
	}
	data := make([]byte, 0, len(s.data))
	entries := make([]entry, len(s.entries))
	for to, id := range old {
		data = append(data, s.Value(id)...)
		e := s.entries[id]
		entries[to] = entry{e.head, len(data), e.n}
	}
	for i, slot := range s.slots {
		if slot != 0 {
			s.slots[i] = slot&^(1<<32-1) | uint64(perm[uint32(slot)-1]+1)
		}
	}
	s.data, s.entries, s.last = data, entries, 0
}
