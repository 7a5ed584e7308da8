package table

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
)

// ReadOptions are the options that all sources have. The zero value is the default. What
// only one format has is in the options of its package.
type ReadOptions struct {
	Allocator memory.Allocator // default memory.DefaultAllocator
	BatchRows int              // most rows of a batch; default 32,768
	TempDir   string           // for a pipe in a format that needs random access; default os.TempDir
	Notice    func(string)     // takes notices for people; default: none are given
	Warning   func(string)     // takes those that tell that data may be misread; default: Notice

	// Columns are paths of columns, or of parts of nested ones: "price", "address.city",
	// "orders.id" of the structs in a list, "prices.value" of a map. The result has the
	// top-level columns in the order in which they are named first, each once, with the
	// named parts. Of several columns a the first is "a", the second "a#2"; the first
	// column without a name is "#1". Filters and shards use the same names. A path that
	// names nothing is an error. Nil means all columns; an empty list none, and batches
	// have only a number of rows.
	Columns []string
	// Filter leaves only the rows that meet a condition. It may look at columns
	// that are not among Columns.
	Filter filter.Expr
	// Schema fixes the types of these columns; others have the input's types, or
	// inferred ones. A value that its type cannot hold exactly is an error.
	Schema []arrow.Field
}

// DefaultBatchRows is the default of [ReadOptions.BatchRows].
const DefaultBatchRows = 32 << 10

// WithDefaults fills in what is zero, for implementations of sources.
func (o ReadOptions) WithDefaults() ReadOptions {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.BatchRows <= 0 {
		o.BatchRows = DefaultBatchRows
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Warning == nil {
		o.Warning = o.Notice
	}
	return o
}

// WriteOptions are the options that all sinks have. The zero value is the default.
type WriteOptions struct {
	Allocator memory.Allocator // default memory.DefaultAllocator
	TempDir   string           // for formats that need a second pass; default os.TempDir
	Notice    func(string)     // takes notices for people; default: none are given
}

// TextOptions bound what formats of text hold in memory. The zero value is the
// default.
type TextOptions struct {
	SampleRows     int   // rows that types are inferred from; default 10,000
	SampleBytes    int64 // bytes of the sample; default 8 MiB
	MaxRecordBytes int   // longest record; default 64 MiB
}

// Defaults of [TextOptions].
const (
	DefaultSampleRows     = 10_000
	DefaultSampleBytes    = 8 << 20
	DefaultMaxRecordBytes = 64 << 20
)

// WithDefaults fills in what is zero, for implementations of sources.
func (o TextOptions) WithDefaults() TextOptions {
	if o.SampleRows <= 0 {
		o.SampleRows = DefaultSampleRows
	}
	if o.SampleBytes <= 0 {
		o.SampleBytes = DefaultSampleBytes
	}
	if o.MaxRecordBytes <= 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	return o
}
