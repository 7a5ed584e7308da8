package stripe

import (
	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// Every read is of a set of rows: ranges that ascend and do not overlap. Read of
// rows from up to to is the set of one range. Blocks without a row of the set are
// neither read nor decoded.
//
//	blocks    0        100        200        300       400
//	rows        20..30          180.........310
//	parts     0: 20..30 at 0 | 1: 80..100 at 10 | 2: 0..100 at 30 (whole) | 3: 0..10 at 130

// part is what a read needs of one block.
type part struct {
	blockmap.Entry
	ordinal int
	rows    rowset.Set // of the block, counted from its first value
	n       int        // how many rows
	at      int        // where they belong in the result
}

// position is where in the column the i-th of the rows is.
func (p *part) position(i int64) int64 {
	if i < p.rows.Len() {
		i = p.rows.Row(i)
	}
	return int64(p.First) + i
}

// whole tells that all values of the block are needed.
func (p *part) whole() bool { return p.n == p.N }

// sparse tells that so few values are needed that it pays to look them up one by
// one where the encoding allows it.
func (p *part) sparse() bool { return p.n < p.N/8 }

// parts finds the blocks that hold rows. The result belongs to the worker and is
// valid until it reads other blocks.
func (br *blockReader) parts(w *worker, rows rowset.Set) ([]part, error) {
	w.parts = w.parts[:0]
	if rows.Empty() {
		return nil, nil
	}
	bounds := rows.Bounds()
	from, to := uint64(bounds.From), uint64(bounds.To)
	if to > br.blocks.Values() {
		return nil, br.wrap(fault.Corruptf("%d values, expected at least %d", br.blocks.Values(), to))
	}
	first, last := br.blocks.Find(from), br.blocks.Find(to-1)
	w.entries = br.blocks.Append(w.entries[:0], first, last+1)
	at := 0
	for i, e := range w.entries {
		start := int64(e.First)
		p := part{Entry: e, ordinal: first + i, at: at, rows: rows.Clip(start, start+int64(e.N)).Shift(-start)}
		if p.n = int(p.rows.Len()); p.n == 0 {
			continue
		}
		if err := checkBlock(e.N); err != nil {
			return nil, br.wrap(fault.InBlock(err, p.ordinal, br.start+e.Offset))
		}
		w.parts = append(w.parts, p)
		at += p.n
	}
	return w.parts, nil
}

// run is how many parts from the first on one request reads, and its bytes: blocks
// with little between them, and no more than stay in cache.
func run(parts []part) (n, size int) {
	first := parts[0].Offset
	end := first + int64(parts[0].Size)
	for n = 1; n < len(parts); n++ {
		p := &parts[n]
		if p.Offset-end > storage.LocalGap || p.Offset+int64(p.Size)-first > readSpan {
			break
		}
		end = p.Offset + int64(p.Size)
	}
	return n, int(end - first)
}

// pickBits copies the bits of rows to dst, from bit at on, and counts the clear ones.
func pickBits(dst []byte, at int, src bitmap.Bits, rows rowset.Set) (clear int) {
	for r := range rows.Ranges() {
		bits := src.Slice(int(r.From), int(r.To))
		bits.CopyTo(dst, at)
		at += bits.Len
		clear += bits.Nulls()
	}
	return clear
}

// scaled are the items of rows that have size items each.
func scaled(rows rowset.Set, size int64) rowset.Set {
	var out []rowset.Range
	for r := range rows.Ranges() {
		out = append(out, rowset.Range{From: r.From * size, To: r.To * size})
	}
	return rowset.Of(out...)
}

// bytesOf are the bytes that hold the bits of rows.
func bytesOf(rows rowset.Set) rowset.Set {
	var out []rowset.Range
	for r := range rows.Ranges() {
		out = append(out, rowset.Range{From: r.From / 8, To: (r.To-1)/8 + 1})
	}
	return rowset.Of(out...)
}
