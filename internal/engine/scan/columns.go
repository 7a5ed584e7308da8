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

// measure makes lengths of the columns of the result that the options name, if these have any and no other one has the name.
func (sc *scanner) measure(p *table.Projection) {
	sc.lengths = make([]bool, len(p.Columns))
	fields := p.Schema.Fields()
	for _, name := range sc.o.Lengths {
		if at := p.Schema.FieldIndices(name); len(at) == 1 {
			fields[at[0]], sc.lengths[at[0]] = arrowutil.LengthsOf(fields[at[0]])
		}
	}
	if slices.Contains(sc.lengths, true) {
		meta := p.Schema.Metadata()
		sc.schema = arrow.NewSchema(fields, &meta)
	}
}

// readLengths returns the lengths of rows, of their values if the column tells none without them.
func readLengths(ctx context.Context, c table.ColumnReader, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	if l, is := c.(table.LengthReader); is {
		if arr, err := l.Lengths(ctx, rows, o); arr != nil || err != nil {
			return arr, err
		}
	}
	values, err := c.Read(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return arrowutil.Lengths(o.Allocator, values)
}
