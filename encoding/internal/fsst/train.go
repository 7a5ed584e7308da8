package fsst

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A table is trained in generations. Each encodes the sample with the table so far, counts the symbols and pairs of
// neighbours in it, and keeps the symbols, old ones and joined pairs, that cover most bytes. The paper has five
// generations; one more pays.
const (
	sampleLen   = 16 << 10
	sampleChunk = 512
	generations = 6

	// Counted ids: codes of symbols, then single bytes.
	firstByte = 256
	numIDs    = 512
)

// Trainer trains tables, and keeps its memory. The zero value is ready to use. It must not be used concurrently.
type Trainer struct {
	table   Table
	dataLen int
	sample  []byte
	single  [numIDs]uint32
	pairs   []uint16 // numIDs*numIDs counts
	seen    []uint32 // pairs whose counts are not 0
	gains   gains
	chosen  []symbol
}

// Train returns a table for strings like those in data, of which it samples about 16 KiB. The same data always gives
// the same table. It is valid until the next call.
func (t *Trainer) Train(data []byte) *Table {
	t.takeSample(data)
	t.dataLen = len(data)
	t.table.set(nil)
	if t.pairs == nil {
		t.pairs = make([]uint16, numIDs*numIDs)
	}
	for gen := 1; gen <= generations; gen++ {
		// Early generations need only frequent symbols.
		t.count(t.sample[:len(t.sample)*gen/generations])
		t.weigh(gen == generations)
		t.choose()
	}
	return &t.table
}

// takeSample takes chunks of data at equal distances, in mixed order for the generations that use only the first
// ones.
func (t *Trainer) takeSample(data []byte) {
	t.sample = t.sample[:0]
	if len(data) <= sampleLen {
		t.sample = append(t.sample, data...)
		return
	}
	const chunks = sampleLen / sampleChunk
	for i := range chunks {
		at := i * 13 % chunks
		from := int(int64(len(data)-sampleChunk) * int64(at) / (chunks - 1))
		t.sample = append(t.sample, data[from:from+sampleChunk]...)
	}
}

// count encodes the sample and counts the symbols and pairs in it. A longer symbol also counts as its first byte, so
// that single bytes remain candidates.
func (t *Trainer) count(sample []byte) {
	clear(t.single[:])
	for _, i := range t.seen {
		t.pairs[i] = 0
	}
	t.seen = t.seen[:0]
	prev := -1
	for len(sample) > 0 {
		var m match
		if len(sample) >= MaxSymbolLen {
			m = t.table.find(binary.LittleEndian.Uint64(sample))
		} else {
			m = t.table.findLast(sample)
		}
		id, first := int(m.code()), firstByte+int(sample[0])
		if id == escape {
			id = first
		}
		t.single[id]++
		if prev >= 0 {
			t.countPair(prev, id)
		}
		if id != first && m.length() > 1 {
			t.single[first]++
			if prev >= 0 {
				t.countPair(prev, first)
			}
		}
		prev = id
		sample = sample[m.length():]
	}
}

func (t *Trainer) countPair(a, b int) {
	i := a*numIDs + b
	if t.pairs[i] == 0 {
		t.seen = append(t.seen, uint32(i))
	}
	t.pairs[i]++ // at most 16384
}

// symbolOf returns the symbol of an id.
func (t *Trainer) symbolOf(id int) symbol {
	if id >= firstByte {
		return symbol{uint64(id - firstByte), 1}
	}
	return t.table.symbols[id]
}

// weigh sums the bytes that each candidate would cover: the counted symbols and their pairs, and in the last
// generation only the symbols that pay.
func (t *Trainer) weigh(last bool) {
	t.gains.reset()
	for id, n := range t.single {
		if n == 0 {
			continue
		}
		if s := t.symbolOf(id); !last || t.pays(s, n) {
			t.gains.add(s, n*uint32(s.length))
		}
	}
	if last {
		return
	}
	for _, i := range t.seen {
		n := uint32(t.pairs[i])
		a := t.symbolOf(int(i) / numIDs)
		if n < minPairs || a.length == MaxSymbolLen {
			continue
		}
		s := concat(a, t.symbolOf(int(i)%numIDs))
		t.gains.add(s, n*uint32(s.length))
	}
}

// pays reports whether a symbol that occurs n times in the sample saves more in the data than its 9 bytes in the
// table. Without it, longer symbols become single bytes, and single bytes escapes.
func (t *Trainer) pays(s symbol, n uint32) bool {
	saved := int64(n) * int64(max(1, s.length-1))
	return saved*int64(t.dataLen) > 9*int64(len(t.sample))
}

// minPairs is the minimum count of a pair that becomes a candidate.
const minPairs = 5

// choose fills the table with the candidates of the largest gains.
func (t *Trainer) choose() {
	var taken [longSlots]bool
	t.chosen = t.chosen[:0]
	for _, s := range t.gains.top(2 * MaxSymbols) {
		if len(t.chosen) == MaxSymbols {
			break
		}
		if s.length > 2 {
			if taken[slot(s.value)] {
				continue
			}
			taken[slot(s.value)] = true
		}
		t.chosen = append(t.chosen, s)
	}
	slices.SortFunc(t.chosen, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.value, b.value))
	})
	t.table.set(t.chosen)
}
