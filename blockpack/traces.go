package blockpack

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/read"
)

// TraceOptions are the options of [File.Traces]. The zero value returns all spans with all columns.
//
//	type TraceOptions struct {
//		Columns       []string         // names of the columns of the result; default all of the block
//		Schema        *arrow.Schema    // of all batches, if it is not nil: columns that a block lacks are null, and Columns must be nil
//		Offset, Limit int64            // page of the spans of each trace, in the order of the file; a Limit of 0 is no limit
//		Root          []byte           // id of a span: only this one and those below it; nil for all
//		Parallelism   int              // blocks that are read at the same time; default GOMAXPROCS
//		Allocator     memory.Allocator // of the memory of batches; default Arrow's Go allocator
//	}
type TraceOptions = read.TraceOptions

// Traces returns the spans of traces, a batch for each block that has some, in the order of the file. An id without spans is
// no error. The caller need not release a batch; it is valid until the next step of the loop, and Retain keeps it longer. An
// error ends the loop.
//
// The schema of a batch has the columns of its block, unless the options say otherwise. Ids are found by the compact index
// or, without one, by the trace index, and are verified in the block. Without both, the blocks whose range of ids has the id
// are searched.
func (f *File) Traces(ctx context.Context, ids [][]byte, o TraceOptions) iter.Seq2[arrow.RecordBatch, error] {
	return f.table.Traces(ctx, ids, o)
}
