package blocks

import (
	"math"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// Part is the part of one block that a read needs.
type Part struct {
	encoding.BlockEntry
	Rows  rowset.Set // rows of the block, counted from its first value
	Count int        // number of rows
	At    int        // index of the first of them in the result

	ordinal int // of the block
}

// position is the row of the column that is the i-th of the rows.
func (p *Part) position(i int64) int64 {
	if i < p.Rows.Len() {
		i = p.Rows.Row(i)
	}
	return int64(p.First) + i
}

// Whole reports whether all values of the block are needed.
func (p *Part) Whole() bool { return p.Count == p.N }

// Sparse reports whether so few values are needed that looking them up one by one
// pays where the encoding allows it.
func (p *Part) Sparse() bool { return p.Count < p.N/8 }

// Dense reports whether nearly all values are needed.
func (p *Part) Dense() bool { return p.N-p.Count <= p.N/8 }

// parts finds the blocks that hold rows. The result lies in s and is valid until
// s is used again.
//
//	blocks    0        100        200        300       400
//	rows        20..30          180.........310
//	parts     0: 20..30 at 0 | 1: 80..100 at 10 | 2: 0..100 at 30 (whole) | 3: 0..10 at 130
func (r *Reader) parts(s *Scratch, rows rowset.Set) ([]Part, error) {
	s.parts = s.parts[:0]
	if rows.Empty() {
		return nil, nil
	}
	bounds := rows.Bounds()
	from, to := uint64(bounds.From), uint64(bounds.To)
	if to > r.Map.Values() {
		return nil, r.Wrap(fault.Corruptf("%d values, expected at least %d", r.Map.Values(), to))
	}
	first, last := r.Map.Find(from), r.Map.Find(to-1)
	few := int64(last-first) > 16*rows.Len() // it takes less time to find these than to look at all between them
	if !few {
		s.entries = r.Map.Append(s.entries[:0], first, last+1)
	}
	at := 0
	for i := first; !rows.Empty(); i++ {
		var e encoding.BlockEntry
		if few {
			i = r.Map.Find(uint64(rows.Bounds().From))
			e.First, e.N, e.Offset, e.Size = r.Map.Block(i)
		} else {
			e = s.entries[i-first]
		}
		start, end := int64(e.First), int64(e.First)+int64(e.N)
		if rows.Bounds().From >= end {
			continue
		}
		p := Part{BlockEntry: e, ordinal: i, At: at, Rows: rows.Clip(start, end).Shift(-start)}
		rows = rows.Clip(end, math.MaxInt64)
		p.Count = int(p.Rows.Len())
		if err := r.check(e); err != nil {
			return nil, r.Wrap(fault.InBlock(err, p.ordinal, r.start+e.Offset))
		}
		s.parts = append(s.parts, p)
		at += p.Count
	}
	return s.parts, nil
}

// maxBlockValues bounds the values of a block, or its bytes of bits. Writers
// put at most 65,536 into one. Without a bound, a few bytes of a run could ask
// for any amount of memory.
const maxBlockValues = 1 << 20

// check checks the number of values of a block, and the bytes that these may take.
func (r *Reader) check(e encoding.BlockEntry) error {
	if e.N > maxBlockValues {
		return fault.Limitf("block of %d values, more than %d", e.N, maxBlockValues)
	}
	most := int64(LargestGroup)
	if !r.group {
		most = r.maxBytes(e.N)
	}
	if int64(e.Size) > most {
		return fault.Limitf("block of %d values in %d bytes, more than %d", e.N, e.Size, most)
	}
	return nil
}

// requestSize is the most bytes of neighbouring blocks that one request reads, unless
// one block is larger: little enough to decode them from cache.
const requestSize = 128 << 10

// request is how many of the parts one request reads, from the first on, and the
// size of the request.
func request(parts []Part) (n, size int) {
	first := parts[0].Offset
	end := first + int64(parts[0].Size)
	for n = 1; n < len(parts); n++ {
		p := &parts[n]
		if p.Offset-end > storage.LocalGap || p.Offset+int64(p.Size)-first > requestSize {
			break
		}
		end = p.Offset + int64(p.Size)
	}
	return n, int(end - first)
}
