package blockpack

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/merge"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// MergeOptions are the options of [Merge].
type MergeOptions struct {
	Writer WriterOptions
	// MemoryBytes bounds the memory of the search for duplicates, by default 128 MiB. It takes 80 bytes for each span; with less, files are
	// read several times.
	MemoryBytes int64
}

// MergeStats are the numbers of a [Merge].
type MergeStats struct {
	Spans      int64 // that were written
	Duplicates int64 // spans left out because an equal one was written
	Conflicts  int64 // spans written although another one with the same ids was
}

const defaultMergeMemory = 128 << 20

// Merge writes the spans of files to a new one at location, those of blocks that begin early first. Of spans that are equal in all values one
// is written. Spans that have the same ids and differ are all written.
func Merge(ctx context.Context, location string, inputs []*File, o MergeOptions) (stats MergeStats, err error) {
	if err := option.SetDefault("MergeOptions.MemoryBytes", &o.MemoryBytes, defaultMergeMemory); err != nil {
		return stats, err
	}
	var tables []table.Table
	for _, f := range inputs {
		t, err := f.plain(ctx)
		if err != nil {
			return stats, err
		}
		tables = append(tables, t)
	}
	found, err := merge.Duplicates(ctx, tables, o.MemoryBytes)
	if err != nil {
		return stats, err
	}
	w, err := Create(ctx, location, o.Writer)
	if err != nil {
		return stats, err
	}
	if err := w.copyBlocks(ctx, blocksByStart(tables), found.Drop); err != nil {
		return stats, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	stats = MergeStats{Spans: w.Stats().Spans, Duplicates: found.Duplicates, Conflicts: found.Conflicts}
	return stats, w.Close(ctx)
}

// plain gives the file as a table with binary columns for strings, and numbers for times, whatever options it was opened with.
func (f *File) plain(ctx context.Context) (*read.Table, error) {
	t, err := read.Open(ctx, f.reader, read.Options{Binary: true, RawTimes: true, Distrust: true})
	if err != nil {
		return nil, err
	}
	return t, t.Load(ctx)
}

// inputBlock is a block of an input.
type inputBlock struct {
	t     table.Table
	input int
	block int
	start uint64
}

// blocksByStart are the blocks of all inputs, in the order of their first starts.
func blocksByStart(tables []table.Table) []inputBlock {
	var list []inputBlock
	for i, t := range tables {
		for k, b := range t.(*read.Table).Metadata().Blocks {
			list = append(list, inputBlock{t, i, k, b.MinStart})
		}
	}
	slices.SortStableFunc(list, func(a, b inputBlock) int { return cmp.Compare(a.start, b.start) })
	return list
}

// copyBlocks writes the rows of blocks that are not dropped.
func (w *Writer) copyBlocks(ctx context.Context, blocks []inputBlock, drop []rowset.Set) error {
	for _, b := range blocks {
		rows := merge.Ranges(b.t.Stripe(b.block), drop[b.input])
		if len(rows) == 0 {
			continue
		}
		for batch, err := range scan.Scan(ctx, b.t, scan.Options{Rows: rows, BatchRows: math.MaxUint16, Parallelism: w.o.Parallelism}) {
			if err != nil {
				return err
			}
			if err := w.Write(ctx, batch); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
