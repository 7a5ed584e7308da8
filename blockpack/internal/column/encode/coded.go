package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// dictionary is the sorted dictionary of a column, and its codes.
type dictionary struct {
	part
	// For the column at hand:
	numbered, sorted bool
	sampled          int // the compressed size by a sample, 0 if it is not known
	len              int
	width            int      // of a code in bytes
	ids              []uint32 // of present rows, into entries
	order            []entry
	spare            []entry
	codes            []uint32 // of ids; then of present rows
	rank             []uint32
}

// entry is a value of a dictionary to be sorted.
type entry struct {
	key uint64 // numbers: in the order of values; strings: the first eight bytes
	ref uint32 // in the column's Values
	id  uint32
}

// codedSize is the size of a kind with a dictionary.
func (e *Encoder) codedSize(k column.Kind, limit int) (int, error) {
	d := &e.dict
	if !d.numbered {
		e.numberValues()
	}
	if limit != impossible && !d.sorted && e.unique() {
		return impossible, nil
	}
	if !d.sorted {
		e.sortDictionary()
	}
	if d.len > column.MaxDictionaryEntries {
		return impossible, nil
	}
	if k == column.DeltaDictionary && d.len == 0 && e.c.Rows > 0 {
		return impossible, nil
	}
	size := 2 + 1 + 4 + e.rowsSize()
	if loses, err := e.dictionaryLoses(size, limit); loses || err != nil {
		return impossible, err
	}
	codes, err := e.codesSize(k)
	if err != nil {
		return 0, err
	}
	if loses, err := e.dictionaryLoses(size+codes, limit); loses || err != nil {
		return impossible, err
	}
	if !d.done {
		if err := d.compress(e, ofDictionaries); err != nil {
			return 0, err
		}
	}
	return size + codes + len(d.data), nil
}

// uniqueMin is the number of values for which [Encoder.unique] holds.
const uniqueMin = 256

// unique tells whether a dictionary loses against kinds without one, because no value is there twice: the codes of many
// values need more space than their order saves.
func (e *Encoder) unique() bool {
	return e.count >= uniqueMin && len(e.dict.order) == e.count && (e.c.Type == column.Bytes || e.c.Type == column.Uint64)
}

// codesSize is the size of what follows the presence.
func (e *Encoder) codesSize(k column.Kind) (int, error) {
	switch k {
	case column.Dictionary:
		return e.c.Rows * e.dict.width, nil
	case column.SparseDictionary:
		return 4 + e.count*e.dict.width, nil
	case column.RLEIndexes, column.SparseRLEIndexes:
		n := e.runs
		if k == column.RLEIndexes && n == 0 && e.c.Rows > 0 {
			n = 1
		}
		return 4 + 4 + column.RunsHeader + n*column.RunSize, nil
	}
	deltas := &e.deltas[k-column.DeltaDictionary]
	if !deltas.done {
		if err := e.makeDeltas(deltas, k); err != nil {
			return 0, err
		}
	}
	return 4 + len(deltas.data), nil
}

// dictionaryLoses tells whether size, that of all but the dictionary, leaves the kind no chance against limit.
func (e *Encoder) dictionaryLoses(size, limit int) (bool, error) {
	d := &e.dict
	switch {
	case limit == impossible:
		return false, nil
	case d.done:
		return size+len(d.data) >= limit, nil
	case len(d.plain) < sampleMin:
		return size >= limit, nil
	}
	if d.sampled == 0 {
		n, err := e.sampleSize(d.plain[:len(d.plain)/sampleParts])
		if err != nil {
			return false, err
		}
		// A sample has tables of its own, and less to find matches in.
		n = max(n-sampleTables, 1) * sampleParts
		d.sampled = n - n/16
	}
	return size+d.sampled >= limit, nil
}

// numberValues makes entries of the distinct values of the column.
func (e *Encoder) numberValues() {
	e.dict.numbered = true
	if e.c.Codes != nil {
		e.useCodes()
	} else if e.c.Type.Textual() {
		e.numberStrings()
	} else {
		e.numberNumbers()
	}
}

// sortDictionary sorts the entries, and finds the codes of rows.
func (e *Encoder) sortDictionary() {
	d := &e.dict
	d.sorted, d.sampled = true, 0
	e.sortEntries()
	e.rankEntries()
	codes := scratch.Slice(&d.codes, e.count)
	e.runs = 0
	for i, id := range d.ids {
		codes[i] = d.rank[id]
		if i == 0 || codes[i] != codes[i-1] {
			e.runs++
		}
	}
	switch {
	case d.len <= 1<<8:
		d.width = 1
	case d.len <= 1<<16:
		d.width = 2
	default:
		d.width = 4
	}
}

