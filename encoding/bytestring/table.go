package bytestring

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/fault"
)

// Table looks up byte strings by code and lays them out one after the other.
// It is built once for a dictionary. Building it takes memory; using it takes
// none, and is safe for concurrent use.
type Table struct {
	entries []entry
	data    []byte // with step bytes behind it
	own     []byte // memory for data that has none
	short   bool   // every value fits into a word
	same    int    // length of every value, -1 if they differ
}

// entry is a value: its bytes as a little-endian word if all values of the table
// fit into one, else where it begins; and its length.
type entry struct {
	word   uint64
	length uint64
}

const (
	wordLen = 8
	step    = 2 * wordLen // what gatherLong copies at a time
)

// NewTable makes a table in which code k stands for value k.
func NewTable(v Values) *Table {
	t := new(Table)
	t.reset(v, 0)
	return t
}

// reset makes code k+first stand for value k, and lower codes for nothing.
func (t *Table) reset(v Values, first int) {
	entries := grown(&t.entries, v.N+first)
	clear(entries[:first])
	t.data = v.Data
	longest := 0
	t.same = -1
	if v.Fixed > 0 {
		longest = v.Fixed
		for i := range v.N {
			entries[first+i] = entry{uint64(i * v.Fixed), uint64(v.Fixed)}
		}
	} else {
		for i := range v.N {
			at, end := v.Offsets[i], v.Offsets[i+1]
			entries[first+i] = entry{uint64(at), uint64(end - at)}
			longest = max(longest, int(end-at))
		}
	}
	if first == 0 && v.N > 0 && longest*v.N == len(v.Bytes()) {
		t.same = longest
	}
	t.short = longest <= wordLen
	if t.short {
		t.inline(entries[first:])
	} else if cap(t.data)-len(t.data) < step {
		own := grown(&t.own, len(t.data)+step)
		t.data = own[:copy(own, t.data)]
	}
}

// inline replaces places by the bytes that are there.
func (t *Table) inline(entries []entry) {
	for i, e := range entries {
		var w [wordLen]byte
		copy(w[:], t.data[e.word:e.word+e.length])
		entries[i].word = binary.LittleEndian.Uint64(w[:])
	}
}

// Len is the number of codes.
func (t *Table) Len() int { return len(t.entries) }

// Size is the bytes of the values that codes stand for. A code that is not in
// the table is an error that wraps fault.ErrCorrupt.
func (t *Table) Size(codes []uint32) (uint64, error) {
	if t.same >= 0 && len(codes) > 0 {
		if most := slices.Max(codes); uint(most) >= uint(len(t.entries)) {
			return 0, fault.Corruptf("code %d of %d", most, len(t.entries))
		}
		return uint64(t.same) * uint64(len(codes)), nil
	}
	total, _, err := t.measure(codes)
	return total, err
}

// measure is Size, and the number of codes that are 0.
func (t *Table) measure(codes []uint32) (total uint64, zeros int, err error) {
	entries := t.entries
	for _, c := range codes {
		if uint(c) >= uint(len(entries)) {
			return 0, 0, fault.Corruptf("code %d of %d", c, len(entries))
		}
		total += entries[c].length
		zeros += int((c-1)&^c) >> 31 & 1
	}
	return total, zeros, nil
}

// Gather writes the values of codes back to back to dst, and where each ends to
// offsets: the first at base plus its length. dst is as long as Size says, and
// offsets as codes. Bytes of dst beyond its length, up to its capacity, may be
// overwritten with anything. Codes must have been seen by Size.
func Gather[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) {
	offsets = offsets[:len(codes)]
	if t.short {
		gatherShort(t, dst, offsets, base, codes)
	} else {
		gatherLong(t, dst, offsets, base, codes)
	}
}

// gatherShort stores a word for every value, as long as words fit, and goes on
// by as many bytes as count.
func gatherShort[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) {
	room, o, entries := dst[:cap(dst)], 0, t.entries
	for {
		safe := min(len(codes), (len(room)-o)/wordLen)
		if safe == 0 {
			break
		}
		ends := offsets[:safe]
		for i, c := range codes[:len(ends)] {
			e := &entries[c]
			binary.LittleEndian.PutUint64(room[o:], e.word)
			o += int(e.length)
			ends[i] = base + O(o)
		}
		codes, offsets = codes[safe:], offsets[safe:]
	}
	for i, c := range codes {
		e := &entries[c]
		var w [wordLen]byte
		binary.LittleEndian.PutUint64(w[:], e.word)
		o += copy(dst[o:], w[:e.length])
		offsets[i] = base + O(o)
	}
}

// gatherLong copies two words of every value, as long as these fit, and the rest
// of those that are longer.
func gatherLong[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) {
	room, from := dst[:cap(dst)], t.data[:len(t.data)+step]
	entries := t.entries
	o := 0
	for i, c := range codes {
		e := &entries[c]
		at, n := int(e.word), int(e.length)
		if o+step > len(room) {
			copy(dst[o:o+n], from[at:at+n])
		} else {
			src, to := from[at:at+step], room[o:o+step]
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(src))
			binary.LittleEndian.PutUint64(to[wordLen:], binary.LittleEndian.Uint64(src[wordLen:]))
			if n > step {
				copyLong(room[o:], from[at:], n)
			}
		}
		o += n
		offsets[i] = base + O(o)
	}
}

// copyLong copies what a step has left of n bytes.
func copyLong(room, from []byte, n int) {
	if n <= 2*step {
		// The last step of the value overlaps the first.
		src, to := from[n-step:n], room[n-step:n]
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(src))
		binary.LittleEndian.PutUint64(to[wordLen:], binary.LittleEndian.Uint64(src[wordLen:]))
		return
	}
	copy(room[step:n], from[step:n])
}

// gatherFixed writes values of size bytes each; code 0 may stand for nothing,
// which is zeros.
func (t *Table) gatherFixed(dst []byte, codes []uint32, size int) {
	for i, c := range codes {
		slot := dst[i*size : (i+1)*size]
		e := &t.entries[c]
		switch {
		case e.length == 0:
			clear(slot)
		case t.short:
			var w [wordLen]byte
			binary.LittleEndian.PutUint64(w[:], e.word)
			copy(slot, w[:])
		default:
			copy(slot, t.data[e.word:e.word+e.length])
		}
	}
}
