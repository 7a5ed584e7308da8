package write

import (
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
)

// Window adds spans as blocks of at most so many rows. Unless the order is that of arrival or of starts, those of a trace are brought
// together first: they come in messages of several services, and a lookup reads each block that has some of them.
func (w *Writer) Window(ctx context.Context, b otlp.Block, blockRows int) error {
	n := (b.Rows + blockRows - 1) / blockRows
	if n > 1 && (w.o.Order == Similar || w.o.Order == Trace) {
		p, err := byTrace(b)
		if err != nil {
			return err
		}
		b = w.m.block(b, p)
	}
	ends := make([]int, n)
	for i := range ends {
		ends[i] = b.Rows * (i + 1) / n
	}
	for _, part := range b.Split(ends) {
		if err := w.Block(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// byTrace is the order of rows in which those of the trace that came first are the first, in the order in which they came.
func byTrace(b otlp.Block) ([]uint32, error) {
	ids, err := traceIDs(b)
	if err != nil {
		return nil, err
	}
	number := make(map[layout.TraceID]uint32)
	traces, next := make([]uint32, len(ids)), []uint32{} // next: the place of the next row of each trace
	for row, id := range ids {
		n, known := number[id]
		if !known {
			n = uint32(len(next))
			number[id], next = n, append(next, 0)
		}
		traces[row] = n
		next[n]++
	}
	place := uint32(0)
	for n, rows := range next {
		next[n] = place
		place += rows
	}
	p := make([]uint32, len(ids))
	for row, n := range traces {
		p[next[n]] = uint32(row)
		next[n]++
	}
	return p, nil
}
