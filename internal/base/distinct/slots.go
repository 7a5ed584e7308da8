package distinct

import "math/bits"

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
