// Package table is what the engine reads: a [Table] of stripes, and a [ColumnReader] for each of their columns. It has the
// interfaces only. Package shardtable implements them for shards; packages scan and take use them.
package table

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
)

// Column is a column of a table: its Arrow type, the nodes it is read from, and how their
// values become those of the Arrow type.
type Column = arrowmap.Column

// Projection is some columns of a table. It is shared and must not be changed.
type Projection struct {
	Columns []Column
	Schema  *arrow.Schema
}

// Table is rows in stripes that follow each other, with the same columns. Its methods, and
// those of what it gives, may be called concurrently. Errors about stored bytes are those
// of package fault.
type Table interface {
	NumRows() int64
	NumStripes() int
	// Stripe is stripe i of NumStripes.
	Stripe(i int) Stripe
	// StoredBytes is the size of the table where it is stored.
	StoredBytes() int64
	// NumNodes is at least the number of columns.
	NumNodes() int
	// Latency is that of requests for the table's bytes.
	Latency() storage.Latency

	// Project gives the columns at paths, all for nil. It refuses tables of which it would
	// show too much.
	Project(ctx context.Context, paths []string) (*Projection, error)
	// ProjectTops is Project for the whole top-level columns that paths of a filter lead to;
	// all columns if it is not clear which those are.
	ProjectTops(ctx context.Context, paths []string) (*Projection, error)
	// Facts is what is known of a column in all rows. path leads from a top-level column to
	// it, by way of structs.
	Facts(ctx context.Context, path []*Column) (predicate.Facts, error)

	// PhysicalType is the type of the arrays that [ColumnReader.ReadPhysical] gives of a
	// column; same tells that it is the column's Arrow type.
	PhysicalType(c *Column) (dt arrow.DataType, same bool)
	// Logical makes an array of the column's Arrow type of one of its physical type, which
	// stays the caller's.
	Logical(mem memory.Allocator, physical arrow.Array, c *Column) (arrow.Array, error)

	// PrefetchStripes reads what it takes to look for columns in stripes, in few requests.
	// What is wrong with it is found when a column is looked for.
	PrefetchStripes(ctx context.Context, stripes []int) error
	// NewCounters makes counters for [ReadOptions].
	NewCounters() Counters
	// Requests are those sent for the table so far.
	Requests() Requests
}

// Stripe is some rows of a table that are stored together.
type Stripe interface {
	Index() int
	Position() int64 // of its first row in the table
	Rows() int64

	// PrefetchMetadata reads the metadata of columns that are not open, in few requests.
	PrefetchMetadata(ctx context.Context, columns []Column) error
	// Metadata is what is known of a column in the stripe. path leads from a top-level
	// column to it, by way of structs.
	Metadata(ctx context.Context, path []*Column) (source.Metadata, error)
	// RawRowBytes is about how many bytes a row of all columns takes in arrays, if that is
	// known without a read.
	RawRowBytes() (bytes int64, known bool)
	// ValueBytes is about how many bytes a row of a column takes in its arrays, 0 if that is
	// not known.
	ValueBytes(ctx context.Context, c *Column) int64
	// RangesToOpen are the byte ranges of at most limit bytes that opening columns takes
	// beside their metadata, but for those of columns that are open already. What is wrong
	// with a column is found when it is opened.
	RangesToOpen(ctx context.Context, columns []Column, parts Parts, limit int64) ([]storage.ByteRange, error)
	// Open opens a column, with bytes that prefetched gives, or gives one that is open. With
	// keep it stays open for later scans and takes.
	Open(ctx context.Context, c *Column, keep bool, prefetched func() (storage.Prefetched, error)) (ColumnReader, error)
	// Pages reads the range index of a column, nil if there is none.
	Pages(ctx context.Context, c *Column, have storage.Prefetched) (*source.Pages, error)
}

// Parts says what of a column to read ahead of opening it.
type Parts uint8

// The parts.
const (
	ToOpen    Parts = iota // what opening and the first read take
	ToFilter               // that, and range indexes
	AllValues              // what opening and all reads take
)

