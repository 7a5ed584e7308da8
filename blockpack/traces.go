package blockpack

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/read"
)

// TraceOptions are the options of [File.Traces]. The zero value returns all spans with all columns.
type TraceOptions struct {
	// Columns are the names of the columns of the result, without backslashes. Those that a block lacks are left out. nil
	// means all columns of the block.
	Columns []string
	// Schema, if it is not nil, is the schema of all batches, such as that of [File.ArrowSchema]. Columns that a block
	// lacks are null. Columns must then be nil.
	Schema *arrow.Schema
	// Offset and Limit select a page of the spans of each trace, in the order of the file. A Limit of 0 is no limit.
	Offset, Limit int64
	// Root, if it is not nil, is the id of a span. Only this span and those below it are returned.
	Root []byte
	// Parallelism is the number of blocks that are read at the same time, by default GOMAXPROCS.
	Parallelism int
	// Allocator allocates the memory of batches, by default Arrow's Go allocator.
	Allocator memory.Allocator
}

func (o TraceOptions) options() read.TraceOptions { return read.TraceOptions(o) }

// Traces returns the spans of traces, a batch for each block that has some, in the order of the file. An id without spans is
// no error. The caller need not release a batch; it is valid until the next step of the loop, and Retain keeps it longer. An
// error ends the loop.
//
// The schema of a batch has the columns of its block, unless the options say otherwise. Ids are found by the compact index
// or, without one, by the trace index, and are verified in the block. Without both, the blocks whose range of ids has the id
// are searched.
func (f *File) Traces(ctx context.Context, ids [][]byte, o TraceOptions) iter.Seq2[arrow.RecordBatch, error] {
	return f.table.Traces(ctx, ids, o.options())
}
