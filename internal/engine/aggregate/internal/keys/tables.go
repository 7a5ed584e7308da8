package keys

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/distinct"
)

// None is the number of no group, and of no entry of a table. Rows of no group are aggregated, too, so that loops need
// no branch: that result is dropped.
const None = 0

// Mix spreads the bits of a key: a multiplication of 128 bits, with both halves joined.
func Mix(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// word is a packed key of up to 128 bits.
type word struct{ lo, hi uint64 }

func (w word) hash() uint64 { return Mix(w.lo ^ w.hi*0xa0761d6478bd642f) }

// words are the packed keys of rows. hi is nil if all of them have 64 bits.
type words struct{ lo, hi []uint64 }

func (w *words) at(i uint32) word {
	if w.hi == nil {
		return word{w.lo[i], 0}
	}
	return word{w.lo[i], w.hi[i]}
}

// wordTable numbers distinct words from 1, in the order of their first appearance. A small range of words is a direct
// index; others are hashed, with linear probing.
type wordTable struct {
	n      int            // words
	narrow []uint64       // words by number, if they are hashed; that of 0 is not used
	wide   []word         // instead, if they have more than 64 bits
	direct []uint32       // numbers by word, or nil
	slots  distinct.Slots // of hashed words
}

const leastWords = 1 << 9

// reset makes the table empty for words of at most this number of bits, which use the upper 64 if they are wide. room is the number of rows seen so
// far: a direct index may be a few times larger.
func (t *wordTable) reset(width int, wide bool, room int64) {
	*t = wordTable{}
	if isDirect(width, room) {
		t.direct = make([]uint32, 1<<width)
		return
	}
	if wide {
		t.wide = make([]word, 1, leastWords)
	} else {
		t.narrow = make([]uint64, 1, leastWords)
	}
	t.slots.Reserve(1)
}

// reserve makes room for a number of hashed words.
func (t *wordTable) reserve(n int) {
	switch {
	case t.direct != nil:
		return
	case t.wide != nil:
		t.wide = slices.Grow(t.wide, max(n+1-len(t.wide), 0))
	default:
		t.narrow = slices.Grow(t.narrow, max(n+1-len(t.narrow), 0))
	}
	t.slots.Reserve(n + 1)
}

// word is the hashed word with a number.
func (t *wordTable) word(id uint32) word {
	if t.wide == nil {
		return word{t.narrow[id], 0}
	}
	return t.wide[id]
}

// appended appends, and doubles the memory if need be.
func appended[T any](s []T, x T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, len(s))
	}
	return append(s, x)
}

// number is the number of a word in slots, the direct index, which loops have at hand. One that has none gets the next if grow is set.
func (t *wordTable) number(slots []uint32, w uint64, grow bool) uint32 {
	if w >= uint64(len(slots)) {
		return None
	}
	id := slots[w]
	if id == None && grow {
		t.n++
		id = uint32(t.n)
		slots[w] = id
	}
	return id
}

// isDirect reports whether words of this number of bits are a direct index.
func isDirect(width int, room int64) bool { return width < 31 && int64(1)<<width <= max(1<<16, 4*room) }

func (t *wordTable) size() int64 {
	return int64(8*cap(t.narrow)+16*cap(t.wide)+4*len(t.direct)) + t.slots.Size()
}

// find writes the numbers of words to out. A word that is not in the table gets a new number if grow is set, else None.
func (t *wordTable) find(out []uint32, w words, grow bool) {
	if t.direct == nil {
		t.findHashed(out, w, grow)
		return
	}
	slots := t.direct
	for i, x := range w.lo[:len(out)] {
		out[i] = t.number(slots, x, grow)
	}
}

// ahead is the number of words that are looked up together.
const ahead = 128

// findHashed looks up only the first of equal words that are together, as rows of a key often are. It asks for the slots of some words first, so that
// waits for memory overlap.
func (t *wordTable) findHashed(out []uint32, w words, grow bool) {
	var rows [ahead]uint8
	var hashes [ahead]uint64
	var ids [ahead]uint32
	last, number := word{}, uint32(None)
	if len(out) > 0 {
		last.lo = ^w.lo[0] // the first word is another one
	}
	for from := 0; from < len(out); from += ahead {
		part := out[from:min(from+ahead, len(out))]
		n := 0
		for i := range part {
			x := w.at(uint32(from + i))
			rows[n&(ahead-1)] = uint8(i)
			if x != last {
				n++
			}
			last = x
		}
		for k, i := range rows[:n] {
			hashes[k] = w.at(uint32(from + int(i))).hash()
			ids[k] = t.slots.First(hashes[k])
		}
		at := 0
		for k, i := range rows[:n] {
			for ; at < int(i); at++ {
				part[at] = number
			}
			x := w.at(uint32(from + int(i)))
			if number = ids[k]; number == None || t.word(number) != x {
				number = t.find1(x, hashes[k], grow)
			}
		}
		for ; at < len(part); at++ {
			part[at] = number
		}
	}
}

// find1 finds the number of a hashed word, as find does.
func (t *wordTable) find1(w word, hash uint64, grow bool) uint32 {
	for from := t.slots.Place(hash); ; from++ {
		id, at := t.slots.Probe(hash, from)
		switch {
		case id != None && t.word(id) != w:
			from = at
		case id == None && grow:
			t.n++
			t.slots.Set(at, hash, uint32(t.n))
			if t.wide != nil {
				t.wide = appended(t.wide, w)
			} else {
				t.narrow = appended(t.narrow, w.lo)
			}
			t.slots.Reserve(t.n + 1)
			return uint32(t.n)
		default:
			return id
		}
	}
}

// each calls f for all words.
func (t *wordTable) each(f func(w word, id uint32)) {
	for w, id := range t.direct {
		if id != None {
			f(word{uint64(w), 0}, id)
		}
	}
	for id := 1; id <= t.n && t.direct == nil; id++ {
		f(t.word(uint32(id)), uint32(id))
	}
}

// relayout replaces each word by another one, which is as distinct, and numbers stay.
func (t *wordTable) relayout(width int, wide bool, room int64, change func(w word) word) {
	old := *t
	t.reset(width, wide, room)
	t.n = old.n
	t.reserve(t.n)
	if t.wide != nil {
		t.wide = t.wide[:t.n+1]
	} else if t.narrow != nil {
		t.narrow = t.narrow[:t.n+1]
	}
	old.each(func(w word, id uint32) {
		switch w = change(w); {
		case t.direct != nil:
			t.direct[w.lo] = id
			return
		case t.wide != nil:
			t.wide[id] = w
		default:
			t.narrow[id] = w.lo
		}
		t.slots.Put(w.hash(), id)
	})
}
