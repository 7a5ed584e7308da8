package numeric

import (
	"math/bits"
	"slices"
)

// hashTable numbers distinct values. Slots that were filled for an earlier block
// count as empty: clearing costs nothing.
type hashTable struct {
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

// begin makes the table empty, with room for limit values at half load.
func (h *hashTable) begin(limit int) {
	size := 1 << bits.Len(uint(max(limit, 32)*2-1))
	if size > len(h.slots) || h.round == 1<<32-1 {
		h.slots, h.round = make([]hashSlot, max(size, len(h.slots))), 0
	}
	h.round++
	h.shift = uint(64 - bits.Len(uint(size-1)))
}

// index is the number of a value; next is given to one that is new.
func (h *hashTable) index(key uint64, next uint32) uint32 {
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

// number sets codes to the numbers of values, in the order in which the distinct
// ones come, and returns these. It stops and says no at more than limit.
func number[U word](e *enc, codes []uint32, values []U, limit int) (distinct []U, ok bool) {
	h := &e.table
	h.begin(limit)
	distinct = take[U](&e.scratch, limit+1)
	count := 0
	codes = codes[:len(values)]
	slots, shift, round := h.slots, h.shift, h.round
	for i, v := range values {
		s := &slots[uint64(v)*hashFactor>>(shift&63)]
		if s.round == round && s.key == uint64(v) {
			codes[i] = s.index
			continue
		}
		code := h.index(uint64(v), uint32(count))
		codes[i] = code
		if int(code) == count {
			distinct[count] = v
			if count++; count > limit {
				return nil, false
			}
		}
	}
	return distinct[:count], true
}

// sortDistinct brings distinct values, as number made them last, into ascending
// order, and turns their numbers in codes into dictionary codes: from 1.
func sortDistinct[U word](e *enc, codes []uint32, distinct []U, flip U) []U {
	sorted := take[U](&e.scratch, len(distinct))
	low, high := span(distinct, flip)
	for i, v := range distinct {
		sorted[i] = v ^ flip - low
	}
	sortBits(e, sorted, bits.Len64(uint64(high-low)))
	rank := take[uint32](&e.scratch, len(distinct))
	for i, v := range sorted {
		v = (v + low) ^ flip
		sorted[i] = v
		rank[e.table.index(uint64(v), 0)] = uint32(i + 1)
	}
	for i, c := range codes {
		codes[i] = rank[c]
	}
	return sorted
}

// sortBits sorts values of some bits: by one byte after the other, from the
// lowest, if those are few.
func sortBits[U word](e *enc, values []U, width int) {
	if width > 24 {
		slices.Sort(values)
		return
	}
	from, to := values, take[U](&e.scratch, len(values))
	for shift := 0; shift < width; shift += 8 {
		var ends [257]uint32
		for _, v := range from {
			ends[int(v>>shift&255)+1]++
		}
		for i := range 255 {
			ends[i+1] += ends[i]
		}
		for _, v := range from {
			digit := int(v >> shift & 255)
			to[ends[digit]] = v
			ends[digit]++
		}
		from, to = to, from
	}
	copy(values, from)
}
