package patterns

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/encoding/internal/fields/find"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/search"
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
func findInFields(t *tree.Tree, dst []byte, parts [][]byte) (ok bool) {
	p := tree.State[patterns](t)
	f := &p.finder
	f.wanted = f.wanted[:0]
	for _, part := range parts {
		if len(part) > 0 {
			f.wanted = append(f.wanted, find.Wanted{Text: part})
		}
	}
	return p.find(dst)
}

// fieldsBegin is MayMatch for a prefix.
func fieldsBegin(t *tree.Tree, dst []byte, r tree.Required) (ok bool) {
	p := tree.State[patterns](t)
	f := &p.finder
	f.wanted = append(f.wanted[:0], find.Wanted{Text: r.Prefix, Begin: true, Whole: r.Equal})
	return p.find(dst)
}

// find writes a bit for each value that may match what is wanted; ok is false if some fields cannot be read, or nearly all are set.
func (p *patterns) find(dst []byte) (ok bool) {
	found, ok := p.finder.Find(find.Values{Patterns: &p.decoder, Codes: p.codes, Columns: searched{p}}, p.finder.wanted...)
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
	return 4*count < 3*p.tree.N
}

// fieldShapes is the patterns as shapes.
func fieldShapes(t *tree.Tree) (codes []uint32, n int, shape func(code int) search.Shape) {
	p := tree.State[patterns](t)
	return p.codes, p.decoder.Len(), func(code int) search.Shape {
		places, text := p.decoder.Pattern(code)
		p.shape = p.shape[:0]
		for _, place := range places {
			p.shape = append(p.shape, search.Part{Text: text[:place.Before]})
			p.shape = p.columns[place.Column].Column.AppendShape(p.shape)
			text = text[place.Before:]
		}
		p.shape = append(p.shape, search.Part{Text: text})
		return p.shape
	}
}

// searched is the columns of a block that are searched.
type searched struct{ p *patterns }

func (s searched) Header(column uint32) *fields.Header { return &s.p.columns[column].Header }

func (s searched) Test(found []uint64, column uint32, how find.How, text []byte) (ok bool) {
	c := &s.p.columns[column]
	if c.Word == 0 {
		return s.p.testTexts(found, c, how, text)
	}
	return s.p.testNumbers(found, c, how, text)
}

// testNumbers sets the bits of the numbers whose texts have a relation to a text; false if they cannot be read.
func (p *patterns) testNumbers(found []uint64, c *fieldColumn, how find.How, text []byte) (ok bool) {
	f := &p.finder
	f.intervals, ok = find.Intervals(f.intervals[:0], &c.Column, how, text)
	switch {
	case ok && c.Word == 4 && !c.ready:
		f.narrow = f.narrow[:0]
		for _, i := range f.intervals {
			if i.Low <= math.MaxUint32 {
				f.narrow = append(f.narrow, numeric.Interval[uint32]{Low: uint32(i.Low), High: uint32(min(i.High, math.MaxUint32))})
			}
		}
		return numeric.SelectTreeRanges(c.part, c.Count, f.narrow, p.tree.Num, found) == nil
	case ok && !c.ready:
		f.wide = f.wide[:0]
		for _, i := range f.intervals {
			f.wide = append(f.wide, numeric.Interval[uint64](i))
		}
		return numeric.SelectTreeRanges(c.part, c.Count, f.wide, p.tree.Num, found) == nil
	case !c.ready && p.prepare(c) != nil:
		return false
	case c.Word == 4:
		return find.Mark(found, &c.buffer, &c.Column, c.narrow, how, text) == nil
	}
	return find.Mark(found, &c.buffer, &c.Column, c.wide, how, text) == nil
}

// manyTold is the share of a column, one in so many texts, above which candidates are worth comparing.
const manyTold = 16

// testTexts is testNumbers for byte strings.
func (p *patterns) testTexts(found []uint64, c *fieldColumn, how find.How, text []byte) bool {
	if !c.ready && p.prepare(c) != nil {
		return false
	}
	if len(text) > 0 {
		r := tree.Required{Parts: [][]byte{text}}
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
	if tree.Decode(c.texts, data, ends, 0) != nil {
		return false
	}
	find.MarkTexts(found, data, ends, how, text)
	return true
}
