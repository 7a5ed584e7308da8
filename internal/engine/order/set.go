package order

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/distinct"
)

// KeySet is a set of keys. It numbers them from 0, in the order in which they are added. The zero value is empty.
type KeySet struct {
	chunks [][]byte       // of records; the last one grows no more than it has room
	bytes  int64          // of chunks
	places []uint32       // of records, by number
	slots  distinct.Slots // of places
	rows   Keys           // scratch
}

// A record is a key and its number from 1. A place is its address in units of eight bytes, with chunkUnits for each chunk. At place 0 is a record of
// number 0, which is that of no key.
//
//	0  4  number
//	4  4  size of the key
//	8     the key, and zeros up to a multiple of 8
const (
	recordHeader          = 8
	chunkUnits            = 1 << 17
	leastChunk, mostChunk = 1 << 12, 8 * chunkUnits // bytes, unless a key has more
	mostBytes             = 8 << 32                 // of all chunks
)

// seed makes hashes differ between processes, so that nobody can choose keys that collide.
var seed = maphash.MakeSeed()

func hashOf(key []byte) uint64 { return maphash.Bytes(seed, key) }

// record is the key at a place, and its number.
func (s *KeySet) record(place uint32) (number uint32, key []byte) {
	r := s.chunks[place/chunkUnits][8*int(place%chunkUnits):]
	n := int(binary.LittleEndian.Uint32(r[4:]))
	return binary.LittleEndian.Uint32(r), r[recordHeader : recordHeader+n]
}

// find returns the number of a key from 1, or 0 and the index of a free slot.
func (s *KeySet) find(key []byte, hash uint64) (number uint32, at int) {
	for from := s.slots.Place(hash); ; from = at + 1 {
		var place uint32
		if place, at = s.slots.Probe(hash, from); place == 0 {
			return 0, at
		}
		if n, k := s.record(place); bytes.Equal(k, key) {
			return n, at
		}
	}
}

// Find returns the number of a key; ok is false if it is not in the set.
func (s *KeySet) Find(key []byte) (number uint32, ok bool) {
	if s.Len() == 0 {
		return 0, false
	}
	n, _ := s.find(key, hashOf(key))
	return n - 1, n != 0
}

// Add returns the number of a key, and whether it is new.
func (s *KeySet) Add(key []byte) (number uint32, added bool) {
	s.reserve()
	n, added := s.add(key, hashOf(key))
	return n - 1, added
}

func (s *KeySet) add(key []byte, hash uint64) (number uint32, added bool) {
	number, at := s.find(key, hash)
	if number != 0 {
		return number, false
	}
	size := (recordHeader + len(key) + 7) &^ 7
	last := len(s.chunks) - 1
	if len(s.chunks[last])+size > cap(s.chunks[last]) {
		last = s.addChunk(size)
	}
	place := uint32(last*chunkUnits + len(s.chunks[last])/8)
	s.places = append(s.places, place)
	s.slots.Set(at, hash, place)
	number = uint32(len(s.places))
	c := binary.LittleEndian.AppendUint32(s.chunks[last], number)
	c = append(binary.LittleEndian.AppendUint32(c, uint32(len(key))), key...)
	s.chunks[last] = c[:len(s.chunks[last])+size]
	s.reserve()
	return number, true
}

// addChunk makes room for a record, and returns its chunk. A large one takes the places of several.
func (s *KeySet) addChunk(size int) (last int) {
	n := max(size, min(int(s.bytes), mostChunk), leastChunk)
	last = len(s.chunks)
	s.chunks = append(s.chunks, make([]byte, 0, n))
	s.chunks = append(s.chunks, make([][]byte, (n-1)/mostChunk)...)
	s.bytes += int64(n)
	return last
}

// Reserve makes room for a number of keys, but not for their bytes.
func (s *KeySet) Reserve(n int) {
	s.places = slices.Grow(s.places, max(n-len(s.places), 0))
	s.slots.Reserve(n)
}

// reserve makes room for a key.
func (s *KeySet) reserve() {
	if s.chunks == nil {
		s.addChunk(recordHeader)
		s.chunks[0] = s.chunks[0][:recordHeader]
	}
	s.slots.Reserve(len(s.places) + 1)
}

// ahead is the number of keys that are looked up side by side: each step does the same for all of them, so that waits for memory overlap.
const ahead = 256

// manyKeys is the number of keys from which on a table grows by what is expected.
const manyKeys = 1 << 10

// Number writes the number of each key, from 1. One that is not in the set gets a new number if grow is set, else 0. key returns keys that stay
// valid.
func (s *KeySet) Number(out []uint32, key func(i int) []byte, grow bool) {
	var keys, known [ahead][]byte
	var hashes [ahead]uint64
	s.reserve()
	for from := 0; from < len(out); from += ahead {
		before := s.Len()
		part := out[from:min(from+ahead, len(out))]
		for i := range part {
			keys[i] = key(from + i)
			hashes[i] = hashOf(keys[i])
		}
		for i, h := range hashes[:len(part)] {
			part[i], _ = s.slots.Probe(h, s.slots.Place(h))
		}
		for i, place := range part {
			part[i], known[i] = s.record(place)
		}
		for i, k := range keys[:len(part)] {
			switch {
			case part[i] != 0 && bytes.Equal(known[i], k):
			case grow:
				part[i], _ = s.add(k, hashes[i])
			default:
				part[i], _ = s.find(k, hashes[i])
			}
		}
		s.expect(before, len(out)-from-len(part))
	}
}

// expect makes room for the keys that follow if nearly all of the last ones were new.
func (s *KeySet) expect(before, following int) {
	if n := s.Len(); before >= manyKeys && n-before > ahead*7/8 {
		s.Reserve(n + following)
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
		before := s.Len()
		s.Number(out[from:to], s.rows.Key, grow)
		s.expect(before, len(out)-to)
	}
}

// Len is the number of keys.
func (s *KeySet) Len() int { return len(s.places) }

// Size is the number of bytes that the set takes.
func (s *KeySet) Size() int64 {
	return s.rows.size() + s.bytes + int64(4*cap(s.places)) + s.slots.Size()
}
