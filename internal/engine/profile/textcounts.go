package profile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/format/hll"
)

// maxKey is the length from which a text is known by its beginning and a hash of 128 bits.
const maxKey = 1024

// textCounts counts the values of a column of texts. See [numberCounts].
type textCounts struct {
	limit  int // distinct values that are counted exactly
	bytes  int // of these
	index  []uint32
	list   []textTop
	data   []byte // the values of list, in order
	last   int    // the value that came last
	error  int64
	sketch *hll.Sketch
	key    []byte

	// learn looks at a value that is new in the list, and leave says how often it came.
	learn func(value []byte, row int64) facts
	leave func(f *facts, n int64)
}

type textTop struct {
	hash  uint64
	head  uint64 // see headOf
	n     int64  // its counter
	told  int64  // the part of the counter that was passed to leave
	begin int    // in data
	end   int
	facts facts
}

// add counts a value n times; row is that of the first.
func (c *textCounts) add(value []byte, n, row int64) {
	key := value
	if len(value) > maxKey {
		key = c.longKey(value)
	}
	head := headOf(key)
	if c.last < len(c.list) && c.same(&c.list[c.last], head, key) {
		c.list[c.last].n += n
		return
	}
	h := uint64(0)
	if len(key) <= 8 {
		h = mix(head ^ uint64(len(key))<<56)
	} else {
		h = xxh3.Hash(key)
	}
	if c.sketch != nil {
		c.sketch.AddHash(h)
	}
	if i, ok := c.find(h, head, key); ok {
		c.list[i].n += n
		c.last = i
		return
	}
	if len(c.list) >= len(c.index)/2 || len(c.data)+len(key) > c.bytes {
		c.makeRoom(len(key))
	}
	c.last = len(c.list)
	c.insert(h, len(c.list))
	begin := len(c.data)
	c.data = append(c.data, key...)
	c.list = append(c.list, textTop{hash: h, head: head, n: n, begin: begin, end: len(c.data), facts: c.learn(value, row)})
}

// longKey is the beginning of a long value, and its hash.
func (c *textCounts) longKey(value []byte) []byte {
	h := xxh3.Hash128(value).Bytes()
	c.key = append(append(c.key[:0], value[:maxKey-len(h)]...), h[:]...)
	return c.key
}

// headOf is a text of up to eight bytes as a number, which only texts of the same length have in common if they are the same. It is the
// beginning of longer texts.
func headOf(b []byte) uint64 {
	switch n := len(b); {
	case n >= 8:
		return binary.LittleEndian.Uint64(b)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
	case n > 0:
		return uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	return 0
}

// same reports whether a key is that of an entry.
func (c *textCounts) same(t *textTop, head uint64, key []byte) bool {
	return t.head == head && t.end-t.begin == len(key) && (len(key) <= 8 || bytes.Equal(c.value(t), key))
}

func (c *textCounts) value(t *textTop) []byte { return c.data[t.begin:t.end] }

func (c *textCounts) find(h, head uint64, key []byte) (int, bool) {
	mask := len(c.index) - 1
	for i := int(h) & mask; c.index[i] != 0; i = (i + 1) & mask {
		k := int(c.index[i]) - 1
		if t := &c.list[k]; t.hash == h && c.same(t, head, key) {
			return k, true
		}
	}
	return 0, false
}

func (c *textCounts) insert(h uint64, k int) {
	mask := len(c.index) - 1
	i := int(h) & mask
	for c.index[i] != 0 {
		i = (i + 1) & mask
	}
	c.index[i] = uint32(k) + 1
}

// makeRoom grows the table, or removes rare values, so that there is room for another one of some bytes.
func (c *textCounts) makeRoom(more int) {
	if c.sketch == nil && len(c.index)/2 < c.limit && len(c.data)+more <= c.bytes {
		c.rebuild(2*len(c.index), 0)
		return
	}
	if c.sketch == nil {
		c.sketch = hll.New(sketchBits)
		for i := range c.list {
			c.sketch.AddHash(c.list[i].hash)
		}
		c.limit = min(c.limit, approximateLimit)
	}
	size := max(2*powerOf2(c.limit), 64)
	for len(c.list) > size/4 || len(c.list) > 0 && len(c.data)+more > c.bytes/2 {
		c.rebuild(len(c.index), medianOf(len(c.list), func(i int) int64 { return c.list[i].n }))
	}
	c.rebuild(size, 0)
}

// rebuild makes an index of another size, without what is subtracted from the counters.
func (c *textCounts) rebuild(size int, subtract int64) {
	c.error += subtract
	c.last = 0
	c.index = make([]uint32, size)
	if subtract > 0 {
		c.tell()
		kept, data := c.list[:0], c.data[:0]
		for i := range c.list {
			t := c.list[i]
			if t.n <= subtract {
				continue
			}
			t.n -= subtract
			t.told = t.n
			begin := len(data)
			data = append(data, c.data[t.begin:t.end]...)
			t.begin, t.end = begin, len(data)
			kept = append(kept, t)
		}
		clear(c.list[len(kept):])
		c.list, c.data = kept, data
	}
	for i := range c.list {
		c.insert(c.list[i].hash, i)
	}
}

// tell passes the counts of all values to leave.
func (c *textCounts) tell() {
	for i := range c.list {
		if t := &c.list[i]; t.n > t.told {
			c.leave(&t.facts, t.n-t.told)
			t.told = t.n
		}
	}
}

func (c *textCounts) exact() bool { return c.sketch == nil }

func (c *textCounts) distinct() int64 {
	if c.sketch == nil {
		return int64(len(c.list))
	}
	return max(int64(c.sketch.Estimate()), int64(len(c.list)))
}

// top returns the most frequent values, the most frequent first; those of equal counts by value.
func (c *textCounts) top(most int) []*textTop {
	all := make([]*textTop, len(c.list))
	for i := range c.list {
		all[i] = &c.list[i]
	}
	slices.SortFunc(all, func(a, b *textTop) int {
		if a.n != b.n {
			return cmp.Compare(b.n, a.n)
		}
		return bytes.Compare(c.value(a), c.value(b))
	})
	return all[:min(len(all), most)]
}
