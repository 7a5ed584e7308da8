package order

import (
	"bytes"
	"hash/maphash"
)

// keySet is a set of keys. It numbers them in the order in which they are added.
type keySet struct {
	keys   Keys
	seed   maphash.Seed
	slots  []uint32 // number + 1 of a key, or 0; a power of two
	hashes []uint32 // of the keys, to compare fewer of them and to grow
}

func newKeySet() *keySet {
	return &keySet{seed: maphash.MakeSeed(), slots: make([]uint32, 1024)}
}

// find returns the slot of a key: its own, or the free one where it belongs.
func (s *keySet) find(key []byte, hash uint32) int {
	mask := len(s.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		id := s.slots[at]
		if id == 0 || s.hashes[id-1] == hash && bytes.Equal(s.keys.Key(int(id-1)), key) {
			return at
		}
	}
}

// has reports whether a key is in the set.
func (s *keySet) has(key []byte) bool { return s.slots[s.find(key, s.hash(key))] != 0 }

// add adds a key. It is false if the set has it already.
func (s *keySet) add(key []byte) bool {
	hash := s.hash(key)
	at := s.find(key, hash)
	if s.slots[at] != 0 {
		return false
	}
	s.keys.add(key)
	s.hashes = append(s.hashes, hash)
	s.slots[at] = uint32(len(s.hashes))
	if 2*len(s.hashes) > len(s.slots) {
		s.grow()
	}
	return true
}

func (s *keySet) hash(key []byte) uint32 { return uint32(maphash.Bytes(s.seed, key)) }

func (s *keySet) grow() {
	s.slots = make([]uint32, 2*len(s.slots))
	mask := len(s.slots) - 1
	for id, hash := range s.hashes {
		at := int(hash) & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = uint32(id + 1)
	}
}

// size is the number of bytes that the set takes.
func (s *keySet) size() int64 { return s.keys.size() + 4*int64(cap(s.hashes)+len(s.slots)) }
