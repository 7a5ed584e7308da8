package rntuple

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

// EntryRange is the entries from From up to, but not including, To. Entries are numbered from 0.
//
//	type EntryRange struct{ From, To int64 }
type EntryRange = rowset.Range

// ScanOptions are the options of [NTuple.Scan] and [NTuple.Reader]. The zero value scans everything.
type ScanOptions struct {
	// Columns are the paths of the fields of the result, or of parts of nested ones: "Muon.pt" is
	// the field pt of the items of Muon. The result has top-level fields, each once, in the order
	// of their first mention. nil means all fields. An unknown path is an error.
	Columns []string
	// Filter is the condition for entries of the result. Its fields are read first, the others
	// only for the entries that match.
	Filter filter.Expr
	// Limit is the maximum number of entries of the result, 0 for no limit.
	Limit int64
	// Entries are the ranges of entries to scan, in this order. nil means all.
	Entries []EntryRange
	// BatchRows is the maximum number of entries of a batch. By default a batch has 65,536
	// entries, or fewer if they would exceed a quarter of MemoryLimit. A batch does not go
	// beyond a cluster.
	BatchRows int
	// Parallelism is the number of fields that are decoded at the same time, in the current batch
	// and in later ones, by default GOMAXPROCS. With 1 the calling goroutine decodes everything.
	Parallelism int
	// Allocator allocates the memory of batches, by default Arrow's Go allocator.
	Allocator memory.Allocator
	// Reuse lets the scan use the memory of released batches again. Values that were taken from a
	// batch without Retain, such as strings, then change with the next step: copy them.
	Reuse bool
	// MemoryLimit bounds the bytes that a scan holds beside the current batch: batches that are
	// decoded ahead, and bytes that are read ahead; by default 64 MiB. One batch is always
	// allowed.
	MemoryLimit int64
}

func (o ScanOptions) options() scan.Options {
	return scan.Options{
		Columns: o.Columns, Filter: o.Filter.Node(), Limit: o.Limit, Rows: o.Entries, BatchRows: o.BatchRows,
		Parallelism: o.Parallelism, Allocator: o.Allocator, Reuse: o.Reuse, MemoryLimit: o.MemoryLimit,
	}
}

// Batch is a record batch of a scan. All of its entries are in one cluster, number Stripe.
//
//	type Batch struct {
//		arrow.RecordBatch
//		Stripe int
//	}
//
//	func (Batch) RowRanges() []EntryRange // entry numbers, ascending
type Batch = scan.Batch

// Scan returns entries as record batches, in the order of the ntuple. A batch is valid until the next
// step of the loop; Retain keeps it longer. An error ends the loop. A loop that is left early frees its
// memory and ends its goroutines.
//
// Several goroutines may scan one ntuple at the same time.
func (n *NTuple) Scan(ctx context.Context, o ScanOptions) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		so, err := n.prepare(ctx, o.options())
		if err != nil {
			yield(Batch{}, err)
			return
		}
		scan.Scan(ctx, n.table, so)(yield)
	}
}

// prepare reads the page lists, and makes the batches of many or long fields short.
func (n *NTuple) prepare(ctx context.Context, o scan.Options) (scan.Options, error) {
	err := n.table.Load(ctx)
	if err == nil && o.BatchRows == 0 {
		o.BatchRows, err = n.table.BatchRows(ctx, o.Columns, o.MemoryLimit)
	}
	return o, err
}

// Reader is [NTuple.Scan] for code that takes an [array.RecordReader]. The reader belongs to one
// goroutine. The caller must Release it, even after its last batch or an error.
func (n *NTuple) Reader(ctx context.Context, o ScanOptions) (array.RecordReader, error) {
	so, err := n.prepare(ctx, o.options())
	if err != nil {
		return nil, err
	}
	return scan.NewReader(ctx, n.table, so)
}

// Count is the number of entries that match a filter. It reads only the fields of the filter.
func (n *NTuple) Count(ctx context.Context, e filter.Expr) (int64, error) {
	if err := n.table.Load(ctx); err != nil {
		return 0, err
	}
	return scan.Count(ctx, n.table, e.Node())
}

// Explanation describes how a scan finds its entries; clusters are its stripes. Its String method is a page of text.
type Explanation = scan.Explanation

// Explain describes the entries that a scan would examine. An RNTuple has no statistics, so that a filter examines all of
// those that are asked for. No pages are read.
func (n *NTuple) Explain(ctx context.Context, o ScanOptions) (*Explanation, error) {
	so, err := n.prepare(ctx, o.options())
	if err != nil {
		return nil, err
	}
	return scan.Explain(ctx, n.table, so)
}

// Analyze runs a scan and describes it, with its work in Explanation.Run.
func (n *NTuple) Analyze(ctx context.Context, o ScanOptions) (*Explanation, error) {
	so, err := n.prepare(ctx, o.options())
	if err != nil {
		return nil, err
	}
	return scan.Analyze(ctx, n.table, so)
}

// TakeOptions are the options of [NTuple.Take]. The zero value takes all fields.
type TakeOptions struct {
	Columns     []string         // paths of the fields of the result, as in [ScanOptions]
	Parallelism int              // number of fields that are read at the same time; default GOMAXPROCS
	Allocator   memory.Allocator // default Arrow's Go allocator
	MemoryLimit int64            // bytes of one field of the result; default 1 GiB
}

// Take returns entries by their numbers, in the order of the list. A number that is listed twice gives
// its entry twice. Only the pages that hold some of the entries are read. The caller releases the result.
//
// Several goroutines may take entries of one ntuple at the same time.
func (n *NTuple) Take(ctx context.Context, entries []int64, o TakeOptions) (arrow.RecordBatch, error) {
	if err := n.table.Load(ctx); err != nil {
		return nil, err
	}
	return take.Rows(ctx, n.table, entries, take.Options{
		Columns: o.Columns, Parallelism: o.Parallelism, Allocator: o.Allocator, MemoryLimit: o.MemoryLimit,
	})
}