// useCodes makes entries of the values that codes refer to.
func (e *Encoder) useCodes() {
	d := &e.dict
	ids := scratch.Slice(&d.rank, e.c.Values.Len())
	clear(ids)
	d.ids, d.order = d.ids[:0], d.order[:0]
	for _, code := range e.c.Codes {
		if ids[code] == 0 {
			d.order = append(d.order, entry{ref: code, id: uint32(len(d.order))})
			ids[code] = uint32(len(d.order))
		}
		d.ids = append(d.ids, ids[code]-1)
	}
}

// numberStrings makes entries of the distinct values of a column without codes.
func (e *Encoder) numberStrings() {
	d := &e.dict
	e.set.Reset()
	d.ids, d.order = d.ids[:0], d.order[:0]
	for i := range e.count {
		id, added := e.set.Add(e.c.Values.Bytes(i))
		if added {
			d.order = append(d.order, entry{ref: uint32(i), id: id})
		}
		d.ids = append(d.ids, id)
	}
}

func (e *Encoder) numberNumbers() {
	d := &e.dict
	e.ids.reset(e.count)
	d.ids, d.order = d.ids[:0], d.order[:0]
	for i, v := range e.c.Values.Numbers {
		id := e.ids.add(v)
		if int(id) == len(d.order) {
			d.order = append(d.order, entry{ref: uint32(i), id: id})
		}
		d.ids = append(d.ids, id)
	}
}

// numbering numbers integers in the order in which they first appear.
type numbering struct {
	slots  []numberSlot // open addressing
	n      uint32
	shift  uint8
	last   uint64
	lastID uint32
}

type numberSlot struct {
	value uint64
	id    uint32 // plus 1; 0 is a free slot
}

// seed makes hashes differ between processes, so that nobody can choose numbers that collide. Numbers do not depend
// on hashes.
var seed = rand.Uint64() | 1

// reset empties the table, and makes room for n integers.
func (t *numbering) reset(n int) {
	size := 1 << bits.Len(uint(max(2*n-1, 15)))
	clear(scratch.Slice(&t.slots, size))
	t.n, t.shift = 0, uint8(64-bits.Len(uint(size-1)))
}

func (t *numbering) add(v uint64) uint32 {
	if t.n > 0 && v == t.last {
		return t.lastID
	}
	hi, lo := bits.Mul64(v^seed, 0x9e3779b97f4a7c15)
	h := (hi ^ lo) * seed >> t.shift
	for {
		s := &t.slots[h]
		if s.id == 0 {
			t.n++
			*s = numberSlot{v, t.n}
		}
		if s.value == v {
			t.last, t.lastID = v, s.id-1
			return t.lastID
		}
		h = (h + 1) & uint64(len(t.slots)-1)
	}
}

// sortEntries sorts entries by value.
func (e *Encoder) sortEntries() {
	d, v := &e.dict, &e.c.Values
	if e.c.Type.Textual() {
		for i := range d.order {
			d.order[i].key = head(v.Bytes(int(d.order[i].ref)))
		}
		d.order, d.spare = radixSort(d.order, d.spare)
		for rest := d.order; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].key == rest[0].key {
				n++
			}
			slices.SortFunc(rest[:n], func(a, b entry) int {
				return bytes.Compare(v.Bytes(int(a.ref)), v.Bytes(int(b.ref)))
			})
			rest = rest[n:]
		}
		return
	}
	for i := range d.order {
		d.order[i].key = column.TotalOrder(e.c.Type, v.Numbers[d.order[i].ref])
	}
	d.order, d.spare = radixSort(d.order, d.spare)
}

// head is the first eight bytes of b, padded with zeros, in the order of strings.
func head(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (56 - 8*i)
	}
	return w
}

