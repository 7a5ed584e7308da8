package dictionary

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/distinct"
	"github.com/amudai/amudai-go/internal/base/frontcode"
)

// DefaultBudget is the default of [Builder.Budget].
const DefaultBudget = 32 << 20

// Builder assigns ids to values: dense, from 0, in the order of first appearance. [Builder.Renumber] may change this
// order once all values are added.
type Builder struct {
	// Budget is the memory in bytes above which [Builder.Full] reports true.
	Budget int
	// Packed means that the dictionary will be written in its packed form.
	Packed bool
	// Brief means that a dictionary of few rows must save time, too: their values could be a block that is quickly written (see
	// [bytestring.Encoder.Brief]).
	Brief bool
	// Key is that of numbers, see [Dictionary].
	Key func(value []byte) uint64

	valueType byte
	fixed     int
	set       *distinct.Set
	counts    []int64  // number of occurrences by id
	nullID    int      // or -1
	sorted    []uint32 // result of sortedIDs, of the values there were then

	sampled      int     // bytes of values in the sample for the ratio
	sampledRatio float64 // 0 until it is asked for
}

// NewBuilder returns a builder for values of a basic type, each of fixed bytes, or of any length if fixed is 0.
func NewBuilder(valueType byte, fixed int) *Builder {
	return &Builder{Budget: DefaultBudget, valueType: valueType, fixed: fixed, nullID: -1, set: new(distinct.Set)}
}

// sets is memory of builders that were released, of up to mostKept bytes each.
var sets sync.Pool

const mostKept = 8 << 20

// newSet is an empty set with room for n strings, in memory of one that was released.
func newSet(n int) *distinct.Set {
	s, ok := sets.Get().(*distinct.Set)
	if !ok {
		s = new(distinct.Set)
	}
	s.Begin(n)
	return s
}

// releaseSet gives memory to the next sets.
func releaseSet(s *distinct.Set) {
	if s.Memory() <= mostKept {
		sets.Put(s)
	}
}

// Expect makes room in a builder without values for about n distinct ones, in memory of one that was released.
func (b *Builder) Expect(n int) {
	b.set = newSet(n)
	b.counts = slices.Grow(b.counts, n)
}

// Release gives memory to the next builders. The builder, and the values that it returned, are not used afterwards.
func (b *Builder) Release() {
	if b != nil {
		releaseSet(b.set)
	}
}

// Fixed is the size of each value, 0 for any.
func (b *Builder) Fixed() int { return b.fixed }

// Len is the number of entries, the null entry included.
func (b *Builder) Len() int { return b.set.Len() }

// Distinct is the number of entries without null.
func (b *Builder) Distinct() int {
	if b.nullID >= 0 {
		return b.Len() - 1
	}
	return b.Len()
}

// NullID returns the id of null, if null was added.
func (b *Builder) NullID() (id uint32, ok bool) {
	if b.nullID < 0 {
		return 0, false
	}
	return uint32(b.nullID), true
}

// Value returns the value of an id. It is valid until the next Add or Renumber.
func (b *Builder) Value(id uint32) []byte { return b.set.Value(id) }

// Count returns the number of times that the value of an id was added.
func (b *Builder) Count(id uint32) int64 { return b.counts[id] }

// DataLen is the total size of all distinct values in bytes.
func (b *Builder) DataLen() int { return len(b.set.Data()) }

// Memory is the number of bytes that the builder holds.
func (b *Builder) Memory() int { return b.set.Memory() + 8*cap(b.counts) }

// Full reports whether the builder exceeds its budget. It still accepts values, but the caller should drop the
// dictionary after the current batch. It depends on the values alone: neither on how slices grow nor on what their memory was
// used for before. So it does not look at Memory.
func (b *Builder) Full() bool {
	const perValue = 24 + 8 + 16 // entry, count, slots
	n := b.DataLen() + perValue*b.Len()
	return n+n/8 > b.Budget || b.Len() > 1<<31-2
}

