// Package external has the interface by which shards read Parquet files that their stripes refer to. Package table/parquet registers the reader when it
// is imported, so that programs without it link none.
package external

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// File is an open Parquet file. Its stripes are its row groups.
type File interface {
	table.Table
	// Checksum is the XXH3-64 of the footer, which has all places and statistics.
	Checksum() uint64
	// Leaf is the number of the first leaf of a column, or of a part of one. Those of top-level columns ascend.
	Leaf(c *table.Column) int
	// Leaves is the number of leaves.
	Leaves() int
	// Chunk is the column chunk of a leaf in a row group.
	Chunk(group, leaf int) (Chunk, error)
	// Recorded is what the footer tells of the column at the end of a path, which leads through structs.
	Recorded(group int, path []*table.Column) Recorded
}

// Chunk is a column chunk, as the footer describes it.
type Chunk struct {
	Type       int32 // of its values, a number of Parquet
	Element    int   // place of its leaf in the schema of the footer
	Values     int64 // with nulls, and one for each empty list
	Pages      Range // of data
	PageCount  int64 // of data; 0 if the footer has no counts
	Dictionary Range // empty if there is none
}

// Range is the bytes of a file from Start up to, but not including, End.
type Range struct{ Start, End int64 }

// Recorded are statistics of a column in a row group.
type Recorded struct {
	Nulls     int64       // -1: not known
	Low, High arrow.Array // the least and the greatest value, as arrays of one; nil if either is not known exactly
}

// opener opens a file. With a schema, columns whose types depend on their values have those of the schema; else they are read.
type opener = func(ctx context.Context, r storage.Reader, as *arrow.Schema) (File, error)

var open opener

// Register sets the reader of Parquet files. Package table/parquet calls it when it is imported.
func Register(o opener) { open = o }

// Open reads the footer of a file. The types of columns of INT96 are those of the schema; without one their values are read. The reader stays the caller's.
func Open(ctx context.Context, r storage.Reader, as *arrow.Schema) (File, error) {
	if open == nil {
		return nil, fmt.Errorf("no reader of the Parquet file %s: import _ \"github.com/amudai/amudai-go/table/parquet\"", r.Name())
	}
	return open(ctx, r, as)
}
