package dictionary

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/distinct"
)

// DefaultBudget is how much memory a builder takes before it asks to be given up.
const DefaultBudget = 16 << 20

// Builder gives ids to values: dense, from 0, in the order in which values
// first appear. [Builder.Renumber] may change that order once all are there.
type Builder struct {
	// Budget is the memory in bytes above which [Builder.Full] reports true.
	Budget int
	// Packed tells that the dictionary will be written in its packed form.
	Packed bool

	valueType byte
	fixed     int
	set       distinct.Set
	counts    []int64 // how often each was added
	nullID    int     // or -1
	ordered   int     // entries when ids got the order of the values, null last

	sampled      int // bytes of values when it was last seen how well they compress
	sampledRatio float64
}

// NewBuilder makes a builder for values of the given basic type, each of fixed
// bytes, or of any length if fixed is 0.
func NewBuilder(valueType byte, fixed int) *Builder {
	return &Builder{Budget: DefaultBudget, valueType: valueType, fixed: fixed, nullID: -1}
}

// Len is the number of entries, the null entry included.
func (b *Builder) Len() int { return b.set.Len() }

// Distinct is the number of entries but null.
func (b *Builder) Distinct() int {
	if b.nullID >= 0 {
		return b.Len() - 1
	}
	return b.Len()
}

// NullID is the id that stands for null, if null was added.
func (b *Builder) NullID() (id uint32, ok bool) {
	if b.nullID < 0 {
		return 0, false
	}
	return uint32(b.nullID), true
}

// Value is the value with the given id; it is valid until the next Add or Renumber.
func (b *Builder) Value(id uint32) []byte { return b.set.Value(id) }

// Count is how often the value with the given id was added.
func (b *Builder) Count(id uint32) int64 { return b.counts[id] }

// DataLen is the bytes of all distinct values together.
func (b *Builder) DataLen() int { return len(b.set.Data()) }

// Memory is the bytes that the builder holds.
func (b *Builder) Memory() int { return b.set.Memory() + 8*cap(b.counts) }

// Full reports that the builder holds more than its budget. It still takes
// values; the caller should give it up after the batch that made it full.
func (b *Builder) Full() bool { return b.Memory() > b.Budget || b.Len() > 1<<31-2 }

// Add gives the id of value, a new one if it was not added before. It panics if
// the builder has a fixed size and value has another.
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

// AddNull gives the id of the null entry.
func (b *Builder) AddNull() uint32 { return b.addNulls(1) }

func (b *Builder) addNulls(n int) uint32 {
	if b.nullID < 0 {
		b.nullID = int(b.set.AddApart(make([]byte, b.fixed)))
		b.counts = append(b.counts, 0)
	}
	b.counts[b.nullID] += int64(n)
	return uint32(b.nullID)
}

// AddAll appends the ids of many values to dst: value i is
// data[offsets[i]:offsets[i+1]], or the i-th run of fixed bytes of data if the
// builder has a fixed size; offsets is not used then. valid tells how many values
// there are, and which are not null.
func (b *Builder) AddAll(dst []uint32, data []byte, offsets []int64, valid bitmap.Bits) []uint32 {
	dst = slices.Grow(dst, valid.Len)
	if b.fixed == 0 && valid.Data == nil {
		return b.addValues(dst, data, offsets[:valid.Len+1])
	}
	for i := range valid.Len {
		if !valid.At(i) {
			dst = append(dst, b.addNulls(1))
			continue
		}
		var value []byte
		if b.fixed > 0 {
			value = data[i*b.fixed : (i+1)*b.fixed]
		} else {
			value = data[offsets[i]:offsets[i+1]]
		}
		dst = append(dst, b.Add(value))
	}
	return dst
}

// addValues is AddAll for values of any length, of which none is null.
func (b *Builder) addValues(dst []uint32, data []byte, offsets []int64) []uint32 {
	from := len(dst)
	dst = b.set.AddAll(dst, data, offsets)
	if more := b.set.Len() - len(b.counts); more > 0 {
		b.counts = append(b.counts, make([]int64, more)...)
	}
	for _, id := range dst[from:] {
		b.counts[id]++
	}
	return dst
}

// Renumber gives ids by descending frequency, ties by first appearance, if the
// codes pack into fewer bits that way than by first appearance, as they do
// unless equal values stand near each other; with codes nil it always does.
// In the packed form ids may follow the order of the values instead. codes are all ids given so far. The result maps old
// ids to new ones, and is nil if ids stay as they are.
func (b *Builder) Renumber(codes *Codes) []uint32 {
	if b.Packed && codes != nil {
		return b.renumberPacked(codes)
	}
	return b.renumber(codes)
}

