package shard

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/source"
	enginetable "github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/shard/internal/lookup"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// RowRange is the rows from From up to, but not including, To. Rows are numbered from 0 in the whole shard.
//
//	type RowRange struct{ From, To int64 }
type RowRange = provider.RowRange

// DefaultBatchRows is the default number of rows of a batch: a power of two, so that batches begin at block boundaries.
const DefaultBatchRows = scan.DefaultBatchRows

// DefaultScanBytes is the default of ScanOptions.MemoryLimit.
const DefaultScanBytes = scan.DefaultMemory

// Defaults for shards in stores of high latency, in bytes.
const DefaultFetchGap, DefaultFetchBytes = storage.RemoteGap, storage.RemoteRequestBytes

// ScanOptions are the options of [Shard.Scan] and [Shard.Reader]. The zero value scans everything.
type ScanOptions struct {
	// Columns are the paths of the columns of the result, or of parts of nested ones. The result has top-level columns, each once, in
	// the order of their first mention. Structs have only the fields that are named. nil means all columns. An empty list means none:
	// batches then have a number of rows and no columns. An unknown path is an error.
	Columns []string
	// BatchRows is the maximum number of rows of a batch. The default is DefaultBatchRows, or
	// fewer if the values are so long that a batch would exceed a quarter of MemoryLimit.
	// Batches are shorter at the end of a stripe or row range, and where a column would
	// exceed MemoryLimit or 32-bit offsets. Batches smaller than DefaultBatchRows are
	// slices of larger ones and share their memory.
	BatchRows int
	// Filter is the condition for rows of the result. Its columns need not be among Columns.
	// Rows that statistics, Bloom filters, value dictionaries or range indexes exclude are
	// not read. For the others the columns of the filter are decoded first, and the
	// remaining columns only for the rows that match. There are no empty batches: a few
	// matches from each of several batches are returned as one.
	Filter  filter.Expr
	Strings StringLayout // the Arrow layout of strings, by default that of the column's type
	// Coded are the names of top-level columns of the result whose strings have the layout
	// StringsDictionary, whatever Strings says. It suits columns with a value dictionary, which
	// Inspect of the format tells.
	Coded []string
	// Decimals64 are the names of top-level columns of the result. Those that are decimal128 of at most 18
	// digits come as decimal64 of the same precision and scale: the same numbers, which are read faster and
	// take half of the memory. All other columns, and parts of nested ones, keep their type. The schema of the
	// result has the types of its batches; a field whose type differs from that of [Shard.ArrowSchema] for this
	// reason has the metadata amudai.recorded_type=decimal128. The filter does not depend on it.
	Decimals64 []string
	// Limit is the maximum number of rows of the result, 0 for no limit. The result is the
	// first rows that match Filter, or with AsReady any of them.
	Limit int64
	// AsReady returns batches as soon as they are ready, in any order, so that one late read
	// does not delay the others. Batch.RowRanges gives their rows. By default batches come
	// in the order of Rows. AsReady has no effect with Parallelism 1 on a fast store.
	AsReady bool
	// Disable turns off sources of knowledge about rows, to measure or test their effect.
	// The rows of the result do not depend on it.
	Disable Sources
	// FetchGap is the largest gap, in bytes, between two byte ranges that are read in one
	// request. The default is DefaultFetchGap for stores of high latency
	// ([storage.LatencyHigh]). For other stores, and with a negative value, each column
	// reads its own ranges.
	FetchGap int64
	// FetchBytes is the approximate number of bytes that such requests read ahead at a time,
	// for all columns and several batches: DefaultFetchBytes by default, and at most a
	// quarter of MemoryLimit.
	FetchBytes int64
	// Rows are the row ranges to scan, in this order. nil means all rows. Short ranges that
	// follow one another closely share batches.
	Rows []RowRange
	// Stripes limits the scan to the rows of these stripes, numbered from 0. nil means all.
	Stripes []int
	// Parallelism is the number of columns that are decoded at the same time, in the current
	// batch and in later ones, by default GOMAXPROCS. With 1 the calling goroutine decodes
	// everything, and nothing is read or decoded ahead. Where FetchGap joins byte ranges, it
	// does not limit requests: up to 128 batches wait for theirs at the same time, as
	// many as MemoryLimit has room for.
	Parallelism int
	// Allocator allocates the memory of batches, by default Arrow's Go allocator. With the
	// default, the scan uses memory of numbers, offsets and bits again after the release of
	// their batch, and cuts texts from chunks of 4 MiB. A program that keeps a small part of
	// each of many batches should copy it, because a retained array keeps its whole chunk.
	Allocator memory.Allocator
	// Reuse lets the scan use memory of texts again, too, which makes it up to a third
	// faster. Strings that were taken from a batch without Retain then change with the next
	// step: copy them.
	Reuse bool
	// MemoryLimit bounds the bytes that a scan holds beside the current batch: batches that
	// are decoded ahead, and bytes that are read ahead. The default is DefaultScanBytes. One
	// batch, with the bytes it is decoded from, is always allowed. MemoryLimit also bounds
	// one column of a batch of more than one row. A scan of texts of some kilobytes each,
	// with the default BatchRows, peaks at one and a half times MemoryLimit, the current
	// batch included; with Parallelism 1 it peaks at a third of MemoryLimit.
	MemoryLimit int64
}

