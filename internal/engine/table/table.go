// Package table has the interfaces of the tables that the engine reads: a [Table] of stripes, and a [ColumnReader]
// for each column of a stripe. Package shardtable implements them for shards. Packages scan and take use them.
package table

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
)

// Column is a column of a table: its Arrow type, the schema nodes it is read from, and the conversion of their
// values to the Arrow type.
type Column = arrowmap.Column

// Projection is a selection of columns of a table. It is shared and must not be changed.
type Projection struct {
	Columns []Column
	Schema  *arrow.Schema
}

// Table is a sequence of stripes with the same columns. The methods of a Table and of its stripes may be called
// concurrently. Errors about stored bytes are errors of package fault.
type Table interface {
	NumRows() int64 // those that stripes hide included
	NumStripes() int
	// Stripe returns stripe i of NumStripes.
	Stripe(i int) Stripe
	// StoredBytes is the stored size of the table.
	StoredBytes() int64
	// NumNodes is the number of schema nodes, at least the number of columns.
	NumNodes() int
	// Latency is the latency of reads of the table's bytes.
	Latency() storage.Latency

	// Project returns the columns at paths, or all columns if paths is nil.
	Project(ctx context.Context, paths []string) (*Projection, error)
	// ProjectTops returns the whole top-level columns that the paths of a filter lead to. It returns all columns
	// if the paths are ambiguous.
	ProjectTops(ctx context.Context, paths []string) (*Projection, error)
	// Facts describes a column over all rows. path leads from a top-level column to it, through structs.
	Facts(ctx context.Context, path []*Column) (predicate.Facts, error)

	// PhysicalType is the type of the arrays that [ColumnReader.ReadPhysical] returns for a column. same tells
	// whether it is the column's Arrow type.
	PhysicalType(c *Column) (dt arrow.DataType, same bool)
	// Logical converts an array of a column's physical type to its Arrow type. The caller keeps its reference to
	// the physical array.
	Logical(mem memory.Allocator, physical arrow.Array, c *Column) (arrow.Array, error)

	// PrefetchStripes reads the metadata that locates columns in stripes, in few requests. Errors in this metadata
	// are reported when a column is located.
	PrefetchStripes(ctx context.Context, stripes []int) error
	// NewCounters returns counters for [ReadOptions].
	NewCounters() Counters
	// Requests are the requests sent for the table so far.
	Requests() Requests
}

// Indexed is a table with indexes of all its rows.
type Indexed interface {
	// IndexesOfAll returns those that have some of the columns of a filter, as [Stripe.Indexes] does.
	IndexesOfAll(ctx context.Context, columns []FilterColumn) ([]source.Index, error)
}

// Sharing is a table whose columns may have bytes in common.
type Sharing interface {
	// SharesBytes reports whether they have. Then the bytes of several columns are read together from fast stores, too.
	SharesBytes(ctx context.Context) bool
}

// Stripe is a group of rows of a table that are stored together.
type Stripe interface {
	Index() int
	Position() int64 // row number in the table of the first row
	Rows() int64
	// Visible returns the rows to show, counted in the stripe; nil if all are. The others, such as deleted ones, keep their row numbers. Metadata,
	// statistics and indexes are about all rows. It is asked by each scan, count and take, and should read nothing a second time.
	Visible(ctx context.Context) (*rowset.Set, error)

	// PrefetchMetadata reads the metadata of those columns that are not open, in few requests.
	PrefetchMetadata(ctx context.Context, columns []Column) error
	// Metadata describes a column in the stripe. path leads from a top-level column to it, through structs.
	Metadata(ctx context.Context, path []*Column) (source.Metadata, error)
	// RawRowBytes estimates the bytes that a row of all columns takes in arrays. ok is false if that is not known
	// without a read.
	RawRowBytes() (bytes int64, known bool)
	// ValueBytes estimates the bytes that a row of a column takes in arrays. It is 0 if that is not known.
	ValueBytes(ctx context.Context, c *Column) int64
	// RangesToOpen returns the byte ranges, of at most limit bytes, that opening columns reads in addition to
	// their metadata. Columns that are open need none. Errors in a column are reported when it is opened.
	RangesToOpen(ctx context.Context, columns []Column, parts Parts, limit int64) ([]storage.ByteRange, error)
	// Open opens a column, or returns an open one. Bytes in prefetched are not read again. With keep the column
	// stays open for later scans and takes.
	Open(ctx context.Context, c *Column, keep bool, prefetched func() (storage.Prefetched, error)) (ColumnReader, error)
	// Pages reads the range index of a column. It returns nil if there is none.
	Pages(ctx context.Context, c *Column, have storage.Prefetched) (*source.Pages, error)
	// Indexes returns the indexes that have some of the columns of a filter: of the stripe and of the table, or only its own. An error is about the
	// list of indexes.
	Indexes(ctx context.Context, columns []FilterColumn, own bool) ([]source.Index, error)
}

// FilterColumn is a column of a filter.
type FilterColumn struct {
	Path   []*Column      // from a top-level column to the column, through structs
	Inside []string       // names within the JSON texts of the column; nil if the column itself has the values
	Type   arrow.DataType // of the values
}

// Parts selects the parts of a column to read before it is opened.
type Parts uint8

// The parts.
const (
	ToOpen    Parts = iota // the parts that opening and the first read need
	ToFilter               // ToOpen and range indexes
	AllValues              // the parts that opening and all reads need
)

