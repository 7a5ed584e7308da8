package write

import (
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
)

// window is spans that are encoded while the next ones are collected.
type window struct {
	blocks []encoded // set when done is closed, as err is
	err    error
	done   chan struct{}
	stop   context.CancelFunc
}

// Window adds spans, which it keeps, as blocks of at most so many rows, at most layout.MaxIndexed. Unless the order is that of arrival or of starts,
// those of a trace are brought together first: they come in messages of several services, and a lookup reads each block that has some of them.
// It writes the window before, and returns while this one is encoded, unless Parallelism is 1. After an error only Close is useful.
func (w *Writer) Window(ctx context.Context, b otlp.Block, blockRows int) error {
	n := (b.Rows + blockRows - 1) / blockRows
	if w.Blocks()+n > layout.MaxIndexed {
		return ErrTooManyBlocks
	}
	if err := w.Flush(ctx); err != nil {
		return err
	}
	r := &window{blocks: make([]encoded, n), done: make(chan struct{})}
	work, stop := context.WithCancel(context.WithoutCancel(ctx)) // it goes on when the call has ended
	r.stop, w.running = stop, r
	go func() {
		defer close(r.done)
		defer fault.RecoverInternal(&r.err)
		r.err = w.encode(work, b, blockRows, r.blocks)
	}()
	if w.o.Parallelism > 1 {
		return nil
	}
	return w.Flush(ctx)
}

// encode divides a window, and encodes its blocks.
func (w *Writer) encode(ctx context.Context, b otlp.Block, blockRows int, to []encoded) error {
	n := len(to)
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
	parts := b.Split(ends)
	return parallel.Each(ctx, n, w.o.Parallelism, func(_ context.Context, i int) error {
		e := <-w.free
		to[i] = e.encode(parts[i], w.o.Order)
		w.free <- e
		return nil
	})
}

// Flush writes all blocks.
func (w *Writer) Flush(ctx context.Context) error {
	r := w.running
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.stop()
	w.running = nil
	if r.err != nil {
		return r.err
	}
	for i := range r.blocks {
		if err := w.write(ctx, &r.blocks[i]); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the work on a window, and waits for its goroutines.
func (w *Writer) Close() {
	if w.running != nil {
		w.running.stop()
		<-w.running.done
		w.running = nil
	}
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
