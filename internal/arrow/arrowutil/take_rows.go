package arrowutil

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TakeRows copies rows of a batch.
func TakeRows(mem memory.Allocator, b arrow.RecordBatch, rows []int64) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, b.NumCols())
	defer ReleaseAll(columns)
	for i, c := range b.Columns() {
		var err error
		if columns[i], err = Take(mem, c, rows); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(b.Schema(), columns, int64(len(rows))), nil
}
