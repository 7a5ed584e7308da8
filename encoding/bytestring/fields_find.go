package bytestring

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/encoding/fields"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// fieldFinder is the memory for finding values of Fields.
type fieldFinder struct {
	fields.Finder
	forms     []*fields.Column
	intervals []fields.Interval
	narrow    []numeric.Interval[uint32]
	wide      []numeric.Interval[uint64]
	field     []uint64 // a bit for each field of a column
	values    []uint64 // a bit for each value
	way       []uint64
	all       []uint64
	times     []uint32
	results   []testResult // by test
}

// testResult is the values that a test is true for.
type testResult struct {
	made, some bool
	values     []uint64
}

// findInFields is MayContain.
func findInFields(b *Block, dst []byte, parts [][]byte) (ok bool) {
	f, first := b.s.finder(), true
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if !b.findFields(fields.Wanted{Text: part}) {
			return false
		}
		if all := scratch.Slice(&f.all, len(f.values)); first {
			copy(all, f.values)
		} else {
			and(all, f.values)
		}
		first = false
	}
	return putWords(dst, f.all, b.n)
}

// fieldsBegin is MayMatch for a prefix.
func fieldsBegin(b *Block, dst []byte, r Required) (ok bool) {
	return b.findFields(fields.Wanted{Text: r.Prefix, Begin: true, Whole: r.Equal}) && putWords(dst, b.s.finder().values, b.n)
}

func (s *Scratch) finder() *fieldFinder { return &s.patterns.finder }

// putWords writes bits of n values; ok is false if nearly all are set.
func putWords(dst []byte, words []uint64, n int) (ok bool) {
	clear(dst)
	count := 0
	for i, w := range words {
		count += bits.OnesCount64(w)
		if len(dst) >= 8*i+8 {
			binary.LittleEndian.PutUint64(dst[8*i:], w)
			continue
		}
		for k := range dst[8*i:] {
			dst[8*i+k] = byte(w >> (8 * k))
		}
	}
	return 4*count < 3*n
}

// and clears the bits of dst that are not in src, and reports whether some are left.
func and(dst, src []uint64) bool {
	any := uint64(0)
	for i, w := range src {
		dst[i] &= w
		any |= dst[i]
	}
	return any != 0
}

// findFields sets the bits of the values that may match; false if some fields cannot be read.
func (b *Block) findFields(w fields.Wanted) bool {
	p, f := b.s.patterns, b.s.finder()
	f.forms = f.forms[:0]
	for i := range p.columns {
		f.forms = append(f.forms, &p.columns[i].Column)
	}
	f.Find(&p.decoder, f.forms, w)
	clear(scratch.Slice(&f.values, (b.n+63)/64))
	for i := range scratch.Slice(&f.results, len(f.Tests)) {
		f.results[i].made = false
	}
	b.addSure()
	for i := range f.Ways {
		if !b.addWay(&f.Ways[i]) {
			return false
		}
	}
	return true
}

// addSure adds the values of patterns of which all values may match.
func (b *Block) addSure() {
	f, any := b.s.finder(), false
	for _, sure := range f.Sure {
		any = any || sure
	}
	if !any {
		return
	}
	for i, code := range b.codes {
		if f.Sure[code] {
			f.values[i/64] |= 1 << (i % 64)
		}
	}
}

// addWay adds the values for which all tests of a way are true.
func (b *Block) addWay(w *fields.Way) (ok bool) {
	f := b.s.finder()
	way := scratch.Slice(&f.way, len(f.values))
	for i, t := range w.Tests {
		r := &f.results[t]
		if !r.made && !b.makeTest(f.Tests[t], r) {
			return false
		}
		switch {
		case !r.some:
			return true
		case i == 0:
			copy(way, r.values)
		case !and(way, r.values):
			return true
		}
	}
	matches := scratch.Slice(&f.times, len(f.Sure))
	clear(matches)
	for _, code := range w.Patterns {
		matches[code] = 1
	}
	for i, word := range way {
		for rest := word &^ f.values[i]; rest != 0; rest &= rest - 1 {
			k := bits.TrailingZeros64(rest)
			f.values[i] |= uint64(matches[b.codes[64*i+k]]) << k
		}
	}
	return true
}

// makeTest finds the values that a test is true for.
func (b *Block) makeTest(t fields.Test, r *testResult) (ok bool) {
	p, f := b.s.patterns, b.s.finder()
	c := &p.columns[t.Column]
	field := scratch.Slice(&f.field, (c.Count+63)/64)
	clear(field)
	if !b.testFields(field, c, t.How, f.Text(t)) {
		return false
	}
	r.made, r.some = true, false
	for _, w := range field {
		r.some = r.some || w != 0
	}
	if !r.some {
		return true
	}
	values := scratch.Slice(&r.values, len(f.values))
	clear(values)
	times := scratch.Slice(&f.times, len(f.Sure))
	p.decoder.Times(times, t.Column)
	at, next := 0, nextBit(field, 0) // fields before the next value, and the next that is true
	for i, code := range b.codes {
		if at += int(times[code]); at > next {
			values[i/64] |= 1 << (i % 64)
			next = nextBit(field, at)
		}
	}
	return true
}

// nextBit is the first bit that is set from a place on, or beyond all if there is none.
func nextBit(words []uint64, from int) int {
	for i := from / 64; i < len(words); i++ {
		w := words[i]
		if i == from/64 {
			w &= ^uint64(0) << (from % 64)
		}
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return math.MaxInt
}

// testFields sets the bits of the fields of a column that have a relation to a text; false if they cannot be read.
func (b *Block) testFields(found []uint64, c *fieldColumn, how fields.How, text []byte) (ok bool) {
	f := b.s.finder()
	if c.Word == 0 {
		return b.testTexts(found, c, how, text)
	}
	f.intervals, ok = c.Intervals(f.intervals[:0], how, text)
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
		return fields.Mark(found, &c.buffer, &c.Column, c.narrow, how, text) == nil
	}
	return fields.Mark(found, &c.buffer, &c.Column, c.wide, how, text) == nil
}

// manyTold is the share of a column, one in so many, from which its texts are compared themselves.
const manyTold = 16

// testTexts is testFields for byte strings.
func (b *Block) testTexts(found []uint64, c *fieldColumn, how fields.How, text []byte) bool {
	if !c.ready && b.prepare(c) != nil {
		return false
	}
	if len(text) > 0 {
		r := Required{Parts: [][]byte{text}}
		if how == fields.Begins || how == fields.Equals {
			r.Prefix, r.Equal = text, how == fields.Equals
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
			clear(found) // more than are probably true
		}
	}
	data, ends := scratch.Slice(&c.data, c.texts.DataLen()), scratch.Slice(&c.ends, c.Count)
	if Decode(c.texts, data, ends, 0) != nil {
		return false
	}
	fields.MarkTexts(found, data, ends, how, text)
	return true
}