// Add returns the id of value. It panics if the builder has a fixed size and value has another.
func (b *Builder) Add(value []byte) uint32 {
	if b.fixed > 0 && len(value) != b.fixed {
		panic(fmt.Sprintf("dictionary: value of %d bytes among values of %d", len(value), b.fixed))
	}
	id, added := b.set.Add(value)
	if added {
		b.counts = append(b.counts, 0)
	}
	b.counts[id]++
	return id
}

// AddNull returns the id of the null entry.
func (b *Builder) AddNull() uint32 { return b.addNulls(1) }

func (b *Builder) addNulls(n int) uint32 {
	if b.nullID < 0 {
		b.nullID = int(b.set.AddApart(make([]byte, b.fixed)))
		b.counts = append(b.counts, 0)
	}
	b.counts[b.nullID] += int64(n)
	return uint32(b.nullID)
}

// AddAll appends the ids of many values to dst. Value i is data[offsets[i]:offsets[i+1]], or the i-th fixed bytes of
// data if the builder has a fixed size and there are no offsets. valid has the number of values and their nulls.
func (b *Builder) AddAll(dst []uint32, data []byte, offsets []int64, valid encoding.Bits) []uint32 {
	dst = slices.Grow(dst, valid.Len)
	for i, n := 0, 0; i < valid.Len; i += n {
		if n = 1; !valid.At(i) {
			dst = append(dst, b.addNulls(1))
			continue
		}
		if n = valid.Len - i; valid.Data != nil {
			for n = 1; i+n < valid.Len && valid.At(i+n); n++ {
			}
		}
		from := len(dst)
		if len(offsets) > 0 {
			dst = b.set.AddAll(dst, data, offsets[i:i+n+1])
		} else {
			dst = b.set.AddFixed(dst, data[i*b.fixed:(i+n)*b.fixed], b.fixed)
		}
		b.counts = append(b.counts, make([]int64, b.set.Len()-len(b.counts))...)
		for _, id := range dst[from:] {
			b.counts[id]++
		}
	}
	return dst
}

// Renumber assigns ids by descending frequency, ties by first appearance, if the codes then pack into fewer bits. They
// do unless equal values are near each other. With nil codes, it always does. In the packed form, ids may have the order
// of the values instead, and those of numbers do unless some are much more frequent than others. codes are all ids so far. The result maps old ids to new ones, and is nil if ids are unchanged.
func (b *Builder) Renumber(codes *Codes) []uint32 {
	if b.Key != nil && !b.Skewed() { // neither order saves bits, and conditions on numbers are ranges of values
		byValue, _ := b.byValue()
		return b.permute(byValue)
	}
	byFrequency := b.byFrequency()
	if codes == nil || byFrequency == nil && !b.Packed {
		return b.permute(byFrequency)
	}
	if !b.Packed {
		if bits := b.codeBits(codes, nil, byFrequency); bits[0] <= bits[1] {
			return nil
		}
		return b.permute(byFrequency)
	}
	byValue, saved := b.byValue()
	bits := b.codeBits(codes, nil, byFrequency, byValue)
	switch {
	case bits[2] <= min(bits[0], bits[1])+saved:
		return b.permute(byValue)
	case bits[0] <= bits[1]:
		return nil
	}
	return b.permute(byFrequency)
}

// byValue maps each id to the rank of its value, null last. saved is the bits that this order saves in the packed form, in
// common prefixes of neighbouring values and in the sorted ids.
func (b *Builder) byValue() (perm []uint32, saved int) {
	sorted := b.sortedIDs()
	perm = make([]uint32, b.Len())
	shared := 0
	for rank, id := range sorted {
		perm[id] = uint32(rank)
		if rank > 0 && b.Key == nil {
			shared += frontcode.CommonPrefix(b.Value(sorted[rank-1]), b.Value(id))
		}
	}
	if b.nullID >= 0 {
		perm[b.nullID] = uint32(len(sorted))
	}
	const share = 3 // shared bytes are divided by this, as they are compressed otherwise, too
	return perm, len(sorted)*bits.Len(uint(len(sorted))) + 8*shared/share
}

