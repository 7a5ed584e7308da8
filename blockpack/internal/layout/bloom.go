package layout

import (
	"hash/fnv"
	"math/bits"
	"slices"
)

// NameBloom is a Bloom filter of column names: 256 bits, of which two are set for each name. Bit p is bit p%8 of byte
// p/8.
type NameBloom [32]byte

// bloomHashes are the two hash functions of a file. The specification does not say which they are.
type bloomHashes uint32

const (
	bloomUnknown bloomHashes = iota
	bloomMurmur              // FNV-1a of 32 bits, and MurmurHash3 x86_32 with seed 0
	bloomFNV                 // FNV-1a and FNV-1 of 32 bits, in files until 2026-02-25
)

// Add adds a name, by the hash functions that this package writes.
func (b *NameBloom) Add(name string) {
	for _, h := range bloomMurmur.of(name) {
		b[h/8] |= 1 << (h % 8)
	}
}

func (b *NameBloom) has(h bloomHashes, name string) bool {
	p := h.of(name)
	return b[p[0]/8]>>(p[0]%8)&1 == 1 && b[p[1]/8]>>(p[1]%8)&1 == 1
}

func (b *NameBloom) hasAll(h bloomHashes, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !b.has(h, name) })
}

// of gives the bits of a name.
func (h bloomHashes) of(name string) [2]uint8 {
	f := fnv.New32a()
	f.Write([]byte(name))
	first := uint8(f.Sum32())
	if h == bloomMurmur {
		return [2]uint8{first, uint8(murmur3([]byte(name)))}
	}
	f = fnv.New32()
	f.Write([]byte(name))
	return [2]uint8{first, uint8(f.Sum32())}
}

// murmur3 is MurmurHash3 x86_32 with seed 0.
func murmur3(data []byte) uint32 {
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
	h, rest := uint32(0), data
	for ; len(rest) >= 4; rest = rest[4:] {
		k := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16 | uint32(rest[3])<<24
		h = bits.RotateLeft32(h^mix(k), 13)*5 + 0xe6546b64
	}
	k := uint32(0)
	for i, b := range rest {
		k |= uint32(b) << (8 * i)
	}
	h ^= mix(k) ^ uint32(len(data))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// Calibrate finds the hash functions of the filters from the names of all columns of a block, unless they are known.
// They are known only if the filter of the block has all names by them, and not by others. Calibrate may be called
// concurrently with itself and MayHaveColumn.
func (m *Metadata) Calibrate(block int, names []string) {
	if m.Variant.NoNames || len(names) == 0 || bloomHashes(m.bloom.Load()) != bloomUnknown {
		return
	}
	b := &m.Blocks[block].Names
	switch murmur, other := b.hasAll(bloomMurmur, names), b.hasAll(bloomFNV, names); {
	case murmur && !other:
		m.bloom.Store(uint32(bloomMurmur))
	case other && !murmur:
		m.bloom.Store(uint32(bloomFNV))
	}
}

// MayHaveColumn reports whether the filter of a block allows a column. It says so of every name as long as the hash
// functions of the file are not known ([Metadata.Calibrate]).
func (m *Metadata) MayHaveColumn(block int, name string) bool {
	h := bloomHashes(m.bloom.Load())
	b := &m.Blocks[block].Names
	return h == bloomUnknown || *b == (NameBloom{}) || b.has(h, name)
}