// ColumnReader reads a column of a stripe. Row numbers begin at 0 in the stripe. Arrays have the rows in ascending
// order. The caller releases them.
//
// A reader may also be a [DictionaryReader], [MixedReader], [NumberFinder], [NullFinder], [Owner], [LengthReader] or [BlockFinder].
type ColumnReader interface {
	// Read returns rows as an array of the column's Arrow type, ReadPhysical as an array of its physical type. An
	// error that wraps [fault.ErrBatchTooLarge] means that a read of fewer rows may succeed.
	Read(ctx context.Context, rows rowset.Set, o *ReadOptions) (arrow.Array, error)
	ReadPhysical(ctx context.Context, rows rowset.Set, o *ReadOptions) (arrow.Array, error)
	// AppendRanges appends the known byte ranges that a read of rows needs.
	AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange
	// Blocks is the number of blocks of the column.
	Blocks() int64
}

// DictionaryReader reads a column whose values are stored as codes of a dictionary.
type DictionaryReader interface {
	// Entries returns the values of the dictionary as an array of the physical type, or nil if there is no
	// dictionary. The reader keeps ownership of the array.
	Entries(ctx context.Context) (arrow.Array, error)
	// SelectCodes returns the rows, among others, whose entry has a 1 in keep.
	SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *ReadOptions) (rowset.Set, error)
	// Repeat returns an array of the physical type with n copies of one entry.
	Repeat(ctx context.Context, entry int, n int64, o *ReadOptions) (arrow.Array, error)
}

// MixedReader reads a column of which some rows have codes of a dictionary, and others values that it may lack.
type MixedReader interface {
	// SomeEntries is [DictionaryReader.Entries] for the rows that have codes.
	SomeEntries(ctx context.Context) (arrow.Array, error)
	// SelectMixed is [DictionaryReader.SelectCodes] for these rows. It evaluates holds on the values of the others.
	SelectMixed(ctx context.Context, rows rowset.Set, keep []byte, holds Holds, o *ReadOptions) (rowset.Set, error)
}

// NumberFinder searches numbers in their encoded form.
type NumberFinder interface {
	// FindNumbers returns the rows, among others, whose value passes a test that NaN fails. ok is false if the
	// column cannot be searched.
	FindNumbers(ctx context.Context, rows rowset.Set, test predicate.Test, o *ReadOptions) (found rowset.Set, ok bool, err error)
}

// NullFinder tells nulls without values.
type NullFinder interface {
	// FindNulls returns the rows, among others, that are null, or with not those that are not. ok is false if the column cannot tell.
	FindNulls(ctx context.Context, rows rowset.Set, not bool, o *ReadOptions) (found rowset.Set, ok bool, err error)
}

// Owner gives arrays away.
type Owner interface {
	// GivesAway tells that nobody else has the memory of values of a fixed width and of validity bits that a read returns. The caller may change it.
	GivesAway()
}

// LengthReader tells lengths without values.
type LengthReader interface {
	// Lengths returns the lengths of rows, as arrowutil.Lengths makes them: characters of texts, bytes of byte strings, elements of lists. It is nil
	// if the column cannot tell. The caller releases the array.
	Lengths(ctx context.Context, rows rowset.Set, o *ReadOptions) (arrow.Array, error)
}

// BlockFinder is a reader that evaluates a condition on one block after the other.
type BlockFinder interface {
	// FindInBlocks returns the rows, among others, for which holds sets a bit. required is what each matching value
	// has. ok is false if the column cannot be searched.
	FindInBlocks(ctx context.Context, rows rowset.Set, holds Holds, required Required, o *ReadOptions) (found rowset.Set, ok bool, err error)
}

// Required is what values of byte strings must have so that a condition is true.
type Required struct {
	Parts  [][]byte // that they contain
	Prefix []byte   // that they begin with, or are
	Equal  bool     // they are the prefix

	Decide search.Decide // tells whether the values of a shape meet the condition; nil if it is not known. It belongs to one goroutine at a time
}

// Holds evaluates a condition on an array of a column's physical type. Bit i of the result is 1 if the condition
// is true for value i. The result may use the memory of dst.
type Holds = func(dst []byte, values arrow.Array) ([]byte, error)

// ReadOptions are the options of reads of a [ColumnReader].
type ReadOptions struct {
	Allocator     memory.Allocator   // allocates the arrays
	MaxArrayBytes int64              // maximum size of an array; 0 for the default of the reader
	Counters      Counters           // counters that the read adds to; nil for none
	Prefetched    storage.Prefetched // bytes that were read before
}

// Counters count the work of reads. [Table.NewCounters] makes them.
type Counters interface {
	Counts() Counts
}

// Counts describes the work of reads of columns.
type Counts struct {
	Blocks     int64 // blocks read
	Distinct   int64 // blocks among them that were not read before
	BlockBytes int64
	Whole      int64 // blocks of which all values were needed
	Values     int64 // values that were needed
}

// Requests are requests for bytes.
type Requests struct {
	N, Bytes int64
	Took     time.Duration // sum of their durations
}

// RowError is an error about the value of one row.
type RowError struct {
	Row int64 // row number in the stripe
	Err error
}

// Error is the text of the cause.
func (e *RowError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
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

// Coalesce returns the options for reading the bytes of a table. A gap of 0 means the default for the latency of
// the table, which is 0 for fast stores, unless columns share bytes.
func Coalesce(ctx context.Context, t Table, gap, bytes int64) storage.CoalesceOptions {
	o := storage.CoalesceOptions{Gap: gap, Limit: bytes, Requests: storage.RemoteRequests}
	if o.Gap != 0 {
		return o
	}
	if t.Latency() == storage.LatencyHigh {
		o.Gap = storage.RemoteGap
	} else if s, ok := t.(Sharing); ok && s.SharesBytes(ctx) {
		o = storage.DefaultCoalesce(storage.LatencyLow)
		o.Limit = min(o.Limit, bytes)
	}
	return o
}

// GroupSize is the number of columns whose metadata is read at a time. It is small enough that the metadata is
// still cached by the table when it is used.
const GroupSize = 512
