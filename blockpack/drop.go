package blockpack

import (
	"context"
	"errors"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/merge"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// DropStats are the numbers of a [DropTraces].
type DropStats struct {
	Spans   int64 // that were written
	Dropped int64 // spans that were left out
	Traces  int   // that the file had of those to drop
	Copied  int   // blocks that were copied as they are
}

// DropTraces writes the spans of a file to a new one at location, but for those of some traces. Nothing of these is left in the new file, not
// even in its indexes. Blocks that have none of them are copied as they are, if this package wrote them.
func DropTraces(ctx context.Context, location string, input *File, ids [][16]byte, o WriterOptions) (stats DropStats, err error) {
	t, err := input.plain(ctx)
	if err != nil {
		return stats, err
	}
	drop, traces, err := merge.Traces(ctx, t, ids)
	if err != nil {
		return stats, err
	}
	w, err := Create(ctx, location, o)
	if err != nil {
		return stats, err
	}
	for k := range t.NumStripes() {
		copied := false
		first := t.Stripe(k).Position()
		if t.Writer() == program && drop.Clip(first, first+t.Stripe(k).Rows()).Empty() {
			copied, err = w.copyBlock(ctx, input, &t.Metadata().Blocks[k])
		}
		if copied {
			stats.Copied++
		} else if err == nil {
			err = w.copyBlocks(ctx, []inputBlock{{t: t, block: k}}, []rowset.Set{drop})
		}
		if err != nil {
			return stats, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
		}
	}
	stats.Spans, stats.Dropped, stats.Traces = w.Stats().Spans, drop.Len(), traces
	return stats, w.Close(ctx)
}

// copyBlock copies a block as it is, and reports whether that is possible.
func (w *Writer) copyBlock(ctx context.Context, from *File, b *layout.Block) (copied bool, err error) {
	if w.w.Full() {
		return false, ErrTooManyBlocks
	}
	data := make([]byte, b.Length) // the table of blocks is within the file
	if err := from.reader.ReadAt(ctx, data, b.Offset); err != nil {
		return false, err
	}
	if err := w.flush(ctx); err != nil {
		return false, w.failed(err)
	}
	rows, copied, err := w.w.Copy(ctx, data)
	w.copied += int64(rows)
	return copied, w.failed(err)
}
