package column

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Runs begin with a version, and the number of runs:
//
//	0  u8   1
//	1  u32  runs
//	5  …    runs
//
// A run is a length and a value, u32 each. Presence is runs of value 1 (rows with a value) and 0 (nulls); old files
// have a byte for the value. Indexes are runs of equal indexes.
//
// Example, presence of 1 1 1 0 0:
//
//	01 | 02 00 00 00 | 03 00 00 00  01 00 00 00 | 02 00 00 00  00 00 00 00
const (
	RunsVersion = 1
	RunsHeader  = 5 // bytes in front of the runs
	RunSize     = 8
	oldRunSize  = 5 // with a value of one byte
)

// runs are parsed runs.
type runs struct {
	data []byte // without the header
	size int    // of a run
}

// parseRuns parses the header of s. Runs of five bytes are only allowed in presence.
func parseRuns(s section, old bool) (runs, error) {
	if len(s.data) < RunsHeader {
		return runs{}, s.in(fault.Corruptf("runs of %d bytes", len(s.data)), 0)
	}
	if s.data[0] != RunsVersion {
		return runs{}, s.in(fault.Corruptf("runs of version %d", s.data[0]), 0)
	}
	n, data := uint64(binary.LittleEndian.Uint32(s.data[1:])), s.data[RunsHeader:]
	switch uint64(len(data)) {
	case n * RunSize:
		return runs{data, RunSize}, nil
	case n * oldRunSize:
		if old {
			return runs{data, oldRunSize}, nil
		}
	}
	return runs{}, s.in(fault.Corruptf("%d runs in %d bytes", n, len(data)), 1)
}

func (r *runs) len() int { return len(r.data) / r.size }

// at is the length and value of run i.
func (r *runs) at(i int) (length, value uint32) {
	b := r.data[i*r.size:]
	if r.size == oldRunSize {
		return binary.LittleEndian.Uint32(b), uint32(b[4])
	}
	w := binary.LittleEndian.Uint64(b)
	return uint32(w), uint32(w >> 32)
}

// list lists runs that were read before the cursor.
func (r *runs) list(c *fields.Cursor) {
	l := fields.Cursor{Data: c.Data, Pos: c.Pos - len(r.data) - RunsHeader, Parts: c.Parts}
	l.U8("version")
	l.U32("run count")
	l.Nest()
	for i := range r.len() {
		length, value := r.at(i)
		l.Take("run", r.size)
		l.Note(r.size, fmt.Sprint(length, " ×"), value)
	}
	l.Close()
}

// presence tells which rows of a column have a value.
type presence struct {
	runs  runs
	rows  int
	count int // rows with a value
}

// parsePresence parses the presence of rows rows. Rows behind the last run are null, with a warning.
func parsePresence(s section, rows int, warn func(error)) (p presence, err error) {
	p = presence{rows: rows}
	if p.runs, err = parseRuns(s, true); err != nil {
		return p, err
	}
	sum := uint64(0)
	for i := range p.runs.len() {
		length, value := p.runs.at(i)
		sum += uint64(length)
		if sum > uint64(rows) || value > 1 {
			return p, s.in(fault.Corruptf("run %d of %d rows has value %d, and ends at row %d of %d", i, length, value, sum, rows), RunsHeader+i*p.runs.size)
		}
		p.count += int(length * value)
	}
	if sum < uint64(rows) {
		warn(s.in(fault.Corruptf("presence of %d of %d rows; others are read as null", sum, rows), 0))
	}
	return p, nil
}

// all tells whether no row is null.
func (p *presence) all() bool { return p.count == p.rows }

// bitmap is the presence of all rows, nil if all have a value.
func (p *presence) bitmap() []byte {
	if p.all() {
		return nil
	}
	present := make([]byte, (p.rows+7)/8)
	for row, n := range p.ranges() {
		bitmap.SetRange(present, row, n)
	}
	return present
}

// ranges gives the ranges of rows that have a value, in order: the first row, and how many they are.
func (p *presence) ranges() iter.Seq2[int, int] {
	return func(yield func(row, n int) bool) {
		if p.all() {
			yield(0, p.rows)
			return
		}
		row := 0
		for i := range p.runs.len() {
			length, value := p.runs.at(i)
			if value != 0 && length != 0 && !yield(row, int(length)) {
				return
			}
			row += int(length)
		}
	}
}

// findRanks gives for each of rows, which ascend, the number of rows with a value before it, or -1 if it is null.
func (p *presence) findRanks(ranks, rows []int) {
	if p.all() {
		copy(ranks, rows)
		return
	}
	row, rank, k := 0, 0, 0
	for i := 0; i < p.runs.len() && k < len(rows); i++ {
		length, value := p.runs.at(i)
		for ; k < len(rows) && rows[k] < row+int(length); k++ {
			ranks[k] = -1
			if value != 0 {
				ranks[k] = rank + rows[k] - row
			}
		}
		row += int(length)
		rank += int(length * value)
	}
	for ; k < len(rows); k++ {
		ranks[k] = -1
	}
}
