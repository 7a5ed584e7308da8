package provider

import (
	"cmp"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// ReadOptions are the options of all sources. The zero value is the default. The package of each format has further
// options.
type ReadOptions struct {
	Allocator memory.Allocator // default memory.DefaultAllocator
	BatchRows int              // maximum rows of a batch; default 32,768
	TempDir   string           // for a pipe in a format that needs random access; default os.TempDir
	Notice    func(string)     // called with messages for the user; default: none
	Warning   func(string)     // called with messages that data may be misread; default: Notice

	// Columns are paths of columns, or of parts of nested ones: "price", "address.city", "orders.id" of the structs
	// in a list, "prices.value" of a map. The result has each top-level column once, in the order of first
	// appearance, with the named parts. Of several columns a the first is "a", the second "a#2". The first column
	// without a name is "#1". Filters and shards use the same names. An unknown path is an error. Nil means all
	// columns. With an empty list, batches have a number of rows only.
	Columns []string
	// Filter selects the rows that meet a condition. It may use columns that are not in Columns.
	Filter filter.Expr
	// Choose, unless it is nil, gives Columns and Filter when the columns of the input are known, so that it need not be opened for them before.
	// Sources that return some columns without being asked to have all of them.
	Choose func(*arrow.Schema) (columns []string, where filter.Expr, err error)
	// Schema sets the types of these columns. Other columns have the types of the input, or inferred ones. A value
	// that its type cannot hold exactly is an error.
	Schema []arrow.Field
	// Rows selects rows of the input by their position from 0, before the filter. The ranges ascend and do not overlap;
	// the last one may extend beyond the last row. Nil means all rows, an empty list none.
	Rows []RowRange
	// Limit is the maximum number of rows of the result; 0 for all.
	Limit int64
	// Dictionaries allows columns of strings to come as arrays of dictionary<uint32 or int32, utf8 or binary>, where
	// the format stores codes. The schema of the source tells which do.
	Dictionaries bool
	// Decimals64 are paths of top-level columns that may come as decimal64 if they are decimal128 of at most 18
	// digits: the same numbers, with the same precision and scale. It is a permission. Amudai shards use it, other
	// formats keep decimal128. The schema of the source tells: it has the types of the batches, and a field that
	// has changed has the metadata amudai.recorded_type=decimal128. A column that Schema sets has that type.
	Decimals64 []string
	// Lengths are names of top-level columns of strings, byte strings and lists that may come as int64, the lengths of their values: characters of
	// strings, bytes of byte strings, elements of lists. It is a permission. Amudai shards use it, and read no values where they store lengths apart from
	// these. The field of such a column has the metadata amudai.recorded_type. A column that Schema sets has that type.
	Lengths []string
	// AnyOrder allows the rows of a batch to come in any order where no column has floats, whose sums are rounded. It is a permission. Amudai
	// shards use it where rows are deleted.
	AnyOrder bool
	// Messages, unless it is nil, allows a source whose rows are encoded as messages of OTLP to give these in place of rows: it calls Messages
	// when it is opened, with a function that returns one after the other, valid until the next call, and nil at the end. The source has no rows
	// then, and its schema tells nothing. No other option of rows and columns may be set.
	Messages func(next func(ctx context.Context) ([]byte, error))
	// Reuse promises that each batch is released before the next one is asked for, and that nothing of it is kept, so
	// that a source may use its memory again.
	Reuse bool
}

// RowRange is the rows from position From up to, but without, To.
//
//	type RowRange struct{ From, To int64 }
type RowRange = rowset.Range

// Chosen are the options for an input with some columns, as Choose gives them.
func (o ReadOptions) Chosen(s *arrow.Schema) (_ ReadOptions, err error) {
	if o.Choose != nil {
		o.Columns, o.Filter, err = o.Choose(s)
		o.Choose = nil
	}
	return o, err
}

// Within returns the ranges of Rows that a table of n rows has, nil for all rows, and the number of rows of the result if
// there is no filter.
func (o ReadOptions) Within(n int64) (rows []RowRange, count int64) {
	if rows, count = o.Rows, n; rows != nil {
		rows = rowset.Clip(rows, n)
		count = rowset.Count(rows)
	}
	if o.Limit > 0 {
		count = min(count, o.Limit)
	}
	return rows, count
}

// DefaultBatchRows is the default of [ReadOptions.BatchRows].
const DefaultBatchRows = 32 << 10

// WithDefaults replaces zero options by their defaults, for implementations of sources.
func (o ReadOptions) WithDefaults() ReadOptions {
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	o.BatchRows = cmp.Or(max(o.BatchRows, 0), DefaultBatchRows)
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Warning == nil {
		o.Warning = o.Notice
	}
	return o
}

// WriteOptions are the options of all sinks. The zero value is the default.
type WriteOptions struct {
	Allocator memory.Allocator // default memory.DefaultAllocator
	TempDir   string           // for formats that need a second pass; default os.TempDir
	Notice    func(string)     // called with messages for the user; default: none
}

// TextOptions limit the sample and the memory for formats of text. The zero value is the default.
type TextOptions struct {
	SampleRows     int   // rows that types are inferred from; default 10,000
	AllRows        bool  // types are inferred from all rows: the input is read twice, a pipe from a temporary file
	SampleBytes    int64 // bytes of the sample; default 8 MiB
	MaxRecordBytes int   // maximum bytes of a record; default 64 MiB
}

// Defaults of [TextOptions].
const (
	DefaultSampleRows     = 10_000
	DefaultSampleBytes    = 8 << 20
	DefaultMaxRecordBytes = 64 << 20
)

// WithDefaults replaces zero options by their defaults, for implementations of sources.
func (o TextOptions) WithDefaults() TextOptions {
	o.SampleRows = cmp.Or(max(o.SampleRows, 0), DefaultSampleRows)
	o.SampleBytes = cmp.Or(max(o.SampleBytes, 0), DefaultSampleBytes)
	o.MaxRecordBytes = cmp.Or(max(o.MaxRecordBytes, 0), DefaultMaxRecordBytes)
	return o
}
