package stripe

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/rowset"
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
	for _, r := range p.rows {
		if n := r.To - r.From; i >= n {
			i -= n
			continue
		}
		return int64(p.First) + r.From + i
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
	w.parts, w.rows = w.parts[:0], w.rows[:0]
	if len(rows) == 0 {
		return nil, nil
	}
	from, to := uint64(rows[0].From), uint64(rows[len(rows)-1].To)
	if to > br.blocks.Values() {
		return nil, br.wrap(fault.Corruptf("%d values, expected at least %d", br.blocks.Values(), to))
	}
	first, last := br.blocks.Find(from), br.blocks.Find(to-1)
	w.entries = br.blocks.Append(w.entries[:0], first, last+1)
	at := 0
	for i, e := range w.entries {
		p := part{Entry: e, ordinal: first + i, at: at}
		if rows = w.cut(&p, rows); p.n == 0 {
			continue
		}
		if err := checkBlock(e.N); err != nil {
			return nil, br.wrap(fault.In(err, fmt.Sprintf("block %d", p.ordinal), br.start+e.Offset))
		}
		w.parts = append(w.parts, p)
		at += p.n
	}
	return w.parts, nil
}

// cut gives a block its rows, and returns those that reach beyond it.
func (w *worker) cut(p *part, rows rowset.Set) rowset.Set {
	start := int64(p.First)
	end := start + int64(p.N)
	mark, all, n, k := len(w.rows), w.rows, int64(0), 0
	for ; k < len(rows) && rows[k].From < end; k++ {
		lo, hi := max(rows[k].From, start), min(rows[k].To, end)
		all = append(all, rowset.Range{From: lo - start, To: hi - start})
		n += hi - lo
		if rows[k].To > end {
			break
		}
	}
	w.rows = all
	p.n, p.rows = int(n), all[mark:len(all):len(all)]
	return rows[k:]
}

// run is how many parts from the first on one request reads, and its bytes: blocks
// with little between them, and no more than stay in cache.
func run(parts []part) (n, size int) {
	first := parts[0].Offset
	end := first + int64(parts[0].Size)
	for n = 1; n < len(parts); n++ {
		p := &parts[n]
		if p.Offset-end > readGap || p.Offset+int64(p.Size)-first > readSpan {
			break
		}
		end = p.Offset + int64(p.Size)
	}
	return n, int(end - first)
}

// pickBits copies the bits of rows to dst, from bit at on, and counts the clear ones.
func pickBits(dst []byte, at int, src bitmap.Bits, rows rowset.Set) (clear int) {
	for _, r := range rows {
		bits := src.Slice(int(r.From), int(r.To))
		bits.CopyTo(dst, at)
		at += bits.Len
		clear += bits.Nulls()
	}
	return clear
}

// scaled are the items of rows that have size items each.
func scaled(rows rowset.Set, size int64) rowset.Set {
	if size == 0 {
		return nil
	}
	out := make(rowset.Set, len(rows))
	for i, r := range rows {
		out[i] = rowset.Range{From: r.From * size, To: r.To * size}
	}
	return out
}

// bytesOf are the bytes that hold the bits of rows.
func bytesOf(rows rowset.Set) rowset.Set {
	out := make(rowset.Set, 0, len(rows))
	for _, r := range rows {
		from, to := r.From/8, (r.To-1)/8+1
		if k := len(out) - 1; k >= 0 && from <= out[k].To {
			out[k].To = max(out[k].To, to)
			continue
		}
		out = append(out, rowset.Range{From: from, To: to})
	}
	return out
}
