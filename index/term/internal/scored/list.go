// Package scored is lists of rows with the frequencies of a term.
package scored

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

const (
	BlockRows  = 128 // rows of a block
	tableEntry = 10
)

// List is the rows of an entry with frequencies, in blocks of up to 128. It may be used concurrently.
type List struct {
	n      int64
	table  []byte
	ends   []uint32 // of the blocks in data
	data   []byte
	rows   []uint32 // of a short list, which is one block
	counts []uint32 // frequencies of these
}

// Short is a list of one block, whose rows and counts it keeps.
func Short(rows, counts []uint32) *List {
	return &List{n: int64(len(rows)), rows: rows, counts: counts}
}

// New is the long list of n of total rows.
func New(data []byte, n int64, total int) (l *List, err error) {
	blocks := int(n+BlockRows-1) / BlockRows
	size := tableEntry*blocks + container.ChecksumLen
	if size > len(data) {
		return nil, fault.Corruptf("list of %d rows in %d bytes", n, len(data))
	}
	l = &List{n: n}
	if l.table, err = container.CutChecksum(data[:size]); err != nil {
		return nil, err
	}
	l.data, l.ends = data[size:], make([]uint32, blocks)
	end, next := 0, uint32(0)
	for i := range blocks {
		last := l.Last(i)
		end += int(binary.LittleEndian.Uint16(l.table[tableEntry*i+4:]))
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
	if l.table == nil {
		return 1
	}
	return len(l.ends)
}

// Last is the last row of a block.
func (l *List) Last(i int) uint32 {
	if l.table == nil {
		return l.rows[len(l.rows)-1]
	}
	return binary.LittleEndian.Uint32(l.table[tableEntry*i:])
}

// Bounds are those of the rows of a block. Of a short list they do not tell lengths.
func (l *List) Bounds(i int) analysis.Bounds {
	if l.table == nil {
		return analysis.Bounds{Frequency: uint8(slices.Max(l.counts) + 1)}
	}
	at := l.table[tableEntry*i+6:]
	return analysis.Bounds{Frequency: at[0], Lengths: [3]uint8(at[1:])}
}

// Rows is the rows of a block, in the memory of rows if it is large enough. Those of a short list are not to be changed.
func (l *List) Rows(i int, rows []uint32) ([]uint32, error) {
	if l.table == nil {
		return l.rows, nil
	}
	n, next := l.blockLen(i), uint64(0) // gaps have up to 32 bits each
	if i > 0 {
		next = uint64(l.Last(i-1)) + 1
	}
	rows = slices.Grow(rows[:0], n)[:n]
	data, err := container.CutChecksum(l.block(i))
	if err == nil {
		_, err = postings.Packed(rows, data)
	}
	if err != nil {
		return nil, fault.In(err, "lists", -1)
	}
	for k, gap := range rows {
		next += uint64(gap)
		rows[k] = uint32(next)
		next++
	}
	if next != uint64(l.Last(i))+1 {
		return nil, fault.Corruptf("block %d of a list does not end at row %d", i, l.Last(i))
	}
	return rows, nil
}

// Counts is how often each row of a block has the term less 1, likewise. The checksum of the block is not checked again: [List.Rows] has done that.
func (l *List) Counts(i int, counts []uint32) ([]uint32, error) {
	if l.table == nil {
		return l.counts, nil
	}
	n := l.blockLen(i)
	counts = slices.Grow(counts[:0], n)[:n]
	data, err := postings.SkipPacked(n, l.block(i))
	if err == nil {
		data, err = postings.Packed(counts, data)
	}
	if err == nil && (len(data) != container.ChecksumLen || slices.Max(counts) >= analysis.MaxFrequency) {
		err = fault.Corruptf("frequencies of block %d of a list", i)
	}
	return counts, fault.In(err, "lists", -1)
}

// block is the bytes of a block.
func (l *List) block(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.data[from:l.ends[i]]
}

func (l *List) blockLen(i int) int { return min(int(l.n)-BlockRows*i, BlockRows) }

// Table is the bytes of the table of blocks; nil of a short list.
func (l *List) Table() []byte { return l.table }
