package predicate

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Filter returns the rows of a batch, of, at the positions where the expression is true in batch. Both have the same number of rows. It
// returns nil if there are none, and which rows they are. The caller releases the result.
func (b *Bound) Filter(mem memory.Allocator, batch, of arrow.RecordBatch) (arrow.RecordBatch, rowset.Set, error) {
	rows, err := b.Select(batch)
	if err != nil || rows.Empty() {
		return nil, rows, err
	}
	if rows.Len() == batch.NumRows() {
		of.Retain()
		return of, rows, nil
	}
	chosen, err := arrowutil.TakeRows(mem, of, slices.Collect(rows.Rows()))
	return chosen, rows, err
}
