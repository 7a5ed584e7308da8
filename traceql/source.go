package traceql

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// Source is a table with a row for each span. It may be scanned by several goroutines at once, and within the loop over another scan.
// [BlockpackSource], [ShardSource] and [TableSource] make sources of files and tables.
type Source interface {
	// Schema is the schema of the table.
	Schema() *arrow.Schema
	// Scan returns the rows for which a filter is true, with their numbers, which ascend and are the same in each scan. Unless rows is nil, it looks at
	// these alone: ranges that ascend. Columns are paths, as those of [filter.Col]; batches have these columns in this
	// order. A batch is valid until the next step of the loop; Retain keeps it, and its memory is not used again. An error ends the loop.
	Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[Rows, error]
}

// Rows is a batch, and the numbers of its rows.
type Rows struct {
	arrow.RecordBatch
	Numbers []table.RowRange
}

// summarizedSource is a source that knows whole traces without reading their spans.
type summarizedSource interface {
	// TraceSummaries calls visit for each trace that it has, with what is said of all its spans; spans is 0 if it does not tell. ok is false, and nothing
	// visited, if the source has no summaries.
	TraceSummaries(ctx context.Context, ids []string, visit func(i, spans int, start int64, d time.Duration, name, service string)) (ok bool, err error)
	// TracePlaces calls visit for each of some rows with the place of its span in the tree of its trace, as [spans.Place] has it. ok is false, and nothing
	// visited, if the source has no places.
	TracePlaces(ctx context.Context, rows []table.RowRange, visit func(left, right, parent uint32)) (ok bool, err error)
}

// ExplainedSource is a source that describes its scans.
type ExplainedSource interface {
	Source
	// ExplainScan describes how Scan would find its rows, without reading them. rows is an upper bound of how many rows
	// it must look at, or -1.
	ExplainScan(ctx context.Context, columns []string, f filter.Expr) (plan fmt.Stringer, rows int64, err error)
}

// DistinctSource is a source that lists values of columns faster than a scan does, such as by dictionaries.
type DistinctSource interface {
	Source
	// Distinct returns arrays that together have each value of a column at least once, perhaps also values that no row has any longer. An
	// array is valid until the next step of the loop.
	Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error]
}
