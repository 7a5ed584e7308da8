package ranking

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

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

// Rows implements [Postings].
func (m *Memory) Rows(i int, _ []uint32) ([]uint32, error) { return m.block(m.rows, i), nil }

// Counts implements [Postings].
func (m *Memory) Counts(i int, _ []uint32) ([]uint32, error) { return m.block(m.counts, i), nil }

func (m *Memory) block(all []uint32, i int) []uint32 {
	return all[memoryBlock*i : min(memoryBlock*(i+1), len(all))]
}

// Union adds up the frequencies of terms that are one word.
type Union struct {
	few  []posting
	many []uint8 // times by row, once there are many
	rows int
}

type posting struct{ row, times uint32 }

// NewUnion returns a union of no terms, of so many rows.
func NewUnion(rows int) *Union { return &Union{rows: rows} }

// Add adds rows of a term, and how often each has it less 1.
func (u *Union) Add(rows, counts []uint32) {
	if u.many == nil && len(u.few)+len(rows) > u.rows/8 {
		u.many = make([]uint8, u.rows)
		for _, p := range u.few {
			u.count(p.row, p.times)
		}
		u.few = nil
	}
	for i, row := range rows {
		if u.many != nil {
			u.count(row, counts[i]+1)
		} else {
			u.few = append(u.few, posting{row, counts[i] + 1})
		}
	}
}

func (u *Union) count(row, times uint32) {
	u.many[row] = uint8(min(uint32(u.many[row])+times, analysis.MaxFrequency))
}

// Rows are the rows in their order, and how often each has the word less 1.
func (u *Union) Rows() (rows, counts []uint32) {
	for row, times := range u.many {
		if times > 0 {
			rows, counts = append(rows, uint32(row)), append(counts, uint32(times)-1)
		}
	}
	slices.SortFunc(u.few, func(a, b posting) int { return cmp.Compare(a.row, b.row) })
	for _, p := range u.few {
		if n := len(rows); n > 0 && rows[n-1] == p.row {
			counts[n-1] = min(counts[n-1]+p.times, analysis.MaxFrequency-1)
		} else {
			rows, counts = append(rows, p.row), append(counts, p.times-1)
		}
	}
	return rows, counts
}
