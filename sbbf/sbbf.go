// Package sbbf holds split-block Bloom filters: "is this value possibly in the
// column?" (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom
// Filters", 2007; the variant of Parquet). See docs/format.md §10.4.
//
// A filter is a row of blocks of 32 bytes, eight words of 32 bits. The upper
// half of a value's hash chooses the block, the lower half one bit in each of
// its words.
//
//	"apple"   hash 98d044a5df131e5e, 1 block
//	block     98d044a5 · 1 >> 32 = 0
//	word 0    df131e5e · 47b6137b mod 2^32 >> 27 = bit of word 0, and so on
package sbbf

import (
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"
)

// Recorded parameters of a filter.
const (
	Algorithm = "xxh3_64"          // hash function
	Seed      = 0x4D75646169424646 // of the hash
)

// blockSize is the number of bytes of a block.
const blockSize = 32

var salt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// Hash is the hash of a value for filters with [Seed].
func Hash(value []byte) uint64 { return xxh3.HashSeed(value, Seed) }

// Filter is a parsed filter. It may be used concurrently.
type Filter struct {
	data []byte
	seed uint64
}

// Open returns the filter with these bytes, which must not change any more. It returns false if the filter is
// unusable: with another hash, or without a whole block. That is not an error.
func Open(algorithm string, seed uint64, data []byte) (Filter, bool) {
	if algorithm != Algorithm || len(data) == 0 || len(data)%blockSize != 0 || uint64(len(data)/blockSize) > math.MaxUint32 {
		return Filter{}, false
	}
	return Filter{data, seed}, true
}

// MayContain is false only if the value was not added.
func (f Filter) MayContain(value []byte) bool {
	return f.MayContainHash(xxh3.HashSeed(value, f.seed))
}

// MayContainHash is MayContain for a hash with the filter's seed.
func (f Filter) MayContainHash(h uint64) bool {
	block := blockOf(f.data, h)
	missing := uint32(0)
	for i, s := range salt {
		word := binary.LittleEndian.Uint32(block[4*i:])
		missing |= ^word >> (uint32(h) * s >> 27) & 1
	}
	return missing == 0
}

// blockOf returns the block of a hash.
func blockOf(data []byte, h uint64) []byte {
	i := (h >> 32) * uint64(len(data)/blockSize) >> 32
	return data[i*blockSize:][:blockSize]
}

func set(data []byte, h uint64) {
	block := blockOf(data, h)
	for i, s := range salt {
		word := block[4*i:]
		binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|1<<(uint32(h)*s>>27))
	}
}
