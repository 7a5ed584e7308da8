package shard

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/scan/source"
	"github.com/amudai/amudai-go/storage"
)

// RowRange is the rows from From up to (not including) To, counted in the shard.
type RowRange = rowset.Range

// DefaultBatchRows is the number of rows of a batch: a power of two, so that
// batches begin where blocks do, and enough that what a batch costs does not
// matter.
const DefaultBatchRows = scan.DefaultBatchRows

// DefaultScanBytes bounds what a scan decodes ahead.
const DefaultScanBytes = scan.DefaultMemory

// Defaults for shards that are read over a network.
const (
	DefaultFetchGap   = storage.RemoteGap
	DefaultFetchBytes = storage.RemoteRequestBytes
)

// ScanOptions are those of [Shard.Scan]. The zero value scans everything.
type ScanOptions struct {
	// Columns are paths of columns, or of parts of nested ones: "price", "address.city",
	// "orders.id" of the structs in a list, "prices.key" of a map. The result has the
	// top-level columns in the order in which they are named first, each once, with the
	// named parts of structs. Of several columns a the first is "a", the second "a#2"; the
	// first column without a name is "#1". Filters use the same names. A path that names
	// nothing is an error. nil means all columns; an empty list none, and batches have only a
	// number of rows.
	Columns []string
	// BatchRows is the most rows of a batch, by default DefaultBatchRows, or fewer where
	// values are so long that these would take more than a quarter of MemoryLimit. Batches
	// are shorter at the end of a stripe or range, and where the values of a
	// column would need more memory than MemoryLimit or more than 32-bit offsets. Small
	// ones are cut from DefaultBatchRows or less that are decoded together, and share memory.
	BatchRows int
	// Filter is a condition that rows must meet. It may look at columns that are
	// not among Columns. What statistics, Bloom filters, value dictionaries and
	// range indexes exclude is not read; then the columns of the filter are decoded,
	// and the others for the rows that are left. There are no empty batches; few rows
	// that are left of several batches in a row come as one.
	Filter filter.Expr
	// Strings is how texts are laid out, by default by the columns' types.
	Strings StringLayout
	// Limit is the most rows of the result, 0 for all: the first that meet Filter, or
	// with AsReady any.
	Limit int64
	// AsReady gives batches as soon as they are ready, in any order, so that one whose
	// bytes are late does not keep others back; Batch.RowRanges says which rows they have.
	// By default they come in the order of Rows. With Parallelism 1 it changes nothing.
	AsReady bool
	// Disable leaves out sources of what is known about rows, to measure or test
	// what they do. The rows of the result do not depend on it.
	Disable Sources
	// FetchGap is how many bytes between what columns need are read to save a
	// request. With 0, the default, it is 256 KiB for shards whose store answers slowly
	// ([storage.LatencyHigh]); of others each column reads what it needs by itself, as it does with a
	// negative number.
	FetchGap int64
	// FetchBytes is about how many bytes are then read ahead at a time, for all
	// columns and the rows of several batches, by default 16 MiB, and not more than a
	// quarter of MemoryLimit.
	FetchBytes int64
	// Rows are the ranges to scan, in this order. nil means all rows.
	Rows []RowRange
	// Stripes limits the scan to the rows of some stripes. nil means all.
	Stripes []int
	// Parallelism is how many columns are decoded at a time, of this batch and of
	// those that come next; by default GOMAXPROCS. With 1 the caller's goroutine
	// decodes everything, and nothing is read or decoded ahead of it.
	Parallelism int
	// Allocator makes the batches' memory; by default Arrow's of Go memory. Of that, arrays
	// are cut from chunks of 4 MiB: to keep a little of each of many batches, clone it.
	Allocator memory.Allocator
	// Reuse lets the scan use the memory of released batches for the next ones,
	// which makes it about a third faster. What is taken out of a batch without
	// Retain, a string for example, then changes after the next step: clone it.
	Reuse bool
	// MemoryLimit bounds the bytes that a scan holds beside the batch that it has
	// given, by default DefaultScanBytes: of batches that are decoded ahead, and of
	// what was read ahead for them. One batch, and the bytes it is made from, may
	// always be held. It bounds the bytes of one column in a batch, too, unless that
	// is of a single row. With the default of BatchRows, a scan of texts of up to some
	// kilobytes each has a peak of one and a half times MemoryLimit at most, with the batch
	// that it has given; with Parallelism 1, of a third of MemoryLimit.
	MemoryLimit int64
}