// byFrequency maps each id to its rank. It returns nil if all ids are in this order already.
func (b *Builder) byFrequency() []uint32 {
	order := b.frequentFirst()
	perm := make([]uint32, len(order))
	same := true
	for rank, id := range order {
		perm[id] = uint32(rank)
		same = same && int(id) == rank
	}
	if same {
		return nil
	}
	return perm
}

// frequentFirst is the ids by descending frequency, ties in their order.
func (b *Builder) frequentFirst() []uint32 {
	keys := make([]uint64, b.Len())
	for i, n := range b.counts[:len(keys)] {
		keys[i] = ^uint64(n)
	}
	return sortedBy(keys)
}

// sortedBy is the indices of keys in the order of these, ties in their own: sorted by one byte of the keys after the other, from the lowest.
func sortedBy(keys []uint64) []uint32 {
	from, to := make([]uint32, len(keys)), make([]uint32, len(keys))
	differ := uint64(0)
	for i, k := range keys {
		from[i] = uint32(i)
		differ |= k ^ keys[0]
	}
	for shift := 0; differ>>shift > 0; shift += 8 {
		var ends [257]int
		for _, k := range keys {
			ends[int(uint8(k>>shift))+1]++
		}
		for i := range 255 {
			ends[i+1] += ends[i]
		}
		for _, i := range from {
			digit := uint8(keys[i] >> shift)
			to[ends[digit]] = i
			ends[digit]++
		}
		from, to = to, from
	}
	return from
}

// codeBits estimates the size of the codes, renumbered by each of some maps, nil for unchanged, in packed chunks of 1024,
// each with its own smallest value and width. Features of the packed form include bit packing with exceptions. Of many chunks it looks at some.
func (b *Builder) codeBits(codes *Codes, perms ...[]uint32) []int {
	total := make([]int, len(perms))
	var c chunkBits
	every, at := max(codes.Len()/(codeChunks*len(c.codes)), 1), 0
	_ = codes.Each(func(ids []uint32) error { // f returns no error
		for chunk := range slices.Chunk(ids, len(c.codes)) {
			if at++; at%every > 0 {
				continue
			}
			for i, perm := range perms {
				copy(c.codes[:], chunk)
				if perm != nil {
					for k, id := range chunk {
						c.codes[k] = perm[id]
					}
				}
				total[i] += every * c.size(len(chunk), b.Packed)
			}
		}
		return nil
	})
	return total
}

// codeChunks is how many chunks of codes tell the size of all.
const codeChunks = 6

// chunkBits estimates the size of a packed chunk.
type chunkBits struct {
	codes [1024]uint32
	count [33]int // codes by their bits above the smallest
}

// size is the bits of the first n codes, with exceptions or without.
func (c *chunkBits) size(n int, exceptions bool) int {
	low := slices.Min(c.codes[:n])
	if !exceptions {
		return n * bits.Len32(slices.Max(c.codes[:n])-low)
	}
	clear(c.count[:])
	for _, code := range c.codes[:n] {
		c.count[bits.Len32(code-low)]++
	}
	const position = 8 // bits, as differences
	width := len(c.count) - 1
	for c.count[width] == 0 {
		width--
	}
	least, wider := n*width, 0
	for w, most := width-1, width; w > 0; w-- {
		wider += c.count[w+1]
		least = min(least, n*w+wider*(position+most-w))
	}
	return least
}

// permute gives ids the ranks of perm, and returns it; nil changes nothing.
func (b *Builder) permute(perm []uint32) []uint32 {
	if perm == nil {
		return nil
	}
	b.set.Renumber(perm)
	for i, id := range b.sorted {
		b.sorted[i] = perm[id]
	}
	counts := make([]int64, len(b.counts))
	for id, to := range perm {
		counts[to] = b.counts[id]
	}
	b.counts = counts
	if b.nullID >= 0 {
		b.nullID = int(perm[b.nullID])
	}
	return perm
}