// Batch is a record batch of a scan. All of its rows are in one stripe.
//
//	type Batch struct {
//		arrow.RecordBatch
//		Stripe int // number of the stripe, from 0
//	}
//
//	func (Batch) RowRanges() []RowRange // row numbers in the shard, ascending
type Batch = scan.Batch

// Scan returns the rows as record batches, by default in the order of the shard. A batch is valid
// until the next step of the loop; Retain keeps it longer. An error ends the loop. A loop that is
// left early frees its memory and ends its goroutines.
//
// Several goroutines may scan one shard at the same time.
func (s *Shard) Scan(ctx context.Context, o ScanOptions) iter.Seq2[Batch, error] {
	return scan.Scan(ctx, s.table, o.options())
}

func (o ScanOptions) options() scan.Options {
	return scan.Options{
		Columns: o.Columns, BatchRows: o.BatchRows, Filter: o.Filter.Node(), Strings: o.Strings, Coded: o.Coded, Decimals64: o.Decimals64,
		Limit: o.Limit, AsReady: o.AsReady, Disable: o.Disable, FetchGap: o.FetchGap, FetchBytes: o.FetchBytes, Rows: o.Rows,
		Stripes: o.Stripes, Parallelism: o.Parallelism, Allocator: o.Allocator, Reuse: o.Reuse, MemoryLimit: o.MemoryLimit,
	}
}

// Reader is [Shard.Scan] for code that takes an [array.RecordReader], such as the writers of other
// formats. The reader belongs to one goroutine. The caller must Release it, even after its last
// batch or an error.
func (s *Shard) Reader(ctx context.Context, o ScanOptions) (array.RecordReader, error) {
	return scan.NewReader(ctx, s.table, o.options())
}

// Count is the number of rows that match a filter. It reads only the columns of the filter, and
// only the rows that statistics, Bloom filters, value dictionaries and range indexes do not decide.
// Without a filter it reads nothing.
func (s *Shard) Count(ctx context.Context, e filter.Expr) (int64, error) {
	return scan.Count(ctx, s.table, e.Node())
}

// Sources is a set of sources of knowledge about rows. A scan asks them before it reads values.
type Sources = source.Kinds

// The sources, in the order in which a scan asks them, cheapest first.
const (
	Statistics   = source.Statistics   // bounds, null counts and constants of shard and stripe
	BloomFilters = source.BloomFilters // Bloom filters of the strings of a stripe
	Dictionaries = source.Dictionaries // value dictionaries of stripes
	RangeIndexes = source.RangeIndexes // bounds of every 256 rows
	Indexes      = source.Indexes      // indexes of the shard: see [AddIndex]
)

// StringLayout is the Arrow type of strings in the result of a scan or Take. It applies to columns,
// and parts of nested ones, of the types string, large_string and string_view, and to dictionaries
// of these.
type StringLayout = enginetable.StringLayout

// The layouts of strings. The zero value is the default.
const (
	StringsAsRecorded = enginetable.StringsAsRecorded // the type of the column
	StringsPlain      = enginetable.StringsPlain      // string
	StringsLarge      = enginetable.StringsLarge      // large_string
	StringsView       = enginetable.StringsView       // string_view
	StringsDictionary = enginetable.StringsDictionary // dictionary<int32, string>: fast for columns with a value dictionary, slow for others
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

// Found is a batch of rows that a lookup found. All of them are in one stripe.
type Found struct {
	arrow.RecordBatch
	Keys []int   // for each row, the index of its key among those of the lookup
	Rows []int64 // for each row, its number in the shard, as Take has it
}

// Lookup returns the rows whose value in a top-level column is one of the keys, as [Shard.Scan] with the same options returns rows that meet a filter: it uses
// an index of hashes if that pays, else statistics, Bloom filters, dictionaries and range indexes, and joins the requests of all keys. Deleted rows are left out. Options may
// name a filter, ranges and a limit, which counts a row once.
//
// Keys are of the type of the column; of strings any layout will do. A key that is null or NaN equals no value. A key of several rows gives all of them, and a row whose key is
// named several times is repeated for each. Rows come in the order of the shard, not that of the keys; of more than 32,768 different keys, for so many after so many.
//
// A batch is valid until the next step of the loop. Keys and Rows are the caller's. The keys must not be released before the loop ends.
func (s *Shard) Lookup(ctx context.Context, column string, keys arrow.Array, o ScanOptions) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		var l *lookup.Keys
		all, err := s.ArrowSchema(ctx)
		if err == nil {
			l, err = lookup.New(all, column, keys, o.Columns)
		}
		if err != nil {
			yield(Found{}, err)
			return
		}
		scan := o
		scan.Columns = l.Columns
		for condition := range l.Conditions() {
			scan.Filter = filter.And(o.Filter, condition)
			for batch, err := range s.Scan(ctx, scan) {
				var f Found
				if err == nil {
					f.RecordBatch, f.Keys, f.Rows, err = l.Find(batch, batch.RowRanges())
				}
				if err != nil {
					yield(Found{}, err)
					return
				}
				more := yield(f, nil)
				f.Release()
				if o.Limit > 0 {
					scan.Limit -= batch.NumRows()
				}
				if !more || o.Limit > 0 && scan.Limit == 0 {
					return
				}
			}
		}
	}
}
