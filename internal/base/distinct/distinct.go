// Package distinct numbers byte strings: the same string always gets the same
// id, and ids are dense, from 0, in the order in which strings first appear.
package distinct

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"
)

const (
	minSlots    = 64
	sparseSlots = 4096
)

// Set is a hash table of byte strings. The zero value is empty and ready to use.
type Set struct {
	data  []byte // all strings, in the order of their ids
	ends  []int  // of strings in data, by id
	slots []slot // open addressing; the length is a power of 2
	last  slot   // of the string that was added or found last, unless in its first slot
}

// slot is a string: its first eight bytes, padded with zeros, its id, and a tag. Strings of up to eight bytes are compared without access to data.
type slot struct {
	head uint64
	next uint32 // the id behind its own; 0 = free
	tag  uint32 // the low 28 bits of the hash, and the length, or long
}

// long is the length in tags of more than eight bytes.
const long = 9

func tagOf(hash uint32, n int) uint32 { return hash<<4 | min(uint32(n), long) }

// Add returns the id of value, and whether it is new.
func (s *Set) Add(value []byte) (id uint32, added bool) {
	head := headOf(value)
	if len(value) > 8 {
		if s.last.tag&15 == long && s.holds(&s.last, head, value) {
			return s.last.next - 1, false
		}
		return s.add(head, tagOf(hashOf(head, value), long), value)
	}
	tag := tagOf(hashOf8(head, len(value)), len(value))
	if id, known := s.first(head, tag); known {
		return id, false
	}
	return s.add(head, tag, value)
}

// add is Add with the head and the tag of value.
func (s *Set) add(head uint64, tag uint32, value []byte) (id uint32, added bool) {
	if len(s.ends) >= s.capacity() {
		s.grow()
	}
	mask := uint32(len(s.slots) - 1)
	for i := tag >> 4 & mask; ; i = (i + 1) & mask {
		at := &s.slots[i]
		if at.next == 0 {
			s.append(value)
			*at = slot{head, uint32(len(s.ends)), tag}
			s.last = *at
			return at.next - 1, true
		}
		if at.tag == tag && s.holds(at, head, value) {
			s.last = *at
			return at.next - 1, false
		}
	}
}

// holds reports whether a slot of the length of value, up to long, is that of value.
func (s *Set) holds(at *slot, head uint64, value []byte) bool {
	return at.head == head && at.next != 0 && (len(value) <= 8 || bytes.Equal(s.Value(at.next-1), value))
}

// AddAll appends the ids of many values to ids: value i is
// data[offsets[i]:offsets[i+1]].
func (s *Set) AddAll(ids []uint32, data []byte, offsets []int64) []uint32 {
	start := offsets[0]
	for _, end := range offsets[1:] {
		id, _ := s.Add(data[start:end])
		ids = append(ids, id)
		start = end
	}
	return ids
}

// AddFixed appends the ids of values of size bytes each to ids.
func (s *Set) AddFixed(ids []uint32, data []byte, size int) []uint32 {
	var rest [256]uint8 // values of a part that are yet to be added
	for n := 0; len(data) >= size; data = data[n*size:] {
		n = min(len(data)/size, len(rest))
		from, left := len(ids), 0
		ids = slices.Grow(ids, n)[:from+n]
		switch {
		case size == 8 && len(s.slots) > 0:
			left = look[uint64](s, ids[from:], data, &rest)
		case size == 4 && len(s.slots) > 0:
			left = look[uint32](s, ids[from:], data, &rest)
		default:
			for ; left < n; left++ {
				rest[left] = uint8(left)
			}
		}
		for _, i := range rest[:left] {
			at := int(i) * size
			ids[from+int(i)], _ = s.Add(data[at : at+size])
		}
	}
	return ids
}

// look sets the ids of numbers that are in their first slots, and lists the others. It has no branches that a processor would guess, as random values
// make many guesses wrong.
func look[T uint32 | uint64](s *Set, ids []uint32, data []byte, rest *[256]uint8) int {
	n, mask, slots, size := 0, uint32(len(s.slots)-1), s.slots, int(unsafe.Sizeof(T(0)))
	data = data[:size*len(ids)]
	for i := range ids {
		var head uint64
		if size == 8 {
			head = binary.LittleEndian.Uint64(data[i*size:])
		} else {
			head = uint64(binary.LittleEndian.Uint32(data[i*size:]))
		}
		tag := tagOf(hashOf8(head, size), size)
		at := &slots[tag>>4&mask]
		ids[i], rest[n&255] = at.next-1, uint8(i)
		if at.head^head|uint64(at.tag^tag) != 0 {
			n++
		}
	}
	return n
}

// first is the id of a string of up to eight bytes if it is in its first slot, as most are.
func (s *Set) first(head uint64, tag uint32) (id uint32, known bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	at := &s.slots[tag>>4&uint32(len(s.slots)-1)]
	return at.next - 1, at.head == head && at.tag == tag && at.next != 0
}

// AddApart gives value a separate id, which Add never returns.
func (s *Set) AddApart(value []byte) (id uint32) {
	s.append(value)
	return uint32(len(s.ends) - 1)
}

func (s *Set) append(value []byte) {
	if need := len(s.data) + len(value); need > cap(s.data) { // the language would grow it by a quarter, and copy several times as much
		s.data = slices.Grow(s.data, need)
	}
	s.data = append(s.data, value...)
	s.ends = append(s.ends, len(s.data))
}

// capacity is the number of strings that the slots are for.
func (s *Set) capacity() int { return capacityOf(len(s.slots)) }