// Batch is a record batch of a scan. Its Stripe is the stripe of all its rows, and
// RowRanges says which rows of the shard these are.
type Batch = scan.Batch

// Scan gives the rows as record batches, in order unless the options say otherwise. A
// batch is valid until the next step; Retain it to keep it. After an error there is no
// further step. Whoever leaves the loop early leaves nothing behind: no goroutine, no
// memory.
//
// The shard may be scanned by several goroutines at once.
func (s *Shard) Scan(ctx context.Context, o ScanOptions) iter.Seq2[Batch, error] {
	return scan.Scan(ctx, s.table, scan.Options(o))
}

// Reader is [Shard.Scan] for code that takes an [array.RecordReader], such as writers of
// other formats. It belongs to one goroutine, and must be released, also after its end.
func (s *Shard) Reader(ctx context.Context, o ScanOptions) (array.RecordReader, error) {
	return scan.NewReader(ctx, s.table, scan.Options(o))
}

// Count is the number of rows that meet a filter. It reads nothing but the columns
// of the filter, and of these only what statistics, Bloom filters, value
// dictionaries and range indexes leave open.
func (s *Shard) Count(ctx context.Context, e filter.Expr) (int64, error) {
	return scan.Count(ctx, s.table, e)
}

// Explanation is how a scan finds its rows, and what it took if it was run. Its String is
// a page of text for people.
type Explanation = scan.Explanation

// StripeExplanation is what is known of a stripe without a look at its values.
type StripeExplanation = scan.StripeExplanation

// StepExplanation is what is left of a stripe after a source.
type StepExplanation = scan.StepExplanation

// RunExplanation is what a scan did.
type RunExplanation = scan.RunExplanation

// Explain tells which rows a scan would look at, and why not at others. It reads
// metadata, and for filters what they are held against: dictionaries and indexes.
func (s *Shard) Explain(ctx context.Context, o ScanOptions) (*Explanation, error) {
	return scan.Explain(ctx, s.table, scan.Options(o))
}

// Analyze is Explain, and runs the scan.
func (s *Shard) Analyze(ctx context.Context, o ScanOptions) (*Explanation, error) {
	return scan.Analyze(ctx, s.table, scan.Options(o))
}

// Sources are what a scan knows rows by without reading values.
type Sources = source.Kinds

// The sources, in the order in which they are asked: by what they cost.
const (
	Statistics   = source.Statistics   // of the shard, the stripe, and constants
	BloomFilters = source.BloomFilters // of byte strings in a stripe
	Dictionaries = source.Dictionaries // value dictionaries: a filter is evaluated once an entry
	RangeIndexes = source.RangeIndexes // bounds of every 256 rows
)

// StringLayout is how a scan or Take lays out texts: columns, and parts of nested ones, of the
// types string, large_string and string_view, and dictionaries of these.
type StringLayout = scan.StringLayout

// The layouts. The zero value is the default.
const (
	StringsAsRecorded = scan.StringsAsRecorded // by the type of the column
	StringsPlain      = scan.StringsPlain      // string
	StringsLarge      = scan.StringsLarge      // large_string
	StringsView       = scan.StringsView       // string_view
	StringsDictionary = scan.StringsDictionary // dictionary<int32, string>: fast where they are stored like that, slow elsewhere
)
