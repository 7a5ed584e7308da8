package column

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The kinds 1, 2, 6, 7, 12 and 13 begin with
//
//	 2  u8   bytes of an index: 1, 2 or 4. Unused in 6, 7, 12 and 13
//	 3  u32  length of the dictionary
//	 7  …    dictionary, compressed
//	 …  u32  rows
//	 …  u32  length of the presence
//	 …  …    presence
//
// and end with the indexes: of all rows in 1, 6 and 12, of rows with a value in the others.
//
//	 1           indexes
//	 2  u32      number of indexes
//	    …        indexes
//	 6, 7  u32   number of indexes
//	       u32   length of the runs
//	       …     runs of indexes
//	12, 13  u32  length of the deltas
//	        …    deltas, i32 each, compressed
//
// A decompressed dictionary is
//
//	0  u32  entries
//	4  …    entries: u64 for numbers, u8 for Bool, u32 length and bytes for String and Bytes

func (r *Reader) parseCoded(c *fields.Cursor) {
	r.width = int(c.U8("index width"))
	r.first = frame(c, "dictionary")
	r.parsePresence(c)
	switch r.kind {
	case Dictionary, SparseDictionary:
		r.parseIndexes(c)
	case RLEIndexes, SparseRLEIndexes:
		r.parseIndexRuns(c)
	default:
		r.second = frame(c, "deltas")
	}
}

// stored is the number of indexes, deltas or inline values: of all rows, or of those with a value.
func (r *Reader) stored() int {
	if r.kind.Dense() {
		return r.rows
	}
	return r.presence.count
}

func (r *Reader) parseIndexes(c *fields.Cursor) {
	if c.Err == nil && r.width != 1 && r.width != 2 && r.width != 4 {
		c.Err = fault.In(fault.Corruptf("indexes of %d bytes", r.width), "index width", 2)
	}
	if r.kind == SparseDictionary {
		r.presentCount(c)
	}
	r.second = take(c, "indexes", r.stored()*r.width)
	c.Note(len(r.second.data), "indexes of", fmt.Sprint(r.width, " bytes each"))
}

// parseIndexRuns parses runs of indexes. By one reading of the specification, kind 7 has the number of present rows
// first.
func (r *Reader) parseIndexRuns(c *fields.Cursor) {
	if rest := c.Data[c.Pos:]; r.kind == SparseRLEIndexes && len(rest) >= 12 {
		n := binary.LittleEndian.Uint32(rest)
		if n == uint32(r.presence.count) && n == binary.LittleEndian.Uint32(rest[4:]) && n != uint32(len(rest)-8) {
			c.U32("present count")
		}
	}
	if n := c.U32("index count"); uint64(n) != uint64(r.stored()) {
		c.Refuse(4, "index count", fault.Corruptf("%d indexes for %d rows", n, r.stored()))
	}
	r.second = block(c, "index runs")
	if rs, err := parseRuns(r.second, false); c.Parts != nil && c.Err == nil && err == nil {
		rs.list(c)
	}
}

// Dictionary decodes the dictionary of a coded column. Its entries need not be sorted or unique.
func (r *Reader) Dictionary() (Values, error) {
	v, err := r.dictionary(nil)
	r.unpackUUIDs(&v)
	return v, r.in(err)
}

// dictionary decodes the dictionary into memory, as it is stored. Strings are in it.
func (r *Reader) dictionary(memory []byte) (Values, error) {
	body, err := r.d.decompress(memory, r.first, r.o.Limits.Bytes)
	if err != nil {
		return Values{}, err
	}
	var v Values
	var used int
	if r.typ.Textual() {
		v, used, err = parseStrings(body, r.o.Limits)
	} else {
		v, used, err = parseNumbers(body, r.typ, r.o.Limits)
	}
	if err != nil {
		return Values{}, r.first.in(err, 0)
	}
	if used < len(body) {
		r.warn(r.first.in(fault.Corruptf("%d bytes follow the entries", len(body)-used), 0))
	}
	return v, nil
}

// entries parses the number of entries of a dictionary, each of which has size bytes or more.
func entries(body []byte, size int, l Limits) (int, error) {
	if len(body) == 0 {
		return 0, nil
	}
	if len(body) < 4 {
		return 0, fault.Corruptf("a dictionary of %d bytes", len(body))
	}
	n := int(binary.LittleEndian.Uint32(body))
	if n > (len(body)-4)/size {
		return 0, fault.Corruptf("%d entries in %d bytes", n, len(body)-4)
	}
	if n > l.DictionaryEntries {
		return 0, fault.Limitf("%d entries of a dictionary, where %d are allowed", n, l.DictionaryEntries)
	}
	return n, nil
}

