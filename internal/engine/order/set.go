package order

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// KeySet is a set of keys. It numbers them from 0, in the order in which they are added. The zero value is empty.
type KeySet struct {
	bytes   []byte
	entries []keyEntry // of the keys, behind one that is of none
	slots   []uint32   // the index of a key's entry, or 0; a power of two
	rows    Keys       // scratch
}

type keyEntry struct {
	begin, size int
	hash        uint32 // to compare fewer keys, and to grow
}

// seed makes hashes differ between processes, so that nobody can choose keys that collide.
var seed = maphash.MakeSeed()

func hashOf(key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

// is reports whether an entry is that of a key.
func (s *KeySet) is(e keyEntry, key []byte, hash uint32) bool {
	return e.hash == hash && e.size == len(key) && bytes.Equal(s.bytes[e.begin:e.begin+e.size], key)
}

// slot is the slot of a key: its own, or the free one where it belongs.
func (s *KeySet) slot(key []byte, hash uint32) *uint32 {
	mask := uint32(len(s.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		if id := s.slots[at]; id == 0 || s.is(s.entries[id], key, hash) {
			return &s.slots[at]
		}
	}
}

// Find returns the number of a key; ok is false if it is not in the set.
func (s *KeySet) Find(key []byte) (number uint32, ok bool) {
	if s.Len() == 0 {
		return 0, false
	}
	id := *s.slot(key, hashOf(key))
	return id - 1, id != 0
}

// Add returns the number of a key, and whether it is new.
func (s *KeySet) Add(key []byte) (number uint32, added bool) {
	s.reserve()
	id, added := s.add(key, hashOf(key))
	return id - 1, added
}

func (s *KeySet) add(key []byte, hash uint32) (id uint32, added bool) {
	slot := s.slot(key, hash)
	if *slot != 0 {
		return *slot, false
	}
	id = uint32(len(s.entries))
	*slot = id
	if len(s.bytes)+len(key) > cap(s.bytes) {
		s.bytes = slices.Grow(s.bytes, len(s.bytes)+len(key))
	}
	s.entries = append(s.entries, keyEntry{len(s.bytes), len(key), hash})
	s.bytes = append(s.bytes, key...)
	s.reserve()
	return id, true
}

// reserve makes room for a key.
func (s *KeySet) reserve() {
	if 2*len(s.entries) < len(s.slots) {
		return
	}
	if s.entries == nil {
		s.entries = append(s.entries, keyEntry{size: -1})
	}
	s.slots = make([]uint32, max(2*len(s.slots), 1024))
	mask := uint32(len(s.slots) - 1)
	for id := 1; id < len(s.entries); id++ {
		at := s.entries[id].hash & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = uint32(id)
	}
}

// ahead is the number of keys that are looked up side by side: each step does the same for all of them, so that waits for memory overlap.
const ahead = 256

// Number writes the number of each key, from 1. One that is not in the set gets a new number if grow is set, else 0. key returns keys that stay
// valid.
func (s *KeySet) Number(out []uint32, key func(i int) []byte, grow bool) {
	var hashes [ahead]uint32
	var entries [ahead]keyEntry
	s.reserve()
	for from := 0; from < len(out); from += ahead {
		part := out[from:min(from+ahead, len(out))]
		mask := uint32(len(s.slots) - 1)
		for i := range part {
			hashes[i] = hashOf(key(from + i))
			part[i] = s.slots[hashes[i]&mask]
		}
		for i, id := range part {
			entries[i] = s.entries[id]
		}
		for i := range part {
			k := key(from + i)
			switch {
			case s.is(entries[i], k, hashes[i]):
			case grow:
				part[i], _ = s.add(k, hashes[i])
			default:
				part[i] = *s.slot(k, hashes[i])
			}
		}
	}
}

// NumberRows is Number for the rows of columns, encoded.
func (s *KeySet) NumberRows(out []uint32, e *Encoder, grow bool, columns ...arrow.Array) {
	row := e.Rows(columns...)
	for from := 0; from < len(out); from += ahead {
		to := min(from+ahead, len(out))
		s.rows.bytes, s.rows.ends = s.rows.bytes[:0], s.rows.ends[:0]
		for i := from; i < to; i++ {
			s.rows.bytes = row(s.rows.bytes, i)
			s.rows.ends = append(s.rows.ends, len(s.rows.bytes))
		}
		s.Number(out[from:to], s.rows.Key, grow)
	}
}

// Len is the number of keys.
func (s *KeySet) Len() int { return max(len(s.entries)-1, 0) }

// Size is the number of bytes that the set takes.
func (s *KeySet) Size() int64 {
	return s.rows.size() + int64(cap(s.bytes)+24*cap(s.entries)+4*len(s.slots))
}
