package keys

import (
	"math/bits"
	"slices"
)

// None is the number of no group, and of no entry of a table. Rows of no group are aggregated, too, so that loops need
// no branch: that result is dropped.
const None = 0

// Mix spreads the bits of a key: a multiplication of 128 bits, with both halves joined.
func Mix(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// wordTable numbers distinct words from 1, in the order of their first appearance. A small range of words is a direct
// index; others are hashed, with linear probing.
type wordTable struct {
	words  []uint64 // by number; that of 0 is not used
	slots  []uint32 // numbers, by word if direct, else by hash
	direct bool
}

const (
	leastSlots = 1 << 10
)

// reset makes the table empty for words of at most this number of bits. room is the number of rows seen so far: a direct
// index may be a few times larger.
func (t *wordTable) reset(width int, room int64) {
	t.words = append(t.words[:0], 0)
	t.direct = isDirect(width, room)
	n := leastSlots
	if t.direct {
		n = 1 << width
	}
	t.slots = make([]uint32, n)
}

// add gives a word that has a slot, but no number, the next one.
func (t *wordTable) add(w uint64) uint32 {
	id := t.number(w)
	t.slots[w] = id
	return id
}

// number is the next number, of a word.
func (t *wordTable) number(w uint64) uint32 {
	if len(t.words) == cap(t.words) {
		t.words = slices.Grow(t.words, len(t.words))
	}
	t.words = append(t.words, w)
	return uint32(len(t.words) - 1)
}

// isDirect reports whether words of this number of bits are a direct index.
func isDirect(width int, room int64) bool { return width < 31 && int64(1)<<width <= max(1<<16, 4*room) }

// len is the number of words.
func (t *wordTable) len() int { return len(t.words) - 1 }

func (t *wordTable) size() int64 { return int64(8*cap(t.words) + 4*cap(t.slots)) }

// find writes the numbers of words to out. A word that is not in the table gets a new number if grow is set, else None.
func (t *wordTable) find(out []uint32, words []uint64, grow bool) {
	if t.direct {
		t.findDirect(out, words, grow)
		return
	}
	t.findHashed(out, words, grow)
}

func (t *wordTable) findDirect(out []uint32, words []uint64, grow bool) {
	slots := t.slots
	out = out[:len(words)]
	for i, w := range words {
		if w >= uint64(len(slots)) {
			out[i] = None
			continue
		}
		id := slots[w]
		if id == None && grow {
			id = t.add(w)
		}
		out[i] = id
	}
}

func (t *wordTable) findHashed(out []uint32, words []uint64, grow bool) {
	out = out[:len(words)]
	mask := uint64(len(t.slots) - 1)
	for i, w := range words {
		at := Mix(w) & mask
		for {
			id := t.slots[at]
			if id != None && t.words[id] != w {
				at = (at + 1) & mask
				continue
			}
			if id == None && grow {
				id = t.number(w)
				t.slots[at] = id
				if 2*len(t.words) > len(t.slots) {
					t.rehash(2 * len(t.slots))
					mask = uint64(len(t.slots) - 1)
				}
			}
			out[i] = id
			break
		}
	}
}

// rehash puts the words into a new number of slots.
func (t *wordTable) rehash(slots int) {
	t.slots = make([]uint32, slots)
	mask := uint64(slots - 1)
	for id := 1; id < len(t.words); id++ {
		at := Mix(t.words[id]) & mask
		for t.slots[at] != None {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(id)
	}
}

// relayout replaces each word by another one, which is as distinct, and numbers stay.
func (t *wordTable) relayout(width int, room int64, change func(word uint64) uint64) {
	words := t.words
	t.words = nil
	t.reset(width, room)
	t.words = words
	for id := 1; id < len(words); id++ {
		words[id] = change(words[id])
	}
	if t.direct {
		for id := 1; id < len(words); id++ {
			t.slots[words[id]] = uint32(id)
		}
		return
	}
	n := leastSlots
	for n < 2*len(words) {
		n *= 2
	}
	t.rehash(n)
}
