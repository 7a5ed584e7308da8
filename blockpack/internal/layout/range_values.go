package layout

import (
	"cmp"
	"math/bits"
	"slices"
)

// blockValues are the values of a column of a file by blocks. Values are numbers in the order of [ordered], or strings
// of at most MaxKeyLength bytes.
//
// A string longer than a key may stand here cut: keys are not longer, so that none is between a string and its
// beginning of that length.
type blockValues[K cmp.Ordered] struct {
	successor func(K) (K, bool) // the next value, if there is one of a possible length
	size      func(K) int64     // bytes in memory

	// Up to a number of distinct values, of the file and of a block, the blocks of each. A block with more values than there
	// are buckets is in most of them anyway.
	number map[K]uint32 // of a value; nil if there are bounds
	values []K
	last   []uint32     // the last block of each value, and 1
	pairs  []valueBlock // by block
	start  int          // of the pairs of the last block
	most   int          // distinct values of a block
	memory int64

	// Beyond, the bounds of each block, or of several.
	bounds []blockBounds[K]
	run    uint32 // blocks that have bounds together
}

type valueBlock struct{ value, block uint32 }

// blockBounds are the bounds of the blocks from run*n on.
type blockBounds[K cmp.Ordered] struct {
	n      uint32
	lo, hi K
}

func newBlockValues[K cmp.Ordered](most int, successor func(K) (K, bool), size func(K) int64) *blockValues[K] {
	return &blockValues[K]{most: most, successor: successor, size: size, number: map[K]uint32{}, run: 1}
}

// valueMemory is about what a value takes in the map and the slices, besides a string.
const valueMemory = 64

// add adds a value of the block that is the last one.
func (s *blockValues[K]) add(v K, block uint32) {
	if s.number == nil {
		s.widen(v, block)
		return
	}
	n, ok := s.number[v]
	if !ok {
		n = uint32(len(s.values))
		s.number[v] = n
		s.values = append(s.values, v)
		s.last = append(s.last, 0)
		s.memory += valueMemory + s.size(v)
	}
	s.addPair(n, block)
}

func (s *blockValues[K]) addPair(n, block uint32) {
	if s.last[n] == block+1 {
		return
	}
	s.last[n] = block + 1
	if s.start == len(s.pairs) || s.pairs[s.start].block != block {
		s.start = len(s.pairs)
	}
	s.pairs = append(s.pairs, valueBlock{n, block})
	s.memory += 8
	if len(s.pairs)-s.start > s.most {
		s.coarsen()
	}
}

// widen adds a value to the bounds of the last block.
func (s *blockValues[K]) widen(v K, block uint32) { s.widenTo(v, v, block/s.run) }

func (s *blockValues[K]) widenTo(lo, hi K, n uint32) {
	if k := len(s.bounds) - 1; k >= 0 && s.bounds[k].n == n {
		b := &s.bounds[k]
		b.lo, b.hi = min(b.lo, lo), max(b.hi, hi)
		return
	}
	s.bounds = append(s.bounds, blockBounds[K]{n, lo, hi})
	s.memory += valueMemory + s.size(lo) + s.size(hi)
}

// coarsen takes less memory, if it can: first it forgets which blocks have which values but for their bounds, then it
// joins the bounds of two blocks, of four, and so on.
func (s *blockValues[K]) coarsen() bool {
	if s.number == nil && len(s.bounds) < 2 {
		return false
	}
	s.memory = 0
	if s.number != nil {
		values, pairs := s.values, s.pairs
		s.number, s.values, s.last, s.pairs = nil, nil, nil, nil
		for _, p := range pairs {
			s.widen(values[p.value], p.block)
		}
		return true
	}
	bounds := s.bounds
	s.run *= 2
	s.bounds = nil
	for _, b := range bounds {
		s.widenTo(b.lo, b.hi, b.n/2)
	}
	return true
}

// keys gives at most n keys that divide the values, ascending. The first is the least value.
func (s *blockValues[K]) keys(n int) []K {
	var all []K
	if s.number != nil {
		all = slices.Clone(s.values)
	}
	for _, b := range s.bounds {
		all = append(all, b.lo)
		if next, ok := s.successor(b.hi); ok {
			all = append(all, next)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	n = min(n, len(all))
	keys := make([]K, n)
	for i := range keys {
		keys[i] = all[i*len(all)/n]
	}
	return keys
}

// buckets gives for each of the keys the blocks with values from it to the next key.
func (s *blockValues[K]) buckets(keys []K, blocks int) []blockSet {
	sets := make([]blockSet, len(keys))
	words := (blocks + 63) / 64
	all := make(blockSet, words*len(keys))
	for i := range sets {
		sets[i] = all[i*words : (i+1)*words]
	}
	bucket := func(v K) int {
		i, found := slices.BinarySearch(keys, v)
		if !found {
			i--
		}
		return i
	}
	if s.number != nil {
		buckets := make([]uint32, len(s.values))
		for i, v := range s.values {
			buckets[i] = uint32(bucket(v))
		}
		for _, p := range s.pairs {
			sets[buckets[p.value]].add(p.block)
		}
	}
	for _, b := range s.bounds {
		for _, set := range sets[bucket(b.lo) : bucket(b.hi)+1] {
			for block := b.n * s.run; block < min((b.n+1)*s.run, uint32(blocks)); block++ {
				set.add(block)
			}
		}
	}
	return sets
}

// A blockSet is a set of blocks, a bit for each.
type blockSet []uint64

func (s blockSet) add(block uint32) { s[block/64] |= 1 << (block % 64) }

func (s blockSet) addAll(t blockSet) {
	for i, w := range t {
		s[i] |= w
	}
}

func (s blockSet) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// list appends the blocks, ascending.
func (s blockSet) list(dst []uint32) []uint32 {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, uint32(i*64+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// halve joins buckets in pairs.
func halve[K any](keys []K, sets []blockSet) ([]K, []blockSet) {
	n := (len(keys) + 1) / 2
	for i := range n {
		keys[i], sets[i] = keys[2*i], sets[2*i]
		if 2*i+1 < len(sets) {
			sets[i].addAll(sets[2*i+1])
		}
	}
	return keys[:n], sets[:n]
}

// distinctNeighbours joins buckets that have the same blocks as the one before. It tells nothing less, and changes no set.
func distinctNeighbours[K any](keys []K, sets []blockSet) ([]K, []blockSet) {
	var k []K
	var s []blockSet
	for i := range keys {
		if i == 0 || !slices.Equal(sets[i], sets[i-1]) {
			k, s = append(k, keys[i]), append(s, sets[i])
		}
	}
	return k, s
}
