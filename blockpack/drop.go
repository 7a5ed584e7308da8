package blockpack

import (
	"context"
	"errors"

	"github.com/amudai/amudai-go/blockpack/internal/merge"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// DropStats are the numbers of a [DropTraces].
type DropStats struct {
	Spans   int64 // that were written
	Dropped int64 // spans that were left out
	Traces  int   // that the file had of those to drop
}

// DropTraces writes the spans of a file to a new one at location, but for those of some traces. Nothing of these is left in the new file, not
// even in its indexes.
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
	var blocks []inputBlock
	for k := range t.NumStripes() {
		blocks = append(blocks, inputBlock{t: t, block: k})
	}
	if err := w.copyBlocks(ctx, blocks, []rowset.Set{drop}); err != nil {
		return stats, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	stats = DropStats{Spans: w.Stats().Spans, Dropped: drop.Len(), Traces: traces}
	return stats, w.Close(ctx)
}