func (b *Builder) renumber(codes *Codes) []uint32 {
	perm := b.byFrequency()
	if perm == nil {
		return nil
	}
	if codes != nil {
		if stay, renumbered := packedBits(codes, perm); stay <= renumbered {
			return nil
		}
	}
	b.permute(perm)
	return perm
}

// renumberPacked is Renumber for the packed form. It gives ids in the order of the values if codes then
// grow by less than what this saves: what values share with the one before, and the sorted ids.
func (b *Builder) renumberPacked(codes *Codes) []uint32 {
	sorted := b.sortedIDs()
	perm := make([]uint32, b.Len())
	saved, shared := 8*len(sorted)*bits.Len(uint(len(sorted)))/8, 0
	for rank, id := range sorted {
		perm[id] = uint32(rank)
		if rank > 0 {
			shared += commonPrefix(b.Value(sorted[rank-1]), b.Value(id))
		}
	}
	if b.nullID >= 0 {
		perm[b.nullID] = uint32(len(sorted))
	}
	const share = 3 // what shared bytes take otherwise, one in so many
	saved += 8 * shared / share
	stay, bySort := packedBits(codes, perm)
	least := stay
	if p := b.byFrequency(); p != nil {
		_, byFrequency := packedBits(codes, p)
		least = min(least, byFrequency)
	}
	if bySort > least+saved {
		return b.renumber(codes)
	}
	b.permute(perm)
	b.ordered = b.Len()
	return perm
}

func commonPrefix(x, y []byte) (n int) {
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// byFrequency maps each id to its rank, nil if every id has its rank already.
func (b *Builder) byFrequency() []uint32 {
	order := make([]uint32, b.Len())
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(b.counts[y], b.counts[x]), cmp.Compare(x, y))
	})
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

// packedBits estimates what the codes take as they are, and under perm, when they
// are packed in chunks of 1024, each with its own smallest value and width.
func packedBits(codes *Codes, perm []uint32) (stay, renumbered int) {
	_ = codes.Each(func(ids []uint32) error { // f never fails
		for len(ids) > 0 {
			chunk := ids[:min(1024, len(ids))]
			ids = ids[len(chunk):]
			lo, hi := chunk[0], chunk[0]
			first := perm[chunk[0]]
			lo2, hi2 := first, first
			for _, c := range chunk {
				lo, hi = min(lo, c), max(hi, c)
				c = perm[c]
				lo2, hi2 = min(lo2, c), max(hi2, c)
			}
			stay += len(chunk) * bits.Len32(hi-lo)
			renumbered += len(chunk) * bits.Len32(hi2-lo2)
		}
		return nil
	})
	return stay, renumbered
}

func (b *Builder) permute(perm []uint32) {
	b.set.Renumber(perm)
	b.ordered = 0
	counts := make([]int64, len(b.counts))
	for id, to := range perm {
		counts[to] = b.counts[id]
	}
	b.counts = counts
	if b.nullID >= 0 {
		b.nullID = int(perm[b.nullID])
	}
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
	for _, id := range ids {
		dst = le.AppendUint32(dst, id)
	}
	dst = endSection(dst, 4*len(ids))
	return append(dst, make([]byte, -(len(dst)-start)&(bufferAlign-1))...)
}

// sortedIDs sorts by the first eight bytes of each value as a number, which
// decides most comparisons without following the value.
func (b *Builder) sortedIDs() []uint32 {
	type keyed struct {
		key uint64
		id  uint32
	}
	if b.ordered > 0 && b.ordered == b.Len() {
		ids := make([]uint32, b.Distinct())
		for i := range ids {
			ids[i] = uint32(i)
		}
		return ids
	}
	all := make([]keyed, 0, b.Len())
	for id := range b.Len() {
		if id == b.nullID {
			continue
		}
		var head [8]byte
		copy(head[:], b.Value(uint32(id)))
		all = append(all, keyed{binary.BigEndian.Uint64(head[:]), uint32(id)})
	}
	slices.SortFunc(all, func(x, y keyed) int {
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		return bytes.Compare(b.Value(x.id), b.Value(y.id))
	})
	ids := make([]uint32, len(all))
	for i, k := range all {
		ids[i] = k.id
	}
	return ids
}