// radixSort sorts by key, byte by byte from the lowest. It gives both slices, the sorted one first.
func radixSort(a, spare []entry) (sorted, other []entry) {
	if len(a) < 128 {
		slices.SortFunc(a, func(x, y entry) int { return cmp.Compare(x.key, y.key) })
		return a, spare
	}
	differ := uint64(0)
	for i := range a {
		differ |= a[i].key ^ a[0].key
	}
	b := scratch.Slice(&spare, len(a))
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var at [256]int
		for i := range a {
			at[byte(a[i].key>>shift)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for i := range a {
			k := byte(a[i].key >> shift)
			b[at[k]] = a[i]
			at[k]++
		}
		a, b = b, a
	}
	return a, b
}

// rankEntries gives sorted entries their codes, equal ones the same, and builds the body of the dictionary.
func (e *Encoder) rankEntries() {
	d, v := &e.dict, &e.c.Values
	rank := scratch.Slice(&d.rank, len(d.order))
	d.plain = append(d.plain[:0], 0, 0, 0, 0)
	d.len = 0
	for i, o := range d.order {
		if i > 0 && e.equal(d.order[i-1], o) {
			rank[o.id] = uint32(d.len - 1)
			continue
		}
		rank[o.id] = uint32(d.len)
		d.len++
		switch {
		case e.c.Type.Textual():
			d.plain = appendSection(d.plain, v.Bytes(int(o.ref)))
		case e.c.Type == column.Bool:
			d.plain = append(d.plain, byte(min(v.Numbers[o.ref], 1)))
		default:
			d.plain = binary.LittleEndian.AppendUint64(d.plain, v.Numbers[o.ref])
		}
	}
	binary.LittleEndian.PutUint32(d.plain, uint32(d.len))
}

// equal compares the values of two entries.
func (e *Encoder) equal(a, b entry) bool {
	if e.c.Codes == nil || a.key != b.key {
		return false
	}
	v := &e.c.Values
	return !e.c.Type.Textual() || bytes.Equal(v.Bytes(int(a.ref)), v.Bytes(int(b.ref)))
}

// makeDeltas compresses the deltas of kind 12 or 13.
func (e *Encoder) makeDeltas(p *part, k column.Kind) error {
	p.plain = p.plain[:0]
	last := uint32(0)
	e.eachCode(k, func(code uint32, n int) {
		for range n {
			p.plain = binary.LittleEndian.AppendUint32(p.plain, code-last)
			last = code
		}
	})
	return p.compress(e, ofDictionaries)
}

// eachCode calls f with runs of codes of kind k: those of null rows in dense kinds repeat the code before, where that
// makes runs longer, or are 0.
func (e *Encoder) eachCode(k column.Kind, f func(code uint32, n int)) {
	codes := e.dict.codes
	if !k.Dense() || e.c.Present == nil {
		for _, code := range codes {
			f(code, 1)
		}
		return
	}
	last := uint32(0)
	if k == column.RLEIndexes && len(codes) > 0 {
		last = codes[0]
	}
	for row := 0; row < e.c.Rows; {
		end, value := presenceRun(e.c.Present, row, e.c.Rows)
		switch {
		case value == 0 && k == column.Dictionary:
			f(0, end-row)
		case value == 0:
			f(last, end-row)
		default:
			for _, code := range codes[:end-row] {
				f(code, 1)
				last = code
			}
			codes = codes[end-row:]
		}
		row = end
	}
}

// appendCoded appends what follows the encoding kind.
func (e *Encoder) appendCoded(dst []byte, k column.Kind) []byte {
	d := &e.dict
	dst = append(dst, byte(d.width))
	dst = e.appendRows(appendSection(dst, d.data))
	switch k {
	case column.Dictionary:
		return e.appendCodes(dst, k)
	case column.SparseDictionary:
		return e.appendCodes(binary.LittleEndian.AppendUint32(dst, uint32(e.count)), k)
	case column.RLEIndexes:
		return e.appendCodeRuns(binary.LittleEndian.AppendUint32(dst, uint32(e.c.Rows)), k)
	case column.SparseRLEIndexes:
		return e.appendCodeRuns(binary.LittleEndian.AppendUint32(dst, uint32(e.count)), k)
	}
	return appendSection(dst, e.deltas[k-column.DeltaDictionary].data)
}

func (e *Encoder) appendCodes(dst []byte, k column.Kind) []byte {
	e.eachCode(k, func(code uint32, n int) {
		for range n {
			switch e.dict.width {
			case 1:
				dst = append(dst, byte(code))
			case 2:
				dst = binary.LittleEndian.AppendUint16(dst, uint16(code))
			default:
				dst = binary.LittleEndian.AppendUint32(dst, code)
			}
		}
	})
	return dst
}

func (e *Encoder) appendCodeRuns(dst []byte, k column.Kind) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, column.RunsVersion, 0, 0, 0, 0)
	last, length, runs := uint32(0), uint32(0), uint32(0)
	e.eachCode(k, func(code uint32, n int) {
		if code != last && length > 0 {
			dst = appendRun(dst, length, last)
			runs, length = runs+1, 0
		}
		last, length = code, length+uint32(n)
	})
	if length > 0 {
		dst = appendRun(dst, length, last)
		runs++
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	binary.LittleEndian.PutUint32(dst[at+5:], runs)
	return dst
}
