package profile

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/hll"
)

// Counting is exact until there are more distinct values than a limit. From then on it follows the algorithm of Misra
// and Gries: if the table is full, a number is subtracted from all counters, and those that reach zero leave. What was subtracted
// in total, the error, is at most the number of values divided by half the counters, so that frequent values stay. A HyperLogLog sketch
// counts the distinct values.

// sketchBits is the precision of HyperLogLog: a standard error of 1.04/√2^14 = 0.8 %.
const sketchBits = 14

// numberCounts counts the values of a column of numbers by their bits.
type numberCounts struct {
	limit  int         // distinct values that are counted exactly
	spare  []numberTop // of the same size, or nil
	slots  []numberTop // open addressing; n == 0: free; the length is a power of 2
	used   int
	last   int   // the slot of the last value
	error  int64 // subtracted from all counters
	sketch *hll.Sketch

	// near has the counts of values from base on, if there are integers, which are often close to each other. It is nil for others.
	near []int64
	base uint64
}

type numberTop struct {
	bits uint64
	n    int64
}

// approximateLimit is the number of counters of a column with more distinct values than are counted exactly.
const approximateLimit = 4096

// nearValues is the number of values that are counted by their distance from a base: 256 KiB.
const nearValues = 1 << 15

// startNear begins to count values near the first one by their distance from it.
func (c *numberCounts) startNear(first uint64) {
	c.near = make([]int64, nearValues)
	if c.base = first - nearValues/2; int64(first) >= 0 && first < nearValues/2 {
		c.base = first - min(first, nearValues/2) - nearValues/8 // most columns have few negative values
	}
}

// mix is a bijection of numbers whose results look random (the finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// add counts a value n times.
func (c *numberCounts) add(v uint64, n int64) {
	if s := &c.slots[c.last]; s.bits == v && s.n > 0 {
		s.n += n
		return
	}
	h := mix(v)
	if c.sketch != nil {
		c.sketch.AddHash(h)
	}
	mask := len(c.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		s := &c.slots[i]
		if s.n == 0 {
			if c.used >= len(c.slots)/2 {
				c.makeRoom()
				c.add(v, n)
				return
			}
			*s, c.last = numberTop{v, n}, i
			c.used++
			return
		}
		if s.bits == v {
			s.n += n
			c.last = i
			return
		}
	}
}

// makeRoom grows the table, or removes rare values.
func (c *numberCounts) makeRoom() {
	if c.sketch == nil && len(c.slots)/2 < c.limit {
		c.rebuild(2*len(c.slots), 0)
		return
	}
	size := len(c.slots)
	if c.sketch == nil {
		c.sketch = hll.New(sketchBits)
		for _, s := range c.slots {
			if s.n > 0 {
				c.sketch.AddHash(mix(s.bits))
			}
		}
		size = max(2*powerOf2(min(c.limit, approximateLimit)), 64)
	}
	for least := size / 4; c.used > least; {
		c.rebuild(len(c.slots), medianOf(len(c.slots), func(i int) int64 { return c.slots[i].n }))
	}
	if size != len(c.slots) {
		c.rebuild(size, 0)
	}
}

// medianOf is about the median of the counters that are not zero, at least 1.
func medianOf(size int, count func(i int) int64) int64 {
	var sample [128]int64
	n, step := 0, max(size/256, 1)
	for i := 0; i < size && n < len(sample); i += step {
		if v := count(i); v > 0 {
			sample[n] = v
			n++
		}
	}
	if n == 0 {
		return 1
	}
	slices.Sort(sample[:n])
	return sample[n/2]
}

// rebuild makes a table of another size, without what is subtracted from the counters.
func (c *numberCounts) rebuild(size int, subtract int64) {
	old := c.slots
	if len(c.spare) != size {
		c.spare = make([]numberTop, size)
	}
	c.slots, c.used, c.last = c.spare, 0, 0
	c.error += subtract
	mask := size - 1
	for _, s := range old {
		if s.n <= subtract {
			continue
		}
		i := int(mix(s.bits)) & mask
		for c.slots[i].n > 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = numberTop{s.bits, s.n - subtract}
		c.used++
	}
	if c.spare = nil; len(old) == size {
		clear(old)
		c.spare = old
	}
}

// exact reports whether all values are in the table.
func (c *numberCounts) exact() bool { return c.sketch == nil }

// distinct is the number of distinct values, an estimate unless the counts are exact.
func (c *numberCounts) distinct() int64 {
	near := int64(0)
	for _, n := range c.near {
		near += int64(bitmap.Bit(n > 0))
	}
	if c.sketch == nil {
		return int64(c.used) + near
	}
	return max(int64(c.sketch.Estimate()), int64(c.used)) + near
}

// each calls f for each counter.
func (c *numberCounts) each(f func(v uint64, n int64)) {
	for i, n := range c.near {
		if n > 0 {
			f(c.base+uint64(i), n)
		}
	}
	for _, s := range c.slots {
		if s.n > 0 {
			f(s.bits, s.n)
		}
	}
}

// powerOf2 is the least power of 2 that is at least n.
func powerOf2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
