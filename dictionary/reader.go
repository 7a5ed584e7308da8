package dictionary

import (
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Dictionary is a parsed value dictionary. It is a view of the bytes given to [Parse], which must not change while it is
// in use. Values of the packed form are decoded to memory of its own. It may be used concurrently.
type Dictionary struct {
	// Key is a number for each value that the sorted ids have the order of, nil if they have that of the bytes: see [NumberKey]. It is set
	// before the first use.
	Key func(value []byte) uint64

	h       header
	data    []byte
	offsets []uint32 // count+1, nil if values have a fixed size
	sorted  []byte

	packedIDs []byte // the sorted ids as a tree, in place of sorted

	once    sync.Once
	sortErr error
	ids     []uint32
}

// Parse checks header, values and offsets of the VALUE_DICTIONARY buffer b and returns a view. wantType and fixed are
// those of the field in the schema. A dictionary of other values is an error. The sorted ids are checked by their first
// use; scans do not use them. The values of the packed form may take most bytes, 0 means bytestring.DefaultMaxDecoded.
func Parse(b []byte, wantType byte, fixed uint32, most int64) (*Dictionary, error) {
	if isPacked(b) {
		return parsePackedBuffer(b, wantType, fixed, most)
	}
	h, err := parseHeaderOf(b, wantType, fixed)
	if err != nil {
		return nil, err
	}
	d := &Dictionary{h: h}
	if d.data, err = section(b, "values", h.values); err != nil {
		return nil, err
	}
	if err := verify(d.data, "values"); err != nil {
		return nil, err
	}
	if fixed != 0 {
		if uint64(len(d.data)) != uint64(h.count)*uint64(fixed) {
			return nil, fault.Corruptf("value dictionary has %d bytes for %d values of %d", len(d.data), h.count, fixed)
		}
	} else if err := d.readOffsets(b); err != nil {
		return nil, err
	}
	if d.sorted, err = section(b, "sorted ids", h.sortedByID); err != nil {
		return nil, err
	}
	if entries := h.sortedIDs(); uint64(len(d.sorted)) != 4*entries {
		return nil, fault.Corruptf("value dictionary has %d bytes of sorted ids for %d values", len(d.sorted), entries)
	}
	return d, nil
}

// Partial is a parsed value dictionary of which single entries are decoded, when they are asked for. It is a view of the bytes that it was made
// of, and not for concurrent use.
type Partial struct {
	h     header
	value func(id uint32) ([]byte, error)
}

// ParsePartial is [Parse] without the decoding of values in the packed form.
func ParsePartial(b []byte, wantType byte, fixed uint32, most int64) (*Partial, error) {
	if isPacked(b) {
		return packedPartial(b, wantType, fixed, most)
	}
	all, err := Parse(b, wantType, fixed, most)
	if err != nil {
		return nil, err
	}
	return &Partial{all.h, func(id uint32) ([]byte, error) { return all.Value(id), nil }}, nil
}

// Len is the number of entries, the null entry included.
func (p *Partial) Len() int { return int(p.h.count) }

// Entries is a dictionary of some entries, whose ids ascend: the k-th of them has the id k in the result, which has no sorted ids. If null is not
// one of them, its id there is their number.
func (p *Partial) Entries(ids []uint32) (*Dictionary, error) {
	d := &Dictionary{h: p.h, offsets: make([]uint32, 1, len(ids)+1)}
	for _, id := range ids {
		if id >= d.h.count {
			return nil, fault.Corruptf("code %d of %d", id, d.h.count)
		}
		v, err := p.value(id)
		if err != nil {
			return nil, err
		}
		d.data = append(d.data, v...)
		d.offsets = append(d.offsets, uint32(len(d.data)))
	}
	d.data = slices.Grow(d.data, Slack)
	if d.h.fixed > 0 {
		d.offsets = nil
	}
	null, found := slices.BinarySearch(ids, d.h.nullID)
	if !found || !d.h.hasNull {
		null = len(ids)
	}
	d.h.count, d.h.nullID = uint32(len(ids)), uint32(null)
	return d, nil
}

func (d *Dictionary) readOffsets(b []byte) error {
	raw, err := section(b, "offsets", d.h.offsets)
	if err != nil {
		return err
	}
	if err := verify(raw, "offsets"); err != nil {
		return err
	}
	if uint64(len(raw)) != 8*(uint64(d.h.count)+1) {
		return fault.Corruptf("value dictionary has %d bytes of offsets for %d entries", len(raw), d.h.count)
	}
	if uint64(len(d.data)) > math.MaxUint32 {
		return fault.Limitf("value dictionary of %d bytes", len(d.data))
	}
	d.offsets = make([]uint32, len(raw)/8)
	last := uint64(0)
	for i := range d.offsets {
		at := le.Uint64(raw[8*i:])
		if at < last || at > uint64(len(d.data)) || (i == 0 && at != 0) {
			return fault.Corruptf("value dictionary entry %d starts at %d, after %d, of %d bytes", i, at, last, len(d.data))
		}
		d.offsets[i], last = uint32(at), at
	}
	if last != uint64(len(d.data)) {
		return fault.Corruptf("value dictionary entries end at %d of %d bytes", last, len(d.data))
	}
	return nil
}

// Len is the number of entries, the null entry included. Ids are below it.
func (d *Dictionary) Len() int { return int(d.h.count) }

// Fixed is the size of every value, or 0 if it varies.
func (d *Dictionary) Fixed() int { return int(d.h.fixed) }

// NullID returns the id of null, if there is one.
func (d *Dictionary) NullID() (id uint32, ok bool) { return d.h.nullID, d.h.hasNull }

// Value returns the value of an id, in the memory of the dictionary. It panics if id is not below Len. The value of
// the null entry has no meaning.
func (d *Dictionary) Value(id uint32) []byte {
	from, to := d.bounds(id)
	return d.data[from:to:to]
}

func (d *Dictionary) bounds(id uint32) (from, to int) {
	if d.h.fixed != 0 {
		from = int(id) * int(d.h.fixed)
		return from, from + int(d.h.fixed)
	}
	return int(d.offsets[id]), int(d.offsets[id+1])
}

// Data returns all values back to back, in the order of their ids. At least [Slack] readable bytes follow within its
// capacity.
func (d *Dictionary) Data() []byte { return d.data }

// Offsets returns the start of each value in Data, and the end of the last. It is nil if values have a fixed size. It
// must not be changed.
func (d *Dictionary) Offsets() []uint32 { return d.offsets }

// SortedIDs returns the ids of all values except null, in the order of the values. It must not be changed. The
// first call checks them. After an error values can still be read by id.
func (d *Dictionary) SortedIDs() ([]uint32, error) {
	d.once.Do(func() { d.ids, d.sortErr = d.checkOrder() })
	return d.ids, d.sortErr
}

// checkOrder checks that the values of the sorted ids strictly ascend. Each id then occurs once.
func (d *Dictionary) checkOrder() ([]uint32, error) {
	ids, err := d.readIDs()
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if id >= d.h.count || (d.h.hasNull && id == d.h.nullID) {
			return nil, fault.Corruptf("value dictionary of %d entries sorts id %d", d.h.count, id)
		}
		if i > 0 && compare(d.Key, d.Value(ids[i-1]), d.Value(id)) >= 0 {
			return nil, fault.Corruptf("value dictionary sorts id %d before %d, whose value is not greater", ids[i-1], id)
		}
	}
	return ids, nil
}

// Lookup returns the id of a value. The error is that of [Dictionary.SortedIDs].
func (d *Dictionary) Lookup(value []byte) (id uint32, ok bool, err error) {
	ids, err := d.SortedIDs()
	if err != nil {
		return 0, false, err
	}
	i, found := sort.Find(len(ids), func(i int) int { return compare(d.Key, value, d.Value(ids[i])) })
	if !found {
		return 0, false, nil
	}
	return ids[i], true, nil
}
