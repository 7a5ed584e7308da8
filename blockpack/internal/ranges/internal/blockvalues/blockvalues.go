// Package blockvalues has the values of a column of a file by blocks, within some memory, and divides them into the keys of a range index.
package blockvalues

import (
	"cmp"
	"math/bits"
	"slices"
)

// Values are the values of a column of a file by blocks: numbers in their order as integers, or strings of at most the length of a key.
//
// A string longer than a key may stand here cut: keys are not longer, so that none is between a string and its
// beginning of that length.
type Values[K cmp.Ordered] struct {
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
	bounds []bounds[K]
	run    uint32 // blocks that have bounds together
}

type valueBlock struct{ value, block uint32 }

// bounds are the bounds of the blocks from run*n on.
type bounds[K cmp.Ordered] struct {
	n      uint32
	lo, hi K
}

// New has no values. In a block of more than most of them, all that is kept are bounds. The successor of a value is the next one, if there is
// one that is possible, and size its bytes in memory beyond those of its type.
func New[K cmp.Ordered](most int, successor func(K) (K, bool), size func(K) int64) *Values[K] {
	return &Values[K]{most: most, successor: successor, size: size, number: map[K]uint32{}, run: 1}
}

// valueMemory is about what a value takes in the map and the slices, besides a string.
const valueMemory = 64

// Add adds a value of the block that is the last one.
func (s *Values[K]) Add(v K, block uint32) {
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

func (s *Values[K]) addPair(n, block uint32) {
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
		s.Coarsen()
	}
}

// widen adds a value to the bounds of the last block.
func (s *Values[K]) widen(v K, block uint32) { s.widenTo(v, v, block/s.run) }

func (s *Values[K]) widenTo(lo, hi K, n uint32) {
	if k := len(s.bounds) - 1; k >= 0 && s.bounds[k].n == n {
		b := &s.bounds[k]
		b.lo, b.hi = min(b.lo, lo), max(b.hi, hi)
		return
	}
	s.bounds = append(s.bounds, bounds[K]{n, lo, hi})
	s.memory += valueMemory + s.size(lo) + s.size(hi)
}

// Coarsen takes less memory, if it can: first it forgets which blocks have which values but for their bounds, then it
// joins the bounds of two blocks, of four, and so on.
func (s *Values[K]) Coarsen() bool {
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

// Keys gives at most n keys that divide the values, ascending. The first is the least value.
func (s *Values[K]) Keys(n int) []K {
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

// Buckets gives for each of the keys the blocks with values from it to the next key.
func (s *Values[K]) Buckets(keys []K, blocks int) []Set {
	sets := make([]Set, len(keys))
	words := (blocks + 63) / 64
	all := make(Set, words*len(keys))
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
			sets[buckets[p.value]].Add(p.block)
		}
	}
	for _, b := range s.bounds {
		for _, set := range sets[bucket(b.lo) : bucket(b.hi)+1] {
			for block := b.n * s.run; block < min((b.n+1)*s.run, uint32(blocks)); block++ {
				set.Add(block)
			}
		}
	}
	return sets
}

// Set is a set of blocks, a bit for each.
type Set []uint64

// Add adds a block.
func (s Set) Add(block uint32) { s[block/64] |= 1 << (block % 64) }

func (s Set) addAll(t Set) {
	for i, w := range t {
		s[i] |= w
	}
}

// Count is the number of blocks.
func (s Set) Count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// List appends the blocks, ascending.
func (s Set) List(dst []uint32) []uint32 {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, uint32(i*64+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// Halve joins buckets in pairs.
func Halve[K any](keys []K, sets []Set) ([]K, []Set) {
	n := (len(keys) + 1) / 2
	for i := range n {
		keys[i], sets[i] = keys[2*i], sets[2*i]
		if 2*i+1 < len(sets) {
			sets[i].addAll(sets[2*i+1])
		}
	}
	return keys[:n], sets[:n]
}

// DistinctNeighbours joins buckets that have the same blocks as the one before. It tells nothing less, and changes no set.
func DistinctNeighbours[K any](keys []K, sets []Set) ([]K, []Set) {
	var k []K
	var s []Set
	for i := range keys {
		if i == 0 || !slices.Equal(sets[i], sets[i-1]) {
			k, s = append(k, keys[i]), append(s, sets[i])
		}
	}
	return k, s
}

// AddText is [Values.Add] for a string in memory that changes. It copies only a new one.
func AddText(s *Values[string], v []byte, block uint32) {
	if s.number == nil {
		if n := len(s.bounds); n > 0 && s.bounds[n-1].n == block/s.run && s.bounds[n-1].lo <= string(v) && string(v) <= s.bounds[n-1].hi {
			return
		}
	} else if n, ok := s.number[string(v)]; ok {
		s.addPair(n, block)
		return
	}
	s.Add(string(v), block)
}

// Extremes are the least and the greatest value.
func (s *Values[K]) Extremes() (lo, hi K) {
	if s.number != nil {
		return slices.Min(s.values), slices.Max(s.values)
	}
	lo, hi = s.bounds[0].lo, s.bounds[0].hi
	for _, b := range s.bounds {
		lo, hi = min(lo, b.lo), max(hi, b.hi)
	}
	return lo, hi
}

// Distinct is the number of distinct values, 0 once only bounds are kept.
func (s *Values[K]) Distinct() int { return len(s.values) }

// manyValues is the number of values from which on it matters how much time they take.
const manyValues = 1 << 14

// Unique tells whether hardly any of many values is in more than one block, as those of ids and times. To keep them up to the
// usual number takes a tenth of the time to write a file.
func (s *Values[K]) Unique() bool {
	n := len(s.values)
	return n >= manyValues && len(s.pairs)-n < n/16
}

// Memory is about the bytes that the values take.
func (s *Values[K]) Memory() int64 { return s.memory }

// Empty tells whether there is no value.
func (s *Values[K]) Empty() bool { return len(s.values)+len(s.bounds) == 0 }
