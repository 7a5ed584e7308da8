// Package lists is the rows of a term with frequencies, as an index stores them (docs/format.md §15.5).
package lists

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

const (
	BlockRows  = 128 // rows of a block of a list
	tableEntry = 10
)

// List is the rows of an entry with frequencies, in blocks of up to 128. It may be used concurrently.
type List struct {
	n      int64
	Table  []byte   // last rows and bounds of the blocks; nil of a short list, which is one block
	ends   []uint32 // of the blocks in data
	data   []byte
	rows   []uint32 // of a short list
	counts []uint32 // frequencies of these
}

// Short is a list of up to [BlockRows] rows, of which each has the term one time more than counts say.
func Short(rows, counts []uint32) *List {
	return &List{n: int64(len(rows)), rows: rows, counts: counts}
}

// New is the stored list of n of total rows.
func New(data []byte, n int64, total int) (l *List, err error) {
	blocks := int(n+BlockRows-1) / BlockRows
	size := tableEntry*blocks + container.ChecksumLen
	if size > len(data) {
		return nil, fault.Corruptf("list of %d rows in %d bytes", n, len(data))
	}
	l = &List{n: n}
	if l.Table, err = container.CutChecksum(data[:size]); err != nil {
		return nil, err
	}
	l.data, l.ends = data[size:], make([]uint32, blocks)
	end, next := 0, uint32(0)
	for i := range blocks {
		last := l.Last(i)
		end += int(binary.LittleEndian.Uint16(l.Table[tableEntry*i+4:]))
		if last < next || int64(last) >= int64(total) || end > len(l.data) {
			return nil, fault.Corruptf("block %d of a list ends at row %d, and behind %d of %d bytes", i, last, end, len(l.data))
		}
		l.ends[i], next = uint32(end), last+1
	}
	if end != len(l.data) {
		return nil, fault.Corruptf("blocks of %d bytes in %d", end, len(l.data))
	}
	return l, nil
}

// Blocks is the number of blocks.
func (l *List) Blocks() int {
	if l.Table == nil {
		return 1
	}
	return len(l.ends)
}

// Last is the last row of a block.
func (l *List) Last(i int) uint32 {
	if l.Table == nil {
		return l.rows[len(l.rows)-1]
	}
	return binary.LittleEndian.Uint32(l.Table[tableEntry*i:])
}

// Bounds are those of the rows of a block. Of a short list they do not tell lengths.
func (l *List) Bounds(i int) analysis.Bounds {
	if l.Table == nil {
		return analysis.Bounds{Frequency: uint8(slices.Max(l.counts) + 1)}
	}
	at := l.Table[tableEntry*i+6:]
	return analysis.Bounds{Frequency: at[0], Lengths: [3]uint8(at[1:])}
}

// Block is the rows of a block, and how often each has the term less 1, in the memory of rows and frequencies if it is large enough. Those of a short list are not to
// be changed.
func (l *List) Block(i int, rows, frequencies []uint32) (_, _ []uint32, err error) {
	if l.Table == nil {
		return l.rows, l.counts, nil
	}
	n, from, next := BlockRows, uint32(0), uint64(0) // gaps have up to 32 bits each
	if i > 0 {
		from, next = l.ends[i-1], uint64(l.Last(i-1))+1
	}
	if i == len(l.ends)-1 {
		n = int(l.n) - BlockRows*i
	}
	rows, frequencies = slices.Grow(rows[:0], n)[:n], slices.Grow(frequencies[:0], n)[:n]
	data, err := container.CutChecksum(l.data[from:l.ends[i]])
	if err == nil {
		data, err = postings.Packed(rows, data)
	}
	if err == nil {
		data, err = postings.Packed(frequencies, data)
	}
	if err != nil {
		return nil, nil, fault.In(err, "lists", -1)
	}
	for k, gap := range rows {
		next += uint64(gap)
		rows[k] = uint32(next)
		next++
	}
	if len(data) > 0 || next != uint64(l.Last(i))+1 || slices.Max(frequencies) >= analysis.MaxFrequency {
		return nil, nil, fault.Corruptf("block %d of a list does not end at row %d", i, l.Last(i))
	}
	return rows, frequencies, nil
}