// Size is the number of bytes that [Builder.Append] appends.
func (b *Builder) Size() int {
	n := headerLen + sectionLen(b.DataLen()) + sectionLen(4*b.Distinct())
	if b.fixed == 0 {
		n += sectionLen(8 * (b.Len() + 1))
	}
	return (n + bufferAlign - 1) &^ (bufferAlign - 1)
}

// Append appends the VALUE_DICTIONARY buffer.
func (b *Builder) Append(dst []byte) []byte {
	h := header{valueType: b.valueType, count: uint32(b.Len()), fixed: uint32(b.fixed)}
	if b.nullID >= 0 {
		h.hasNull, h.nullID = true, uint32(b.nullID)
	}
	at := uint64(headerLen)
	next := func(n int) span {
		s := span{at, at + uint64(n)}
		at = s.end
		return s
	}
	h.values = next(sectionLen(b.DataLen()))
	if b.fixed == 0 {
		h.offsets = next(sectionLen(8 * (b.Len() + 1)))
	} else {
		h.offsets = next(0)
	}
	h.sortedByID = next(sectionLen(4 * b.Distinct()))

	start := len(dst)
	dst = slices.Grow(dst, b.Size())
	dst = h.append(dst)
	dst = endSection(append(beginSection(dst, b.DataLen()), b.set.Data()...), b.DataLen())
	if b.fixed == 0 {
		n := 8 * (b.Len() + 1)
		dst = le.AppendUint64(beginSection(dst, n), 0)
		for id := range b.Len() {
			dst = le.AppendUint64(dst, uint64(b.set.End(uint32(id))))
		}
		dst = endSection(dst, n)
	}
	ids := b.sortedIDs()
	dst = beginSection(dst, 4*len(ids))
	dst, _ = binary.Append(dst, le, ids) // never fails
	dst = endSection(dst, 4*len(ids))
	return append(dst, make([]byte, -(len(dst)-start)&(bufferAlign-1))...)
}

// sortedIDs is the ids in the order of their values, without that of null. It compares 16 bytes of values as numbers, which
// decides most comparisons without reading the values.
func (b *Builder) sortedIDs() []uint32 {
	type keyed struct {
		key, next uint64 // the first 16 bytes behind what all values begin with
		id        uint32
	}
	if len(b.sorted) == b.Distinct() {
		return b.sorted
	}
	if b.Key != nil {
		b.sorted = b.sortedNumbers()
		return b.sorted
	}
	shared := b.sharedPrefix()
	all := make([]keyed, 0, b.Len())
	for id := range b.Len() {
		if id == b.nullID {
			continue
		}
		var head [16]byte
		copy(head[:], b.Value(uint32(id))[shared:])
		all = append(all, keyed{binary.BigEndian.Uint64(head[:]), binary.BigEndian.Uint64(head[8:]), uint32(id)})
	}
	slices.SortFunc(all, func(x, y keyed) int {
		switch {
		case x.key != y.key:
			return cmp.Compare(x.key, y.key)
		case x.next != y.next:
			return cmp.Compare(x.next, y.next)
		}
		return bytes.Compare(b.Value(x.id), b.Value(y.id))
	})
	b.sorted = make([]uint32, len(all))
	for i, k := range all {
		b.sorted[i] = k.id
	}
	return b.sorted
}

// sortedNumbers is sortedIDs by the keys of values.
func (b *Builder) sortedNumbers() []uint32 {
	keys := make([]uint64, b.Len())
	for id := range keys {
		keys[id] = b.Key(b.Value(uint32(id)))
	}
	sorted := sortedBy(keys)
	if null, has := b.NullID(); has {
		at := slices.Index(sorted, null)
		sorted = slices.Delete(sorted, at, at+1)
	}
	return sorted
}

// sharedPrefix is how many bytes all values begin with.
func (b *Builder) sharedPrefix() int {
	var shared []byte
	found := false
	for id := 0; id < b.Len() && !(found && len(shared) == 0); id++ {
		switch v := b.Value(uint32(id)); {
		case id == b.nullID:
		case !found:
			shared, found = v, true
		default:
			shared = shared[:frontcode.CommonPrefix(shared, v)]
		}
	}
	return len(shared)
}
