package fsst

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A table is grown over generations: each encodes the sample by the table so
// far, counts the symbols used and the pairs of neighbours, and keeps the
// symbols, old ones and joined pairs, that cover most bytes.
const (
	sampleLen   = 16 << 10
	sampleChunk = 512
	generations = 5

	// Ids of what is counted: codes of symbols, then single bytes.
	firstByte = 256
	numIDs    = 512
)

// Train makes a table for strings like those in data, of which it looks at
// about 16 KiB. The same data always gives the same table.
func Train(data []byte) *Table { return new(Trainer).Train(data) }

// Trainer makes tables and keeps the memory for it. The zero value is ready;
// it must not be used concurrently.
type Trainer struct {
	table  Table
	sample []byte

	single [numIDs]uint32
	pairs  []uint32 // numIDs*numIDs counts
	seen   []uint32 // indexes of pairs that are not 0

	gains map[symbol]uint64
	order []candidate
}

type candidate struct {
	symbol
	gain uint64
}

// Train is like the function of that name. The table is valid until the next
// call.
func (t *Trainer) Train(data []byte) *Table {
	t.takeSample(data)
	t.table.reset()
	if t.pairs == nil {
		t.pairs = make([]uint32, numIDs*numIDs)
		t.gains = make(map[symbol]uint64)
	}
	for gen := 1; gen <= generations; gen++ {
		// Early generations only need to see what is frequent.
		t.count(t.sample[:len(t.sample)*gen/generations])
		t.choose(gen < generations)
	}
	return &t.table
}

// takeSample takes chunks of data at equal distances.
func (t *Trainer) takeSample(data []byte) {
	t.sample = t.sample[:0]
	if len(data) <= sampleLen {
		t.sample = append(t.sample, data...)
		return
	}
	const chunks = sampleLen / sampleChunk
	for i := range chunks {
		from := int(int64(len(data)-sampleChunk) * int64(i) / (chunks - 1))
		t.sample = append(t.sample, data[from:from+sampleChunk]...)
	}
}

// count encodes the sample and counts the symbols and pairs in it. A longer
// symbol also counts as its first byte, so that single bytes stay in the race.
func (t *Trainer) count(sample []byte) {
	clear(t.single[:])
	for _, i := range t.seen {
		t.pairs[i] = 0
	}
	t.seen = t.seen[:0]
	prev := -1
	for len(sample) > 0 {
		var match uint16
		if len(sample) >= MaxSymbolLen {
			match = t.table.find(binary.LittleEndian.Uint64(sample))
		} else {
			match = t.table.findShort(sample)
		}
		id, first := int(byte(match)), firstByte+int(sample[0])
		if id == escape {
			id = first
		}
		t.single[id]++
		if prev >= 0 {
			t.countPair(prev, id)
		}
		if match>>8 > 1 {
			t.single[first]++
			if prev >= 0 {
				t.countPair(prev, first)
			}
		}
		prev = id
		sample = sample[match>>8:]
	}
}

func (t *Trainer) countPair(a, b int) {
	i := a*numIDs + b
	if t.pairs[i] == 0 {
		t.seen = append(t.seen, uint32(i))
	}
	t.pairs[i]++
}

// symbolOf is what an id stands for.
func (t *Trainer) symbolOf(id int) symbol {
	if id >= firstByte {
		return symbol{uint64(id - firstByte), 1}
	}
	return t.table.symbols[id]
}

// choose replaces the table by the symbols that cover most, with or without
// joined pairs.
func (t *Trainer) choose(join bool) {
	clear(t.gains)
	for id, n := range t.single {
		if n == 0 {
			continue
		}
		s := t.symbolOf(id)
		gain := uint64(n) * uint64(s.length)
		if s.length == 1 {
			gain *= 8 // without it, it is an escape: two bytes, and slow
		}
		t.gains[s] += gain
	}
	if join {
		for _, i := range t.seen {
			a := t.symbolOf(int(i) / numIDs)
			if n := t.pairs[i]; n > 1 && a.length < MaxSymbolLen {
				s := concat(a, t.symbolOf(int(i)%numIDs))
				t.gains[s] += uint64(n) * uint64(s.length)
			}
		}
	}
	t.order = t.order[:0]
	for s, gain := range t.gains {
		t.order = append(t.order, candidate{s, gain})
	}
	slices.SortFunc(t.order, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.length, a.length), cmp.Compare(a.value, b.value))
	})
	t.rebuild()
}

// rebuild fills the table from the candidates in order, best first.
func (t *Trainer) rebuild() {
	// Which ones get in: a trial in order of gain.
	t.table.reset()
	for _, c := range t.order {
		if c.length == 1 && c.gain <= 8 {
			continue
		}
		t.table.add(c.symbol)
		if t.table.Len() == MaxSymbols {
			break
		}
	}
	// Codes in order of length, since bytes must be added before pairs of bytes.
	chosen := slices.Clone(t.table.symbols)
	slices.SortFunc(chosen, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.value, b.value))
	})
	t.table.reset()
	for _, s := range chosen {
		t.table.add(s)
	}
}
