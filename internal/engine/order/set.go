package order

import (
	"bytes"
	"hash/maphash"
)

// KeySet is a set of keys. It numbers them from 0, in the order in which they are added. The zero value is empty.
type KeySet struct {
	keys   Keys
	slots  []uint32 // number + 1 of a key, or 0; a power of two
	hashes []uint32 // of the keys, to compare fewer of them and to grow
}

// seed makes hashes differ between processes, so that nobody can choose keys that collide.
var seed = maphash.MakeSeed()

// slot is the slot of a key: its own, or the free one where it belongs.
func (s *KeySet) slot(key []byte, hash uint32) *uint32 {
	mask := uint32(len(s.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		id := s.slots[at]
		if id == 0 || s.hashes[id-1] == hash && bytes.Equal(s.keys.Key(int(id-1)), key) {
			return &s.slots[at]
		}
	}
}

// Find returns the number of a key; ok is false if it is not in the set.
func (s *KeySet) Find(key []byte) (number uint32, ok bool) {
	if len(s.hashes) == 0 {
		return 0, false
	}
	id := *s.slot(key, uint32(maphash.Bytes(seed, key)))
	return id - 1, id != 0
}

// Add returns the number of a key, and whether it is new.
func (s *KeySet) Add(key []byte) (number uint32, added bool) {
	if 2*len(s.hashes) >= len(s.slots) {
		s.grow()
	}
	hash := uint32(maphash.Bytes(seed, key))
	slot := s.slot(key, hash)
	if *slot != 0 {
		return *slot - 1, false
	}
	s.keys.add(key)
	s.hashes = append(s.hashes, hash)
	*slot = uint32(len(s.hashes))
	return *slot - 1, true
}

func (s *KeySet) grow() {
	s.slots = make([]uint32, max(2*len(s.slots), 1024))
	mask := uint32(len(s.slots) - 1)
	for id, hash := range s.hashes {
		at := hash & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = uint32(id + 1)
	}
}

// Len is the number of keys.
func (s *KeySet) Len() int { return len(s.hashes) }

// Size is the number of bytes that the set takes.
func (s *KeySet) Size() int64 { return s.keys.size() + 4*int64(cap(s.hashes)+len(s.slots)) }