func parseNumbers(body []byte, t Type, l Limits) (v Values, used int, err error) {
	size := 8
	if t == Bool {
		size = 1
	}
	n, err := entries(body, size, l)
	if err != nil || n == 0 {
		return v, min(4, len(body)), err
	}
	v.Numbers = make([]uint64, n)
	widen(v.Numbers, body[4:], size, 0)
	if t == Bool {
		for i, b := range v.Numbers {
			v.Numbers[i] = min(b, 1)
		}
	}
	return v, 4 + n*size, nil
}

// parseStrings moves the entries of body together.
func parseStrings(body []byte, l Limits) (v Values, used int, err error) {
	n, err := entries(body, 4, l)
	if err != nil {
		return v, 0, err
	}
	v.Offsets = make([]uint32, n+1)
	walk := values{data: body, at: min(4, len(body)), limit: l.ValueLen}
	end := 0
	for i := range n {
		entry, err := walk.next()
		if err != nil {
			return v, 0, fault.Corruptf("entry %d of %d: %w", i, n, err)
		}
		end += copy(body[end:], entry)
		v.Offsets[i+1] = uint32(end)
	}
	v.Data = body[:end]
	return v, walk.at, nil
}

// Codes decodes the codes of the present rows of a coded column, in order. Each is less than entries, the number of
// entries of the dictionary.
func (r *Reader) Codes(entries int) ([]uint32, error) {
	codes, err := r.indexes(entries)
	return codes, r.in(err)
}

func (r *Reader) indexes(entries int) ([]uint32, error) {
	if r.presence.count == 0 {
		return []uint32{}, nil
	}
	codes := make([]uint32, r.stored())
	var err error
	switch r.kind {
	case Dictionary, SparseDictionary:
		widen(codes, r.second.data, r.width, 0)
	case RLEIndexes, SparseRLEIndexes:
		err = r.expandRuns(codes)
	default:
		err = r.addDeltas(codes)
	}
	if err != nil {
		return nil, err
	}
	codes = r.present(codes)
	if largest := slices.Max(codes); uint64(largest) >= uint64(entries) {
		return nil, r.second.in(fault.Corruptf("index %d into a dictionary of %d entries", largest, entries), 0)
	}
	return codes, nil
}

// present drops the codes of null rows.
func (r *Reader) present(codes []uint32) []uint32 {
	if !r.kind.Dense() || r.presence.all() {
		return codes
	}
	k := 0
	for row, n := range r.presence.ranges() {
		k += copy(codes[k:], codes[row:row+n])
	}
	return codes[:k]
}

// widen sets dst to the sums of base and little-endian numbers of width bytes, of which there are none if width is 0.
func widen[T uint32 | uint64](dst []T, src []byte, width int, base T) {
	switch width {
	case 0:
		for i := range dst {
			dst[i] = base
		}
	case 1:
		src = src[:len(dst)]
		for i, b := range src {
			dst[i] = base + T(b)
		}
	case 2:
		for i := range dst {
			dst[i] = base + T(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case 4:
		for i := range dst {
			dst[i] = base + T(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case 8:
		for i := range dst {
			dst[i] = base + T(binary.LittleEndian.Uint64(src[8*i:]))
		}
	}
}

func (r *Reader) expandRuns(dst []uint32) error {
	rs, err := parseRuns(r.second, false)
	if err != nil {
		return err
	}
	n := len(dst)
	for i := range rs.len() {
		length, value := rs.at(i)
		if uint64(length) > uint64(len(dst)) {
			return r.second.in(fault.Corruptf("runs of more than %d indexes", n), 0)
		}
		run := dst[:length]
		dst = dst[length:]
		for k := range run {
			run[k] = value
		}
	}
	if len(dst) > 0 {
		return r.second.in(fault.Corruptf("runs of %d indexes for %d", n-len(dst), n), 0)
	}
	return nil
}

func (r *Reader) addDeltas(dst []uint32) error {
	data, err := r.numbers(&r.d.second, r.second, 4, len(dst), "deltas")
	if err != nil {
		return err
	}
	index := uint32(0)
	for i := range dst {
		index += binary.LittleEndian.Uint32(data[4*i:])
		dst[i] = index
	}
	return nil
}
