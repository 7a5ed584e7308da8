package blockpack

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/take"
)

// RowRange is the rows from From up to, but not including, To. The spans of a file are its rows, numbered from 0 through all
// blocks.
//
//	type RowRange struct{ From, To int64 }
type RowRange = rowset.Range

// ScanOptions are the options of [File.Scan] and [File.Reader]. The zero value scans everything.
type ScanOptions struct {
	// Columns are the names of the columns of the result, in which a dot or a backslash must follow a backslash. The
	// result has each once, in the order of their first mention. nil means all columns. An unknown name is an error.
	Columns []string
	// Filter is the condition for spans of the result. Its columns are read first, the others only for the spans that
	// match.
	Filter filter.Expr
	// Limit is the maximum number of spans of the result, 0 for no limit.
	Limit int64
	// Rows are the ranges of rows to scan, in this order. nil means all.
	Rows []RowRange
	// Blocks are the numbers of the blocks to scan. nil means all.
	Blocks []int
	// BatchRows is the maximum number of spans of a batch, by default 65,536. A batch does not go beyond a block.
	BatchRows int
	// AsReady returns batches as soon as they are decoded, not in the order of the file.
	AsReady bool
	// Parallelism is the number of columns that are decoded at the same time, in the current batch and in later ones, by
	// default GOMAXPROCS. With 1 the calling goroutine decodes everything.
	Parallelism int
	// Allocator allocates the memory of batches, by default Arrow's Go allocator.
	Allocator memory.Allocator
	// Reuse lets the scan use the memory of released batches again. Values that were taken from a batch without Retain,
	// such as strings, then change with the next step: copy them.
	Reuse bool
	// MemoryLimit bounds the bytes that a scan holds beside the current batch, by default 64 MiB. One batch is always
	// allowed.
	MemoryLimit int64
	// NoPruning reads all blocks, whatever statistics and indexes tell. It is for checks and comparisons.
	NoPruning bool
}

func (o ScanOptions) options() scan.Options {
	so := scan.Options{
		Columns: o.Columns, Filter: o.Filter.Node(), Limit: o.Limit, Rows: o.Rows, Stripes: o.Blocks, BatchRows: o.BatchRows, AsReady: o.AsReady,
		Parallelism: o.Parallelism, Allocator: o.Allocator, Reuse: o.Reuse, MemoryLimit: o.MemoryLimit,
	}
	if o.NoPruning {
		so.Disable = ^so.Disable
	}
	return so
}

// Batch is a record batch of a scan. All of its spans are in one block, number Stripe.
//
//	type Batch struct {
//		arrow.RecordBatch
//		Stripe int
//	}
//
//	func (Batch) RowRanges() []RowRange // row numbers, ascending
type Batch = scan.Batch

// Scan returns spans as record batches, in the order of the file. A batch is valid until the next step of the loop; Retain
// keeps it longer. An error ends the loop. A loop that is left early frees its memory and ends its goroutines.
//
// Several goroutines may scan one file at the same time.
func (f *File) Scan(ctx context.Context, o ScanOptions) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if err := f.table.Load(ctx); err != nil {
			yield(Batch{}, err)
			return
		}
		scan.Scan(ctx, f.table, o.options())(yield)
	}
}

// Reader is [File.Scan] for code that takes an [array.RecordReader]. The reader belongs to one goroutine. The caller must
// Release it, even after its last batch or an error.
func (f *File) Reader(ctx context.Context, o ScanOptions) (array.RecordReader, error) {
	if err := f.table.Load(ctx); err != nil {
		return nil, err
	}
	return scan.NewReader(ctx, f.table, o.options())
}

// Count is the number of spans that match a filter. It reads only the columns of the filter.
func (f *File) Count(ctx context.Context, e filter.Expr) (int64, error) {
	if err := f.table.Load(ctx); err != nil {
		return 0, err
	}
	return scan.Count(ctx, f.table, e.Node())
}

// Explanation describes how a scan finds its spans; blocks are its stripes. Its String method is a page of text.
type Explanation = scan.Explanation

// Explain describes which blocks and spans a scan would examine, and what excludes the others.
func (f *File) Explain(ctx context.Context, o ScanOptions) (*Explanation, error) {
	if err := f.table.Load(ctx); err != nil {
		return nil, err
	}
	return scan.Explain(ctx, f.table, o.options())
}

// Analyze runs a scan and describes it, with its work in Explanation.Run.
func (f *File) Analyze(ctx context.Context, o ScanOptions) (*Explanation, error) {
	if err := f.table.Load(ctx); err != nil {
		return nil, err
	}
	return scan.Analyze(ctx, f.table, o.options())
}

// TakeOptions are the options of [File.Take]. The zero value takes all columns.
type TakeOptions struct {
	Columns     []string         // names of the columns of the result, as in [ScanOptions]
	Parallelism int              // number of columns that are read at the same time; default GOMAXPROCS
	Allocator   memory.Allocator // default Arrow's Go allocator
	MemoryLimit int64            // bytes of one column of the result; default 1 GiB
}

// Take returns spans by their row numbers, in the order of the list. A number that is listed twice gives its span twice. Only
// the blocks that hold some of the spans are read. The caller releases the result.
//
// Several goroutines may take spans of one file at the same time.
func (f *File) Take(ctx context.Context, rows []int64, o TakeOptions) (arrow.RecordBatch, error) {
	if err := f.table.Load(ctx); err != nil {
		return nil, err
	}
	return take.Rows(ctx, f.table, rows, take.Options{
		Columns: o.Columns, Parallelism: o.Parallelism, Allocator: o.Allocator, MemoryLimit: o.MemoryLimit,
	})
}

// Distinct returns arrays that together have each value of a column at least once: of each block its dictionary or, if it
// has none, the column itself. An array is valid until the next step of the loop. An error ends the loop.
func (f *File) Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error] {
	return func(yield func(arrow.Array, error) bool) {
		if err := f.table.Load(ctx); err != nil {
			yield(nil, err)
			return
		}
		scan.Distinct(ctx, f.table, column)(yield)
	}
}
