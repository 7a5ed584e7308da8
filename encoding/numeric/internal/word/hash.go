package word

import "math/bits"

// HashTable numbers distinct values. Slots that were filled before the last Begin count as empty: clearing costs
// nothing.
type HashTable struct {
	slots []hashSlot
	shift uint
	round uint32
}

type hashSlot struct {
	key   uint64
	round uint32
	index uint32
}

const hashFactor = 0x9E3779B97F4A7C15 // 2^64 / golden ratio

// Begin makes the table empty, with room for limit values at half load.
func (h *HashTable) Begin(limit int) {
	size := 1 << bits.Len(uint(max(limit, 32)*2-1))
	if size > len(h.slots) || h.round == 1<<32-1 {
		h.slots, h.round = make([]hashSlot, max(size, len(h.slots))), 0
	}
	h.round++
	h.shift = uint(64 - bits.Len(uint(size-1)))
}

// Index is the number of a value; next is given to one that is new.
func (h *HashTable) Index(key uint64, next uint32) uint32 {
	mask := uint64(1)<<(64-h.shift) - 1
	for at := key * hashFactor >> h.shift; ; at++ {
		s := &h.slots[at&mask]
		if s.round != h.round {
			*s = hashSlot{key: key, round: h.round, index: next}
			return next
		}
		if s.key == key {
			return s.index
		}
	}
}

// Number sets codes to the numbers of values, in the order in which the distinct ones come, and distinct to these, of
// which there is room for one more than limit. It stops and says no at more than limit.
func Number[U Uint](h *HashTable, codes []uint32, distinct, values []U, limit int) (count int, ok bool) {
	h.Begin(limit)
	codes = codes[:len(values)]
	slots, shift, round := h.slots, h.shift, h.round
	for i, v := range values {
		s := &slots[uint64(v)*hashFactor>>(shift&63)]
		if s.round == round && s.key == uint64(v) {
			codes[i] = s.index
			continue
		}
		code := h.Index(uint64(v), uint32(count))
		codes[i] = code
		if int(code) == count {
			distinct[count] = v
			if count++; count > limit {
				return count, false
			}
		}
	}
	return count, true
}