// capacityOf is the number of strings that so many slots are for. Small tables have a low load, so that nearly all strings are in their first slot.
func capacityOf(slots int) int {
	if slots <= sparseSlots {
		return slots / 4
	}
	return slots / 2
}

// Begin empties the set, and makes room for n strings, in the memory that it has if that is enough.
func (s *Set) Begin(n int) {
	size := minSlots
	for capacityOf(size) < n {
		size *= 2
	}
	if cap(s.slots) < size {
		s.slots = make([]slot, size)
	}
	s.slots = s.slots[:size]
	s.Reset()
	s.ends = slices.Grow(s.ends, n)
}

func (s *Set) grow() {
	old := s.slots
	s.slots = make([]slot, max(2*len(old), minSlots))
	mask := uint32(len(s.slots) - 1)
	for _, at := range old {
		if at.next == 0 {
			continue
		}
		i := at.tag >> 4 & mask
		for s.slots[i].next != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = at
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

// hashOf8 is that of up to eight bytes.
func hashOf8(head uint64, n int) uint32 {
	hi, lo := bits.Mul64(head^uint64(n)<<56^seeds[0], seeds[1]|1<<63|1)
	return uint32(hi ^ lo)
}

func hashOf(head uint64, value []byte) uint32 {
	n := len(value)
	switch {
	case n <= 8:
		return hashOf8(head, n)
	case n <= 16:
		tail := binary.LittleEndian.Uint64(value[n-8:])
		hi, lo := bits.Mul64(head^seeds[0], tail^uint64(n)^seeds[1])
		return uint32(hi ^ lo)
	}
	return uint32(xxh3.HashSeed(value, seeds[0]) >> 32)
}

// Len is the number of ids.
func (s *Set) Len() int { return len(s.ends) }

// Data is the concatenation of all strings, in the order of their ids.
func (s *Set) Data() []byte { return s.data }

// End is the offset at which the string with an id ends in Data; it begins at the end of the
// string before.
func (s *Set) End(id uint32) int { return s.ends[id] }

// Value is the string with the given id, a view of Data. It is valid until the
// next change.
func (s *Set) Value(id uint32) []byte {
	from := 0
	if id > 0 {
		from = s.ends[id-1]
	}
	end := s.ends[id]
	return s.data[from:end:end]
}

// Memory is the size of the set in bytes.
func (s *Set) Memory() int { return cap(s.data) + 8*cap(s.ends) + 16*cap(s.slots) }

// Reset empties the set, and keeps its memory.
func (s *Set) Reset() {
	s.data, s.ends, s.last = s.data[:0], s.ends[:0], slot{}
	clear(s.slots)
}

// Renumber changes the id i of each string to perm[i], for a permutation of all ids.
func (s *Set) Renumber(perm []uint32) {
	old := make([]uint32, len(perm))
	for id, to := range perm {
		old[to] = uint32(id)
	}
	data, ends := make([]byte, 0, len(s.data)), make([]int, len(s.ends))
	for to, id := range old {
		data = append(data, s.Value(id)...)
		ends[to] = len(data)
	}
	for i := range s.slots {
		if at := &s.slots[i]; at.next != 0 {
			at.next = perm[at.next-1] + 1
		}
	}
	s.data, s.ends, s.last = data, ends, slot{}
}

// Slots are a hash table of numbers from 1: open addressing with linear probing. The slot of a number has the upper 32 bits of its hash, then the
// number; 0 is free. Slots are in the order of hashes, so that a larger table is filled in order. The zero value has room for nothing.
type Slots struct {
	slots []uint64
	shift uint8 // of a hash, to its slot
}

// Reserve makes room for n numbers, of which all but the last are in the table. At most half of the slots are taken.
func (s *Slots) Reserve(n int) {
	if 2*n >= len(s.slots) {
		s.grow(n)
	}
}

func (s *Slots) grow(n int) {
	old := s.slots
	width := max(bits.Len(uint(2*n)), 10)
	s.slots, s.shift = make([]uint64, 1<<width), uint8(64-width)
	for _, slot := range old {
		if slot != 0 {
			s.put(slot)
		}
	}
}

// Put adds a number, for which there is room.
func (s *Slots) Put(hash uint64, number uint32) { s.put(slotOf(hash, number)) }

func slotOf(hash uint64, number uint32) uint64 { return hash>>32<<32 | uint64(number) }

func (s *Slots) put(slot uint64) {
	mask := len(s.slots) - 1
	i := int(slot >> (s.shift & 63))
	for s.slots[i&mask] != 0 {
		i++
	}
	s.slots[i&mask] = slot
}

// First is the number in the first slot of a hash. A loop over many hashes waits for several slots at a time.
func (s *Slots) First(hash uint64) uint32 { return uint32(s.slots[hash>>(s.shift&63)]) }

// Probe goes from slot to slot, first from that of a hash, later from the one behind the place that it returned. It returns the next number with
// that hash, and its place, or 0 and the place of a free slot.
func (s *Slots) Probe(hash uint64, from int) (number uint32, at int) {
	mask := len(s.slots) - 1
	for at = from & mask; ; at = (at + 1) & mask {
		if slot := s.slots[at]; slot == 0 || (slot^hash)>>32 == 0 {
			return uint32(slot), at
		}
	}
}

// Place is the place of the first slot of a hash.
func (s *Slots) Place(hash uint64) int { return int(hash >> (s.shift & 63)) }

// Set puts a number into a free slot.
func (s *Slots) Set(at int, hash uint64, number uint32) { s.slots[at] = slotOf(hash, number) }

// Size is the number of bytes of the table.
func (s *Slots) Size() int64 { return int64(8 * len(s.slots)) }