// ColumnReader reads a column of a stripe. Rows are counted in the stripe; arrays have
// them in ascending order and are released by the caller.
//
// A reader may also be a [DictionaryReader], [NumberFinder] or [BlockFinder].
type ColumnReader interface {
	// Read gives rows as an array of the column's Arrow type, ReadPhysical of its physical
	// type. An error that wraps [fault.ErrBatchTooLarge] says that fewer rows may work.
	Read(ctx context.Context, rows rowset.Set, o *ReadOptions) (arrow.Array, error)
	ReadPhysical(ctx context.Context, rows rowset.Set, o *ReadOptions) (arrow.Array, error)
	// AppendRanges appends the byte ranges that reading rows takes, as far as they are known.
	AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange
	// Blocks is the number of blocks of the column.
	Blocks() int64
}

// DictionaryReader is a reader of a column whose values are stored as codes of a dictionary.
type DictionaryReader interface {
	// Entries are the values of the dictionary, in an array of the physical type. They stay
	// the reader's; nil if there is no dictionary.
	Entries(ctx context.Context) (arrow.Array, error)
	// SelectCodes are the rows among others whose entry has a 1 in keep.
	SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *ReadOptions) (rowset.Set, error)
	// Repeat is n times the same entry, in an array of the physical type.
	Repeat(ctx context.Context, entry int, n int64, o *ReadOptions) (arrow.Array, error)
}

// NumberFinder is a reader that finds numbers in their encoded form.
type NumberFinder interface {
	// FindNumbers are the rows among others whose value meets a test for numbers that is not
	// met by NaN; ok is false if the column cannot be searched after all.
	FindNumbers(ctx context.Context, rows rowset.Set, test predicate.Test, o *ReadOptions) (found rowset.Set, ok bool, err error)
}

// BlockFinder is a reader that evaluates a condition on one block after the other.
type BlockFinder interface {
	// FindInBlocks are the rows among others for which holds sets a bit. required are byte
	// strings that each such value contains; ok is false if the column cannot be searched
	// after all.
	FindInBlocks(ctx context.Context, rows rowset.Set, holds Holds, required [][]byte, o *ReadOptions) (found rowset.Set, ok bool, err error)
}

// Holds evaluates a condition on an array of a column's physical type: bit i of the result
// is set if it is true for value i. The result may use the memory of dst.
type Holds = func(dst []byte, values arrow.Array) ([]byte, error)

// ReadOptions are those of the reads of a [ColumnReader].
type ReadOptions struct {
	Allocator     memory.Allocator   // of the arrays
	MaxArrayBytes int64              // most bytes of an array; 0 for the reader's default
	Counters      Counters           // that the read adds to, nil for none
	Prefetched    storage.Prefetched // bytes that were read before
}

// Counters count what reads do. They are made by [Table.NewCounters].
type Counters interface {
	Counts() Counts
}

// Counts are what reads of columns did.
type Counts struct {
	Blocks     int64 // that were read
	Distinct   int64 // those among them that were not read before
	BlockBytes int64
	Whole      int64 // blocks of which all values were wanted
	Values     int64 // that were wanted
}

// Requests are requests for bytes.
type Requests struct {
	N, Bytes int64
	Took     time.Duration // one after the other
}

// RowError is an error about the value of one row.
type RowError struct {
	Row int64 // counted in the stripe
	Err error
}

// Error is the cause.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RowError) Unwrap() error { return e.Err }

// StripeOf is the index of the stripe that holds a row.
func StripeOf(t Table, row int64) int {
	lo, hi := 0, t.NumStripes()-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if t.Stripe(mid).Position() <= row {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// Coalesce are the options for reading the bytes of a table. A gap of 0 is replaced by one that suits the latency of the
// table; it stays 0 if requests are fast.
func Coalesce(t Table, gap, bytes int64) storage.CoalesceOptions {
	o := storage.CoalesceOptions{Gap: gap, Limit: bytes, Requests: storage.RemoteRequests}
	if o.Gap == 0 && t.Latency() == storage.LatencyHigh {
		o.Gap = storage.RemoteGap
	}
	return o
}

// GroupSize is the number of columns whose metadata is read at a time. It is so small that the metadata is still in a cache
// of the table when it is used.
const GroupSize = 512
