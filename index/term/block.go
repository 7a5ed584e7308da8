package term

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding/decompress"
	"github.com/amudai/amudai-go/index/postings"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// block is a block in memory. It does not change.
type block struct {
	terms  []byte   // all terms, one behind the other
	ends   []uint32 // of each term in terms
	fields []uint16 // nil for one field
	counts []uint32 // rows of each term
	offset []uint32 // of each long list, from the first on; of a short one, 0
	sizes  []uint32 // of each long list
	short  []byte
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
	if b.fields == nil {
		return 0
	}
	return int(b.fields[i])
}

// memory is about how many bytes the block takes.
func (b *block) memory() int64 {
	return int64(len(b.terms) + 16*len(b.ends) + 2*len(b.fields) + len(b.short))
}

// parseBlock parses a block of an index with some fields and rows in lists, whose long lists have listsSize bytes.
func parseBlock(data []byte, fields, total int, listsSize uint64, z *decompress.Zstd) (*block, error) {
	data, err := checked(data)
	if err != nil {
		return nil, err
	}
	if len(data) < blockHeader {
		return nil, fault.Corruptf("block of %d bytes", len(data))
	}
	n := int(binary.LittleEndian.Uint16(data))
	stored, size, short := uint64(binary.LittleEndian.Uint32(data[4:])), uint64(binary.LittleEndian.Uint32(data[8:])), uint64(binary.LittleEndian.Uint32(data[12:]))
	// A term has at most its two lengths, three bytes of the field, five of the rows, five of the size, and itself.
	const maxEntry = 2 + 3 + 5 + 5 + maxTermBytes
	switch {
	case n == 0 || n > blockTerms || size > uint64(n)*maxEntry:
		return nil, fault.Corruptf("block of %d terms in %d bytes", n, size)
	case stored+short != uint64(len(data)-blockHeader):
		return nil, fault.Corruptf("block of %d bytes has parts of %d and %d", len(data), stored, short)
	}
	e, err := unpack(z, data[blockHeader:blockHeader+stored], int(size))
	if err != nil {
		return nil, err
	}
	b := &block{short: data[blockHeader+stored:], ends: make([]uint32, n), counts: make([]uint32, n), offset: make([]uint32, n), sizes: make([]uint32, n)}
	if len(e) < 2*n {
		return nil, fault.Corruptf("entries of %d terms in %d bytes", n, len(e))
	}
	rest, ok := b.numbers(e[2*n:], fields, uint64(total), listsSize)
	if !ok {
		return nil, fault.Corruptf("numbers of the entries of %d terms", n)
	}
	return b, b.join(e[:n], e[n:2*n], rest)
}

// numbers reads the numbers of the entries.
func (b *block) numbers(e []byte, fields int, total, listsSize uint64) (rest []byte, ok bool) {
	x := uint64(0)
	if fields > 1 {
		b.fields = make([]uint16, b.len())
		for i := range b.fields {
			if x, e, ok = uvarint(e, uint64(fields-1)); !ok {
				return nil, false
			}
			b.fields[i] = uint16(x)
		}
	}
	for i := range b.counts {
		if x, e, ok = uvarint(e, total-1); !ok {
			return nil, false
		}
		b.counts[i] = uint32(x + 1)
	}
	at := uint64(0)
	for i, n := range b.counts {
		if n <= shortRows {
			continue
		}
		if x, e, ok = uvarint(e, listsSize-at); !ok {
			return nil, false
		}
		b.offset[i], b.sizes[i] = uint32(at), uint32(x)
		at += x
	}
	return e, at == listsSize
}

// join makes the terms.
func (b *block) join(shared, lengths, suffixes []byte) error {
	size := 0
	for i := range shared {
		size += int(shared[i]) + int(lengths[i])
	}
	b.terms = make([]byte, 0, size)
	last := 0 // length
	for i := range shared {
		k, n := int(shared[i]), int(lengths[i])
		if k > last || n > len(suffixes) || k+n > maxTermBytes {
			return fault.Corruptf("term %d shares %d bytes and adds %d", i, k, n)
		}
		b.terms = append(append(b.terms, b.terms[len(b.terms)-last:len(b.terms)-last+k]...), suffixes[:n]...)
		b.ends[i] = uint32(len(b.terms))
		suffixes, last = suffixes[n:], k+n
	}
	if len(suffixes) > 0 {
		return fault.Corruptf("%d bytes behind the terms", len(suffixes))
	}
	return nil
}

// shortList appends the rows of a term with a short list to dst.
func (b *block) shortList(dst []uint32, i, total int) ([]uint32, error) {
	r := postings.NewReader(b.short)
	from := len(dst)
	for k := 0; ; k++ {
		n := int(b.counts[k])
		if n > shortRows {
			continue
		}
		var err error
		if dst, err = r.Append(dst[:from], n, total); err != nil || k == i {
			return dst, fault.In(err, "short lists", -1)
		}
	}
}
