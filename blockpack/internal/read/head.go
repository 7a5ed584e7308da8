package read

import (
	"bytes"
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// head is the head of a block: where its columns are, and their statistics.
type head struct {
	*layout.BlockHead
	data   []byte // of the block, up to the end of the statistics
	offset int64  // of the block in the file
}

// Heads take the bytes that parsing keeps, and structures.
const columnBytes = 128

func (h *head) size() int64 { return int64(len(h.data)) + columnBytes*int64(len(h.Columns)) }

// stats are the statistics of column i. They are not known if they are damaged.
func (h *head) stats(i int) (s layout.ColumnStats) {
	c := &h.Columns[i]
	if c.StatsLength == 0 || c.StatsOffset < 0 || c.StatsOffset+c.StatsLength > int64(len(h.data)) {
		return s
	}
	s, err := layout.ParseColumnStats(h.data[c.StatsOffset:c.StatsOffset+c.StatsLength], c.Type)
	if err != nil {
		return layout.ColumnStats{}
	}
	return s
}

// head is the head of a block, read once as long as it stays in the cache.
func (t *Table) head(ctx context.Context, block int) (*head, error) {
	if h, ok := t.heads.Get(block); ok {
		return h, nil
	}
	h, err := t.readHead(ctx, block)
	if err != nil {
		return nil, fault.Of(fault.InStripe(err, block), t.reader.Name())
	}
	t.heads.Put(block, h, h.size())
	return h, nil
}

// readHeads are the heads of some blocks, read in few requests; nil for blocks without spans.
func (t *Table) readHeads(ctx context.Context, blocks []int) ([]*head, error) {
	if t.Latency() == storage.LatencyHigh {
		if err := t.prefetchBlocks(ctx, blocks); err != nil {
			return nil, err
		}
	}
	out := make([]*head, len(blocks))
	for k, i := range blocks {
		if !t.blocks.meta.Blocks[i].HasSpans() {
			continue
		}
		var err error
		if out[k], err = t.head(ctx, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// The head of the first block is read with so many bytes, those of the others with as many as the largest so far took, up to a limit.
const (
	firstHeadBytes = 8 << 10
	maxGuess       = 1 << 20
)

// readHead reads the head of a block, and checks it against the metadata.
func (t *Table) readHead(ctx context.Context, block int) (*head, error) {
	b := &t.blocks.meta.Blocks[block]
	read := t.bytesOf(block, nil)
	parsed, data, err := layout.ReadBlockHead(b, max(t.guess.Load(), firstHeadBytes), func(n int64) ([]byte, error) { return read(ctx, 0, n) })
	if err != nil {
		return nil, err
	}
	h := &head{parsed, bytes.Clone(data), b.Offset} // the bytes of a head are kept longer than those of its block
	if h.Spans != b.Spans {
		return nil, fault.In(fault.Corruptf("block of %d spans where the block index has %d", h.Spans, b.Spans), "block header", h.offset)
	}
	t.blocks.meta.Calibrate(block, h.Names())
	if l := t.columns.Load(); l != nil {
		if err := l.check(h); err != nil {
			return nil, err
		}
	}
	if n := int64(len(h.data)); n > t.guess.Load() {
		t.guess.Store(min(n, maxGuess))
	}
	return h, nil
}

// check compares the columns of a block with the list that the file has of them.
func (l *columnList) check(h *head) error {
	for i := range h.Columns {
		c := &h.Columns[i]
		if _, ok := l.byKey[c.Key()]; !ok {
			return fault.In(fault.Corruptf("column %q of type %v is not among those of the file", c.Name, c.Type), "block header", h.offset)
		}
	}
	for i, f := range l.fields {
		if h.Spans > 0 && !l.arrow.Field(i).Nullable && h.Column(f.Name, f.Type) < 0 {
			return fault.In(fault.Corruptf("column %q is missing, of which the file says that all spans have it", f.Name), "block header", h.offset)
		}
	}
	return nil
}

// place adds the file, the block and the column to an error, whose offset counts from the start of the column's data.
func (t *Table) place(err error, block int, h *head, i int) error {
	if err == nil {
		return nil
	}
	if h != nil {
		err = fault.Shift(err, h.offset+h.Columns[i].Offset)
		if known, ok := err.(*fault.Error); !ok || known.Column == "" {
			err = fault.InColumn(err, h.Columns[i].Name)
		}
	}
	return fault.Of(fault.InStripe(err, block), t.reader.Name())
}
