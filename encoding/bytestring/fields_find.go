package bytestring

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/encoding/internal/fields/find"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// fieldFinder is the memory for finding values of Fields.
type fieldFinder struct {
	find.Finder
	wanted    []find.Wanted
	intervals []find.Interval
	narrow    []numeric.Interval[uint32]
	wide      []numeric.Interval[uint64]
}

// findInFields is MayContain.
func findInFields(b *Block, dst []byte, parts [][]byte) (ok bool) {
	f := &b.s.patterns.finder
	f.wanted = f.wanted[:0]
	for _, part := range parts {
		if len(part) > 0 {
			f.wanted = append(f.wanted, find.Wanted{Text: part})
		}
	}
	return b.findFields(dst)
}

// fieldsBegin is MayMatch for a prefix.
func fieldsBegin(b *Block, dst []byte, r Required) (ok bool) {
	f := &b.s.patterns.finder
	f.wanted = append(f.wanted[:0], find.Wanted{Text: r.Prefix, Begin: true, Whole: r.Equal})
	return b.findFields(dst)
}

// findFields writes a bit for each value that may match what is wanted; ok is false if some fields cannot be read, or nearly all are set.
func (b *Block) findFields(dst []byte) (ok bool) {
	p := b.s.patterns
	found, ok := p.finder.Find(find.Values{Patterns: &p.decoder, Codes: b.codes, Columns: searched{b}}, p.finder.wanted...)
	if !ok {
		return false
	}
	clear(dst)
	count := 0
	for i, w := range found {
		count += bits.OnesCount64(w)
		if len(dst) >= 8*i+8 {
			binary.LittleEndian.PutUint64(dst[8*i:], w)
			continue
		}
		for k := range dst[8*i:] {
			dst[8*i+k] = byte(w >> (8 * k))
		}
	}
	return 4*count < 3*b.n
}

// searched is the columns of a block that are searched.
type searched struct{ b *Block }

func (s searched) Header(column uint32) *fields.Header { return &s.b.s.patterns.columns[column].Header }

func (s searched) Test(found []uint64, column uint32, how find.How, text []byte) (ok bool) {
	c := &s.b.s.patterns.columns[column]
	if c.Word == 0 {
		return s.b.testTexts(found, c, how, text)
	}
	return s.b.testNumbers(found, c, how, text)
}

// testNumbers sets the bits of the numbers whose texts have a relation to a text; false if they cannot be read.
func (b *Block) testNumbers(found []uint64, c *fieldColumn, how find.How, text []byte) (ok bool) {
	f := &b.s.patterns.finder
	f.intervals, ok = find.Intervals(f.intervals[:0], &c.Column, how, text)
	switch {
	case ok && c.Word == 4 && !c.ready:
		f.narrow = f.narrow[:0]
		for _, i := range f.intervals {
			if i.Low <= math.MaxUint32 {
				f.narrow = append(f.narrow, numeric.Interval[uint32]{Low: uint32(i.Low), High: uint32(min(i.High, math.MaxUint32))})
			}
		}
		return numeric.SelectTreeRanges(c.part, c.Count, f.narrow, &b.s.num, found) == nil
	case ok && !c.ready:
		f.wide = f.wide[:0]
		for _, i := range f.intervals {
			f.wide = append(f.wide, numeric.Interval[uint64](i))
		}
		return numeric.SelectTreeRanges(c.part, c.Count, f.wide, &b.s.num, found) == nil
	case !c.ready && b.prepare(c) != nil:
		return false
	case c.Word == 4:
		return find.Mark(found, &c.buffer, &c.Column, c.narrow, how, text) == nil
	}
	return find.Mark(found, &c.buffer, &c.Column, c.wide, how, text) == nil
}

// manyTold is the share of a column, one in so many texts, above which candidates are worth comparing.
const manyTold = 16

// testTexts is testNumbers for byte strings.
func (b *Block) testTexts(found []uint64, c *fieldColumn, how find.How, text []byte) bool {
	if !c.ready && b.prepare(c) != nil {
		return false
	}
	if len(text) > 0 {
		r := Required{Parts: [][]byte{text}}
		if how == find.Begins || how == find.Equals {
			r.Prefix, r.Equal = text, how == find.Equals
		}
		told := scratch.Slice(&c.found, 8*len(found))
		if c.texts.MayMatch(told, r) {
			count := 0
			for i := range found {
				found[i] = binary.LittleEndian.Uint64(told[8*i:])
				count += bits.OnesCount64(found[i])
			}
			if manyTold*count <= c.Count {
				return true
			}
			clear(found)
		}
	}
	data, ends := scratch.Slice(&c.data, c.texts.DataLen()), scratch.Slice(&c.ends, c.Count)
	if Decode(c.texts, data, ends, 0) != nil {
		return false
	}
	find.MarkTexts(found, data, ends, how, text)
	return true
}
