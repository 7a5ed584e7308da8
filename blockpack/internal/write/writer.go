// Package write makes a Blockpack file of columns of spans: rows in order, blocks, indexes.
//
//	window ─ blocks ─ encoder: order of rows, columns, stats ─ bytes ──────────────────→ the file, once the next window is there
//	                    (one block per goroutine)            └ what the indexes need ─→ memory, until the file ends
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
	Parallelism int    // blocks that are encoded at the same time, at least 1
	Program     string // that writes, as the mark of the file names it
}

// Writer writes the blocks of a file, and its indexes. It belongs to one goroutine, and ends with Close, also after
// Finish.
type Writer struct {
	o       Options
	out     storage.Writer
	m       permuter // of windows
	free    chan *encoder
	running *window // nil if there is none

	blocks  []layout.Block
	columns []byte // column index
	traces  layout.TraceIndexBuilder
	numbers []uint32 // of the traces of the rows of a block
	summary summary.Builder
	ranges  *ranges.Builder
	survey  spans.Survey
	rows    int64
}

// unindexed are the columns of encoded fields, and of counts, which are not worth a range index.
var unindexed = []string{
	spans.Events, spans.Links, spans.Attrs, spans.Unknown, spans.ResourceDroppedAttrs, spans.ResourceEntityRefs, spans.ResourceAttrs,
	spans.ResourceUnknown, spans.ScopeDroppedAttrs, spans.ScopeAttrs, spans.ScopeUnknown,
}

// New begins a file.
func New(out storage.Writer, o Options) *Writer {
	build := ranges.BuildOptions{Exclude: func(name string) bool { return slices.Contains(unindexed, name) }}
	o.Parallelism = max(o.Parallelism, 1)
	w := &Writer{o: o, out: out, ranges: ranges.NewBuilder(build), free: make(chan *encoder, o.Parallelism)}
	for range o.Parallelism {
		w.free <- new(encoder)
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
func (w *Writer) Blocks() int {
	if w.running == nil {
		return len(w.blocks)
	}
	return len(w.blocks) + len(w.running.blocks)
}

// Rows is the number of rows of the blocks that were written.
func (w *Writer) Rows() int64 { return w.rows }

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
	w.ranges.AddBlock(b.columns)
	return nil
}
