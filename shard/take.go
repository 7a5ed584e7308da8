package shard

import (
	"github.com/amudai/amudai-go/internal/engine/take"

	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TakeOptions are the options of [Shard.Take]. The zero value takes all columns.
type TakeOptions struct {
	// Columns are the paths of the columns of the result, as in [ScanOptions].
	Columns []string
	// Strings is the Arrow layout of strings, by default that of the column's type.
	Strings StringLayout
	// FetchGap and FetchBytes coalesce requests, as in [ScanOptions]. Requests then serve
	// several columns of a stripe at once, about FetchBytes at a time, but always at least
	// one whole column.
	FetchGap, FetchBytes int64
	// Parallelism is the number of columns that are read at the same time, by default GOMAXPROCS.
	Parallelism int
	// Allocator allocates the memory of the result, by default Arrow's.
	Allocator memory.Allocator
	// MemoryLimit bounds the bytes of one column of the result, by default 1 GiB.
	MemoryLimit int64
}

// Take returns rows by their numbers, from 0, in the order of the list. A number that is listed
// twice gives its row twice. Take reads only the blocks that hold some of the rows. It caches the
// columns that it opens for later calls, within OpenOptions.CacheBytes. The caller releases the
// result.
//
// A number outside of the shard is an error. An error that wraps [ErrBatchTooLarge] means
// that the rows do not fit one batch; fewer rows may.
//
// Several goroutines may take rows of one shard at the same time.
func (s *Shard) Take(ctx context.Context, rows []int64, o TakeOptions) (arrow.RecordBatch, error) {
	return take.Rows(ctx, s.table, rows, take.Options(o))
}
