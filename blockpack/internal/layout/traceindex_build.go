package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// TraceIndexBuilder collects the rows of traces: two bytes for each row, and a dozen for each trace of a block.
type TraceIndexBuilder struct {
	numbers map[TraceID]uint32 // of traces, in the order of their appearance
	ids     []TraceID
	lists   []traceRows
	rows    []uint16
	err     error

	block int        // the block of open
	open  []traceRow // rows of the current block
}

// traceRows are the rows of a trace in a block: rows[start:start+n].
type traceRows struct {
	start    int
	trace    uint32
	block, n uint16
}

type traceRow struct {
	trace uint32
	row   uint16
}

// Add adds a row of a block. Blocks come in ascending order, rows of a block in any.
// It returns the number of the trace.
func (b *TraceIndexBuilder) Add(block, row int, id TraceID) uint32 {
	if block != b.block {
		b.flush()
		b.block = block
	}
	if block >= MaxIndexed || row >= MaxIndexed {
		if b.err == nil {
			b.err = fault.Limitf("trace index: row %d of block %d, at most %d of each are possible", row, block, MaxIndexed)
		}
		return 0
	}
	if b.numbers == nil {
		b.numbers = map[TraceID]uint32{}
	}
	n, ok := b.numbers[id]
	if !ok {
		n = uint32(len(b.ids))
		b.numbers[id] = n
		b.ids = append(b.ids, id)
	}
	b.open = append(b.open, traceRow{n, uint16(row)})
	return n
}

// flush groups the rows of a block by trace.
func (b *TraceIndexBuilder) flush() {
	slices.SortFunc(b.open, func(x, y traceRow) int {
		return cmp.Or(cmp.Compare(x.trace, y.trace), cmp.Compare(x.row, y.row))
	})
	b.open = slices.Compact(b.open)
	for i := 0; i < len(b.open); {
		l := traceRows{start: len(b.rows), trace: b.open[i].trace, block: uint16(b.block)}
		for ; i < len(b.open) && b.open[i].trace == l.trace; i++ {
			b.rows = append(b.rows, b.open[i].row)
			l.n++
		}
		b.lists = append(b.lists, l)
	}
	b.open = b.open[:0]
}

// Entries is the number of traces of all blocks but the last one. A trace counts in each of its blocks.
func (b *TraceIndexBuilder) Entries() int { return len(b.lists) }

// Order is the numbers of the traces in the order of their ids.
func (b *TraceIndexBuilder) Order() (numbers []uint32) {
	b.sort()
	for i, l := range b.lists {
		if i == 0 || b.lists[i-1].trace != l.trace {
			numbers = append(numbers, l.trace)
		}
	}
	return numbers
}

func (b *TraceIndexBuilder) sort() {
	b.flush()
	slices.SortFunc(b.lists, func(x, y traceRows) int {
		return cmp.Or(bytes.Compare(b.ids[x.trace][:], b.ids[y.trace][:]), cmp.Compare(x.block, y.block))
	})
}

// Append appends the trace index, as it stands in the metadata and in the compact index.
func (b *TraceIndexBuilder) Append(dst []byte) ([]byte, error) {
	b.sort()
	if b.err != nil {
		return dst, b.err
	}
	if len(b.ids) > math.MaxInt32 {
		return dst, fault.Limitf("trace index of %d traces", len(b.ids))
	}
	dst = append(dst, TraceVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.ids)))
	for i := 0; i < len(b.lists); {
		end := i
		for end < len(b.lists) && b.lists[end].trace == b.lists[i].trace {
			end++
		}
		dst = append(dst, b.ids[b.lists[i].trace][:]...)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(end-i))
		for ; i < end; i++ {
			l := b.lists[i]
			dst = binary.LittleEndian.AppendUint16(dst, l.block)
			dst = binary.LittleEndian.AppendUint16(dst, l.n)
			for _, row := range b.rows[l.start : l.start+int(l.n)] {
				dst = binary.LittleEndian.AppendUint16(dst, row)
			}
		}
	}
	return dst, nil
}
