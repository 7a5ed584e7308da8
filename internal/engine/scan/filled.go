package scan

import (
	"context"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// mayFill reports whether gaps between visible rows may be filled: values are moved one by one, which pays for a fixed width. The order of floats matters
// to sums of them.
func (sc *scanner) mayFill() bool {
	return sc.o.AnyOrder && sc.filter == nil && sc.o.Limit == math.MaxInt64 && !slices.ContainsFunc(sc.schema.Fields(), func(f arrow.Field) bool {
		_, fixed := kinds.Storage(f.Type).(arrow.FixedWidthDataType)
		return !fixed || arrow.IsFloating(f.Type.ID())
	}) && !slices.Contains(sc.lengths, true)
}

// readFilled reads rows in the order of [rowset.Set.FilledOrder].
func readFilled(ctx context.Context, c table.ColumnReader, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	if _, is := c.(table.Owner); is {
		if arr, err := c.Read(ctx, rowset.Of(rows.Bounds()), o); err == nil { // an error may be about a row in a gap
			defer arr.Release()
			valid, values := arr.Data().Buffers()[0], arr.Data().Buffers()[1]
			if valid != nil {
				rowset.FillBits(valid.Bytes(), rows)
			}
			if width := kinds.Storage(arr.DataType()).(arrow.FixedWidthDataType).BitWidth(); width == 1 {
				rowset.FillBits(values.Bytes(), rows)
			} else {
				rowset.FillBytes(values.Bytes(), width/8, rows)
			}
			return array.NewSlice(arr, 0, rows.Len()), nil
		}
	}
	values, err := c.Read(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return arrowutil.Take(o.Allocator, values, rows.FilledOrder())
}
