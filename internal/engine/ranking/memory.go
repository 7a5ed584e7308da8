package ranking

import "github.com/amudai/amudai-go/internal/text/analysis"

// memoryBlock is the rows of a block of [Memory].
const memoryBlock = 128

// Memory is postings in memory.
type Memory struct {
	rows, counts []uint32
	bounds       []analysis.Bounds
}

// NewMemory returns postings of rows in their order and how often each has the word less 1, both of which it keeps. lengths are those of the column.
func NewMemory(rows, counts []uint32, lengths []uint8) *Memory {
	m := &Memory{rows: rows, counts: counts}
	for from := 0; from < len(rows); from += memoryBlock {
		to := min(from+memoryBlock, len(rows))
		b := analysis.NoRows
		for k, r := range rows[from:to] {
			b.Add(uint8(counts[from+k]+1), lengths[r])
		}
		m.bounds = append(m.bounds, b)
	}
	return m
}

// Blocks implements [Postings].
func (m *Memory) Blocks() int { return len(m.bounds) }

// Last implements [Postings].
func (m *Memory) Last(i int) uint32 { return m.rows[min(memoryBlock*(i+1), len(m.rows))-1] }

// Bounds implements [Postings].
func (m *Memory) Bounds(i int) analysis.Bounds { return m.bounds[i] }

// Block implements [Postings].
func (m *Memory) Block(i int, _, _ []uint32) (rows, counts []uint32, err error) {
	from, to := memoryBlock*i, min(memoryBlock*(i+1), len(m.rows))
	return m.rows[from:to], m.counts[from:to], nil
}
