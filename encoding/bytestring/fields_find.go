package bytestring

import (
	"bytes"
	"math/bits"

	"github.com/amudai/amudai-go/encoding/fields"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// fieldFinder is the memory for finding values of Fields by their parts.
type fieldFinder struct {
	fields.Finder
	forms []*fields.Column
	texts []uint32 // columns of byte strings that are looked into, by pattern
	first []int    // of texts, by pattern, and one more
}

// findInFields is MayContain. The patterns tell about values that have a part in constant bytes and numbers; the columns
// of byte strings are searched.
func findInFields(b *Block, dst []byte, parts [][]byte) (ok bool) {
	for i := range dst {
		dst[i] = byte(1<<min(max(b.n-8*i, 0), 8) - 1)
	}
	for _, part := range parts {
		if len(part) > 0 && !b.findPart(dst, part) {
			return false
		}
	}
	count := 0
	for _, w := range dst {
		count += bits.OnesCount8(w)
	}
	return 4*count < 3*b.n
}

// findPart clears the bits of values that do not contain a part; false if some fields cannot be read.
func (b *Block) findPart(dst, part []byte) bool {
	p := b.s.patterns
	f := &p.finder
	f.forms = f.forms[:0]
	for i := range p.columns {
		f.forms = append(f.forms, &p.columns[i].Column)
		p.columns[i].searched = false
	}
	keep := f.Find(&p.decoder, f.forms, part)
	f.texts, f.first = f.texts[:0], f.first[:0]
	for code := range keep {
		f.first = append(f.first, len(f.texts))
		f.texts = p.decoder.TextColumns(f.texts, uint32(code), f.forms)
		for _, c := range f.texts[f.first[code]:] {
			if keep[code] == 0 && !p.columns[c].searched && !b.search(&p.columns[c], part) {
				return false
			}
		}
	}
	f.first = append(f.first, len(f.texts))
	for i := range p.columns {
		p.columns[i].passed = 0
	}
	for i, code := range b.codes {
		found := keep[code]
		for _, k := range f.texts[f.first[code]:f.first[code+1]] {
			c := &p.columns[k]
			if c.searched {
				found |= c.found[c.passed/8] >> (c.passed % 8) & 1
			}
			c.passed++
		}
		dst[i/8] &^= (1 - found) << (i % 8)
	}
	return true
}

// search marks the byte strings of a column that contain a part; false if they cannot be read.
func (b *Block) search(c *fieldColumn, part []byte) bool {
	if !c.ready && b.prepare(c) != nil {
		return false
	}
	c.searched = true
	found := scratch.Slice(&c.found, (c.Count+63)/64*8)
	if c.texts.MayContain(found, [][]byte{part}) {
		return true
	}
	data, ends := scratch.Slice(&c.data, c.texts.DataLen()), scratch.Slice(&c.ends, c.Count)
	if Decode(c.texts, data, ends, 0) != nil {
		return false
	}
	clear(found)
	value := 0
	for at := 0; ; {
		i := bytes.Index(data[at:], part)
		if i < 0 {
			return true
		}
		at += i
		for int(ends[value]) <= at {
			value++
		}
		if at+len(part) > int(ends[value]) { // it begins in this value, and ends in another
			at++
			continue
		}
		found[value/8] |= 1 << (value % 8)
		at = int(ends[value])
	}
}
