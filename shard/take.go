package shard

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/scan"
)

// TakeOptions are those of [Shard.Take]. The zero value takes all columns.
type TakeOptions struct {
	// Columns are paths of columns, as in ScanOptions.
	Columns []string
	// Strings is how texts are laid out, by default by the columns' types.
	Strings StringLayout
	// FetchGap and FetchBytes are how blocks that lie apart are read, as in
	// ScanOptions. What columns of a stripe need is then read for several of them at
	// once: about FetchBytes, but all that one column needs.
	FetchGap, FetchBytes int64
	// Parallelism is how many columns are read at a time, by default GOMAXPROCS.
	Parallelism int
	// Allocator makes the memory of the result; by default Arrow's.
	Allocator memory.Allocator
	// MemoryLimit bounds the bytes of one column of the result, by default 1 GiB.
	MemoryLimit int64
}

// Take gives the given rows, in the order given, a row as often as it is named.
// Only blocks that hold some of them are read, and what was opened for it is kept
// for the next Take, as far as OpenOptions.CacheBytes allow. The caller releases the
// result. An error that wraps [ErrBatchTooLarge] means that fewer rows may
// work.
//
// Many goroutines may take rows of one shard at once.
func (s *Shard) Take(ctx context.Context, rows []int64, o TakeOptions) (arrow.RecordBatch, error) {
	return scan.Take(ctx, s.table, rows, scan.TakeOptions(o))
}
