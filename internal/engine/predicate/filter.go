package predicate

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Filter returns the rows of a batch, of, at the positions where the expression is true in batch. Both have the same number of rows. It
// returns nil if there are none. The caller releases the result.
func (b *Bound) Filter(mem memory.Allocator, batch, of arrow.RecordBatch) (arrow.RecordBatch, error) {
	rows, err := b.Select(batch)
	if err != nil || rows.Empty() {
		return nil, err
	}
	if rows.Len() == batch.NumRows() {
		of.Retain()
		return of, nil
	}
	return arrowutil.TakeRows(mem, of, slices.Collect(rows.Rows()))
}
