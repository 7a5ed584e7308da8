package provider

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Statistics are what a file records of its rows and columns. If rows are hidden, numbers of columns may be too large, and
// bounds are not known.
type Statistics struct {
	Rows    int64 // that a scan shows
	Hidden  int64 // others, such as deleted ones, which the statistics of columns include
	Columns []ColumnStatistics
}

// ColumnStatistics are what a file records of a column, or of a field in a struct. The arrays are garbage collected and
// need no Release.
type ColumnStatistics struct {
	Path string
	Type arrow.DataType // in the schema of a source

	Nulls    int64 // rows without a value, those of enclosing structs included; -1: not known
	NaNs     int64 // -1: not known; 0 for types that have none
	Distinct int64 // values, nulls excluded; -1: not known
	// DistinctEstimated means that Distinct is not exact.
	DistinctEstimated bool

	// Min and Max are bounds of the values that are neither null nor NaN: arrays of one value of Type, of its value type for
	// dictionaries and runs. Either is nil if it is not known, or if there are no such values.
	Min, Max arrow.Array
	// Exact means that Min and Max are values of the column. Otherwise all values may lie further inside, because a bound was
	// shortened, for example.
	Exact bool

	Bytes int64 // stored, the parts of nested columns included; -1: not known without further reads
}

// PlainType is the type of the bounds of a column: its type without dictionaries and runs.
func (c *ColumnStatistics) PlainType() arrow.DataType { return kinds.Decoded(c.Type) }
