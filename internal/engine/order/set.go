package order

import (
	"bytes"
	"hash/maphash"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/distinct"
)

// KeySet is a set of keys. It numbers them from 0, in the order in which they are added. The zero value is empty.
type KeySet struct {
	chunks  [][]byte   // of keys one behind the other; the last one grows no more than it has room
	bytes   int64      // of chunks
	entries []keyEntry // of the keys, behind one that is of none
	slots   distinct.Slots
	rows    Keys // scratch
}

// keyEntry is the place of a key.
type keyEntry struct{ chunk, begin, size uint32 }

const leastChunk, mostChunk = 1 << 12, 1 << 20 // bytes, unless a key has more

// seed makes hashes differ between processes, so that nobody can choose keys that collide.
var seed = maphash.MakeSeed()

func hashOf(key []byte) uint64 { return maphash.Bytes(seed, key) }

// key is the key with a number from 1.
func (s *KeySet) key(id uint32) []byte {
	e := s.entries[id]
	return s.chunks[e.chunk][e.begin : e.begin+e.size]
}

// find returns the number of a key from 1, or 0 and the place of a free slot.
func (s *KeySet) find(key []byte, hash uint64) (id uint32, at int) {
	for from := s.slots.Place(hash); ; from = at + 1 {
		if id, at = s.slots.Probe(hash, from); id == 0 || bytes.Equal(s.key(id), key) {
			return id, at
		}
	}
}

// Find returns the number of a key; ok is false if it is not in the set.
func (s *KeySet) Find(key []byte) (number uint32, ok bool) {
	if s.Len() == 0 {
		return 0, false
	}
	id, _ := s.find(key, hashOf(key))
	return id - 1, id != 0
}

// Add returns the number of a key, and whether it is new.
func (s *KeySet) Add(key []byte) (number uint32, added bool) {
	s.reserve()
	id, added := s.add(key, hashOf(key))
	return id - 1, added
}

func (s *KeySet) add(key []byte, hash uint64) (id uint32, added bool) {
	id, at := s.find(key, hash)
	if id != 0 {
		return id, false
	}
	id = uint32(len(s.entries))
	s.slots.Set(at, hash, id)
	last := len(s.chunks) - 1
	if last < 0 || len(s.chunks[last])+len(key) > cap(s.chunks[last]) {
		n := max(len(key), min(int(s.bytes), mostChunk), leastChunk)
		s.chunks = append(s.chunks, make([]byte, 0, n))
		s.bytes += int64(n)
		last++
	}
	c := &s.chunks[last]
	s.entries = append(s.entries, keyEntry{uint32(last), uint32(len(*c)), uint32(len(key))})
	*c = append(*c, key...)
	s.reserve()
	return id, true
}

// reserve makes room for a key.
func (s *KeySet) reserve() {
	if s.entries == nil {
		s.entries = append(s.entries, keyEntry{})
	}
	s.slots.Reserve(len(s.entries))
}

// ahead is the number of keys that are looked up side by side: each step does the same for all of them, so that waits for memory overlap.
const ahead = 256

// Number writes the number of each key, from 1. One that is not in the set gets a new number if grow is set, else 0. key returns keys that stay
// valid.
func (s *KeySet) Number(out []uint32, key func(i int) []byte, grow bool) {
	var hashes [ahead]uint64
	var entries [ahead]keyEntry
	s.reserve()
	for from := 0; from < len(out); from += ahead {
		part := out[from:min(from+ahead, len(out))]
		for i := range part {
			hashes[i] = hashOf(key(from + i))
			part[i] = s.slots.First(hashes[i])
		}
		for i, id := range part {
			entries[i] = s.entries[id]
		}
		for i, e := range entries[:len(part)] {
			k := key(from + i)
			switch {
			case part[i] != 0 && int(e.size) == len(k) && bytes.Equal(s.chunks[e.chunk][e.begin:e.begin+e.size], k):
			case grow:
				part[i], _ = s.add(k, hashes[i])
			default:
				part[i], _ = s.find(k, hashes[i])
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
	return s.rows.size() + s.bytes + int64(12*cap(s.entries)) + s.slots.Size()
}
