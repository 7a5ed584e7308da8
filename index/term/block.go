package term

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/index/term/internal/packed"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// block is a block in memory. It does not change.
type block struct {
	terms  []byte   // all terms, one behind the other
	ends   []uint32 // of each term in terms
	fields []uint16 // empty for one field
	scored int      // fields with frequencies
	counts []uint32 // rows of each term
	offset []uint32 // of each long list, from the first on; nil if there is none
	sizes  []uint32 // likewise
	short  []byte
	once   sync.Once
	places []uint32 // the bit at which each short list begins
	damage error    // of short lists
}

const maxTermBytes = 255 // a u8 has its length

func (b *block) len() int { return len(b.ends) }

func (b *block) term(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.terms[from:b.ends[i]]
}

// entry is the entry of a term in a block of some number.
func (b *block) entry(of, i int) Entry {
	return Entry{Term: b.term(i), Field: b.field(i), Rows: int64(b.counts[i]), block: b, i: i, of: of}
}

func (b *block) field(i int) int {
	if len(b.fields) == 0 {
		return 0
	}
	return int(b.fields[i])
}

// memory is about how many bytes the block takes.
func (b *block) memory() int64 {
	return int64(len(b.terms) + 12*len(b.ends) + 8*len(b.offset) + 2*len(b.fields) + len(b.short))
}

// parser parses blocks.
type parser struct {
	zstd              decompress.Zstd
	numbers, suffixes []byte
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parse parses a block of an index with some options and rows in lists, whose long lists have listsSize bytes, into the memory of b. The
// block does not refer to the data.
func (p *parser) parse(b *block, data []byte, o *Options, total int, listsSize uint64) error {
	data, err := container.CutChecksum(data)
	if err != nil {
		return err
	}
	if len(data) < blockHeader {
		return fault.Corruptf("block of %d bytes", len(data))
	}
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(data[at:])) }
	n, stored, size, suffixesStored, suffixesSize := u16(0), u16(2), u16(4), u16(6), u16(8)
	parts := data[blockHeader:]
	switch {
	case n == 0 || n > blockTerms || size < 2*n:
		return fault.Corruptf("block of %d terms, whose numbers have %d bytes", n, size)
	case stored+suffixesStored > len(parts):
		return fault.Corruptf("block of %d bytes has parts of %d and %d", len(data), stored, suffixesStored)
	}
	if p.numbers, err = packed.Unpack(&p.zstd, p.numbers, parts[:stored], size); err != nil {
		return err
	}
	if p.suffixes, err = packed.Unpack(&p.zstd, p.suffixes, parts[stored:stored+suffixesStored], suffixesSize); err != nil {
		return err
	}
	b.scored = o.Scored
	b.resize(n, o.Fields)
	if !b.readNumbers(p.numbers[2*n:], o.Fields, uint64(total), listsSize) {
		return fault.Corruptf("numbers of %d terms", n)
	}
	b.short = append(b.short[:0], parts[stored+suffixesStored:]...)
	b.once = sync.Once{}
	return b.join(p.numbers[:n], p.numbers[n:2*n], p.suffixes)
}

// resize makes room for n terms.
func (b *block) resize(n, fields int) {
	if cap(b.ends) < n {
		all := make([]uint32, 2*n)
		b.ends, b.counts = all[:n:n], all[n:]
	}
	b.ends, b.counts, b.offset, b.sizes = b.ends[:n], b.counts[:n], nil, nil
	if fields > 1 {
		b.fields = slices.Grow(b.fields[:0], n)[:n]
	}
}

// readNumbers reads the numbers behind the lengths of terms: those of the fields, counts, sizes.
func (b *block) readNumbers(e []byte, fields int, total, listsSize uint64) (ok bool) {
	x := uint64(0)
	if fields > 1 {
		for i := range b.fields {
			if x, e, ok = uvarint(e, uint64(fields-1)); !ok {
				return false
			}
			b.fields[i] = uint16(x)
		}
	}
	for i := range b.counts {
		if x, e, ok = uvarint(e, total-1); !ok {
			return false
		}
		b.counts[i] = uint32(x + 1)
	}
	at := uint64(0)
	for i, n := range b.counts {
		if n <= shortRows {
			continue
		}
		if b.offset == nil {
			b.offset, b.sizes = make([]uint32, len(b.counts)), make([]uint32, len(b.counts))
		}
		if x, e, ok = uvarint(e, listsSize-at); !ok {
			return false
		}
		b.offset[i], b.sizes[i] = uint32(at), uint32(x)
		at += x
	}
	return at == listsSize && len(e) == 0
}

// join makes the terms.
func (b *block) join(shared, lengths, suffixes []byte) error {
	size := 0
	for i := range shared {
		size += int(shared[i]) + int(lengths[i])
	}
	b.terms = slices.Grow(b.terms[:0], size)[:size]
	at, last := 0, 0 // last is the length of the term that ends at at
	for i := range shared {
		k, n := int(shared[i]), int(lengths[i])
		if k > last || n > len(suffixes) || k+n > maxTermBytes {
			return fault.Corruptf("term %d shares %d bytes and adds %d", i, k, n)
		}
		copy(b.terms[at:], b.terms[at-last:at-last+k])
		copy(b.terms[at+k:], suffixes[:n])
		suffixes, at, last = suffixes[n:], at+k+n, k+n
		b.ends[i] = uint32(at)
	}
	if len(suffixes) > 0 {
		return fault.Corruptf("%d bytes behind the terms", len(suffixes))
	}
	return nil
}

// shortPlaces is the bit at which each short list begins.
func (b *block) shortPlaces(total int) ([]uint32, error) {
	var rows []uint32
	places := make([]uint32, b.len())
	r := postings.NewReader(b.short)
	for i, n := range b.counts {
		if n > shortRows {
			continue
		}
		places[i] = uint32(r.Bit())
		var err error
		if rows, err = r.SkipList(rows, int(n), total); err == nil && b.field(i) < b.scored {
			rows, err = r.AppendCounts(rows[:0], int(n))
		}
		if err != nil {
			return nil, fault.In(err, "short lists", -1)
		}
	}
	return places, nil
}

// shortList appends the rows of a term with a short list to rows, and in a field with frequencies those less 1 to the others.
func (b *block) shortList(rows, frequencies []uint32, i, total int) (_, _ []uint32, err error) {
	b.once.Do(func() { b.places, b.damage = b.shortPlaces(total) })
	if b.damage != nil {
		return rows, frequencies, b.damage
	}
	r := postings.NewReader(b.short)
	r.Skip(int(b.places[i]))
	return b.readShort(&r, rows, frequencies, i, total)
}

// readShort is shortList of a list that comes next.
func (b *block) readShort(r *postings.Reader, rows, frequencies []uint32, i, total int) (_, _ []uint32, err error) {
	if rows, err = r.Append(rows, int(b.counts[i]), total); err == nil && b.field(i) < b.scored {
		if frequencies, err = r.AppendCounts(frequencies, int(b.counts[i])); err == nil && slices.Max(frequencies) >= analysis.MaxFrequency {
			err = fault.Corruptf("term %d has a frequency of more than %d", i, analysis.MaxFrequency)
		}
	}
	return rows, frequencies, err
}
