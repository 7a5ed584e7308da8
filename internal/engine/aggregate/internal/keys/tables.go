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

func (w *words) add(x word) {
	w.lo = appended(w.lo, x.lo)
	if w.hi != nil {
		w.hi = appended(w.hi, x.hi)
	}
}

// appended appends, and doubles the memory if need be.
func appended(s []uint64, x uint64) []uint64 {
	if len(s) == cap(s) {
		s = slices.Grow(s, len(s))
	}
	return append(s, x)
}

// wordTable numbers distinct words from 1, in the order of their first appearance. A small range of words is a direct
// index; others are hashed, with linear probing.
type wordTable struct {
	n      int            // words
	words  words          // by number, if they are hashed; that of 0 is not used
	direct []uint32       // numbers by word, or nil
	slots  distinct.Slots // of hashed words
}

const leastWords = 1 << 9

// reset makes the table empty for words of at most this number of bits. room is the number of rows seen so far: a direct
// index may be a few times larger.
func (t *wordTable) reset(width int, room int64) {
	*t = wordTable{}
	if isDirect(width, room) {
		t.direct = make([]uint32, 1<<width)
		return
	}
	t.words.lo = make([]uint64, 1, leastWords)
	if width > mostNarrow {
		t.words.hi = make([]uint64, 1, leastWords)
	}
	t.slots.Reserve(1)
}

// add gives a word of the direct index, which has no number, the next one.
func (t *wordTable) add(w uint64) uint32 {
	t.n++
	t.direct[w] = uint32(t.n)
	return uint32(t.n)
}

// isDirect reports whether words of this number of bits are a direct index.
func isDirect(width int, room int64) bool { return width < 31 && int64(1)<<width <= max(1<<16, 4*room) }

func (t *wordTable) size() int64 {
	return int64(8*cap(t.words.lo)+8*cap(t.words.hi)+4*len(t.direct)) + t.slots.Size()
}

// find writes the numbers of words to out. A word that is not in the table gets a new number if grow is set, else None.
func (t *wordTable) find(out []uint32, w words, grow bool) {
	switch {
	case t.direct != nil:
		t.findDirect(out, w.lo, grow)
	default:
		t.findHashed(out, w, grow)
	}
}

func (t *wordTable) findDirect(out []uint32, words []uint64, grow bool) {
	slots := t.direct
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

// ahead is the number of words that are looked up together.
const ahead = 128

// findHashed asks for the slots of some words first, so that waits for memory overlap. Rows of a key are often together: only the first is looked up.
func (t *wordTable) findHashed(out []uint32, w words, grow bool) {
	var hashes [ahead]uint64
	last, number := word{}, uint32(None)
	for from := 0; from < len(out); from += ahead {
		part := out[from:min(from+ahead, len(out))]
		lo := w.lo[from : from+len(part)]
		if w.hi == nil {
			for i, x := range lo {
				hashes[i] = word{x, 0}.hash()
			}
		} else {
			for i, x := range lo {
				hashes[i] = word{x, w.hi[from+i]}.hash()
			}
		}
		for i := range part {
			part[i] = t.slots.First(hashes[i])
		}
		for i := range part {
			x := w.at(uint32(from + i))
			switch id := part[i]; {
			case x == last && number != None:
			case id != None && t.words.at(id) == x:
				last, number = x, id
			default:
				last, number = x, t.find1(x, hashes[i], grow)
			}
			part[i] = number
		}
	}
}

// find1 finds the number of a hashed word, as find does.
func (t *wordTable) find1(w word, hash uint64, grow bool) uint32 {
	for from := t.slots.Place(hash); ; from++ {
		id, at := t.slots.Probe(hash, from)
		switch {
		case id != None && t.words.at(id) != w:
			from = at
		case id == None && grow:
			t.n++
			t.slots.Set(at, hash, uint32(t.n))
			t.words.add(w)
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
	for id := 1; id < len(t.words.lo); id++ {
		f(t.words.at(uint32(id)), uint32(id))
	}
}

// relayout replaces each word by another one, which is as distinct, and numbers stay.
func (t *wordTable) relayout(width int, room int64, change func(w word) word) {
	old := *t
	t.reset(width, room)
	t.n = old.n
	if t.direct != nil {
		old.each(func(w word, id uint32) { t.direct[change(w).lo] = id })
		return
	}
	t.words.lo = slices.Grow(t.words.lo, t.n)[:t.n+1]
	if t.words.hi != nil {
		t.words.hi = slices.Grow(t.words.hi, t.n)[:t.n+1]
	}
	t.slots.Reserve(t.n + 1)
	old.each(func(w word, id uint32) {
		w = change(w)
		t.words.lo[id] = w.lo
		if t.words.hi != nil {
			t.words.hi[id] = w.hi
		}
		t.slots.Put(w.hash(), id)
	})
}
