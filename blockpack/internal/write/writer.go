// Package write makes a Blockpack file of columns of spans: rows in order, blocks, indexes.
//
//	otlp.Block ─ encoder: order of rows, columns, stats ─ bytes ──────────────────→ the file, at once
//	               (one block per goroutine)            └ what the indexes need ─→ memory, until the file ends
//
// Blocks are written in the order in which they were given. The bytes do not depend on the number of goroutines.
package write

import (
	"context"
	"errors"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Options are those of [New].
type Options struct {
	Order       Order
	Ranges      ranges.BuildOptions
	NoRanges    bool
	NoCompact   bool
	Parallelism int    // blocks that are encoded at the same time, at least 1
	Program     string // that writes, as the mark of the file names it
}

// Writer writes the blocks of a file, and its indexes. It belongs to one goroutine, and ends with Close, also after
// Finish.
type Writer struct {
	o       Options
	out     storage.Writer
	m       permuter // of windows
	free    []*encoder
	running []*job // in the order of the file

	blocks  []layout.Block
	columns []byte // column index
	traces  layout.TraceIndexBuilder
	numbers []uint32 // of the traces of the rows of a block
	summary summary.Builder
	ranges  *ranges.Builder
	survey  spans.Survey
	rows    int64
	compact bool
}

// unindexed are the columns of encoded fields, and of counts, which are not worth a range index.
var unindexed = []string{
	spans.Events, spans.Links, spans.Attrs, spans.Unknown, spans.ResourceDroppedAttrs, spans.ResourceEntityRefs, spans.ResourceAttrs,
	spans.ResourceUnknown, spans.ScopeDroppedAttrs, spans.ScopeAttrs, spans.ScopeUnknown,
}

// job is a block that is encoded.
type job struct {
	e    *encoder
	out  encoded
	done chan struct{} // closed when out is set
}

// New begins a file.
func New(out storage.Writer, o Options) *Writer {
	build := o.Ranges
	build.Exclude = func(name string) bool {
		return slices.Contains(unindexed, name) || o.Ranges.Exclude != nil && o.Ranges.Exclude(name)
	}
	w := &Writer{o: o, out: out, ranges: ranges.NewBuilder(build)}
	for range max(o.Parallelism, 1) {
		w.free = append(w.free, newEncoder())
	}
	return w
}

// ErrTooManyBlocks is the error of a block too many.
var ErrTooManyBlocks = errors.New("the file is full: close it and go on with another one, or write larger blocks")

// spareBlocks and spareMetadata are what a file that is full can still take: blocks that are begun, and more.
const (
	spareBlocks   = 1 << 10
	spareMetadata = layout.MaxMetadata / 8
)

// Full tells whether the file should end.
func (w *Writer) Full() bool {
	return w.Blocks() >= layout.MaxIndexed-spareBlocks || w.metadataSize() >= layout.MaxMetadata-spareMetadata
}

// metadataSize estimates the size of the metadata but for the range index.
func (w *Writer) metadataSize() int64 {
	const block, trace, row = 102, 22, 2
	return int64(len(w.blocks))*block + int64(len(w.columns)) + int64(w.traces.Entries())*trace + w.rows*row
}

// Blocks is the number of blocks so far.
func (w *Writer) Blocks() int { return len(w.blocks) + len(w.running) }

// Rows is the number of rows of the blocks that were written.
func (w *Writer) Rows() int64 { return w.rows }

// Block adds a block of at most layout.MaxIndexed rows in any order, which it keeps. Memory bounds the blocks that are encoded at the same time: Block
// waits for the oldest one, and writes it. After an error only Close is useful.
func (w *Writer) Block(ctx context.Context, b otlp.Block) error {
	if w.Blocks() >= layout.MaxIndexed {
		return ErrTooManyBlocks
	}
	if len(w.free) == 0 {
		if err := w.next(ctx); err != nil {
			return err
		}
	}
	last := len(w.free) - 1
	j := &job{e: w.free[last], done: make(chan struct{})}
	w.free = w.free[:last]
	w.running = append(w.running, j)
	go func() {
		defer close(j.done)
		defer fault.RecoverInternal(&j.out.err)
		j.out = j.e.encode(b, w.o.Order)
	}()
	if w.o.Parallelism < 2 {
		return w.next(ctx)
	}
	return nil
}

// next waits for the oldest block, and writes it.
func (w *Writer) next(ctx context.Context) error {
	j := w.running[0]
	select {
	case <-j.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	w.running = w.running[1:]
	err := w.write(ctx, &j.out)
	j.out = encoded{}
	w.free = append(w.free, j.e)
	return err
}

// write writes a block, and adds it to the indexes.
func (w *Writer) write(ctx context.Context, b *encoded) error {
	n := len(w.blocks)
	if b.err != nil {
		return fault.InBlock(b.err, n, -1)
	}
	b.index.Offset = w.out.Size()
	for _, part := range [][]byte{b.head, b.data} {
		if err := w.out.Write(ctx, part); err != nil {
			return err
		}
	}
	w.blocks = append(w.blocks, b.index)
	w.columns = layout.AppendColumnIndex(w.columns, [][]layout.ColumnExtent{b.extents})
	w.numbers = w.numbers[:0]
	for row, id := range b.ids {
		w.numbers = append(w.numbers, w.traces.Add(n, row, id))
	}
	block := otlp.Block{Columns: b.columns}
	w.summary.Block(w.rows, w.numbers, block.Column)
	w.rows += int64(b.index.Spans)
	w.survey.Add(b.columns)
	if !w.o.NoRanges {
		w.ranges.AddBlock(b.columns)
	}
	return nil
}

// Flush writes all blocks.
func (w *Writer) Flush(ctx context.Context) error {
	for len(w.running) > 0 {
		if err := w.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for goroutines.
func (w *Writer) Close() {
	for _, j := range w.running {
		<-j.done
	}
	w.running = nil
}
