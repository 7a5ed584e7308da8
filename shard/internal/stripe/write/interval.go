package write

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// intervalWriter splits intervals into their parts, which are stored as the children
// of a struct: days and milliseconds, or months, days and nanoseconds.
type intervalWriter struct {
	*structWriter
}

func newIntervalWriter(c *buffers.Context, col *arrowmap.Column) (nodeWriter, error) {
	parts, err := newStructWriter(c, col)
	return &intervalWriter{parts}, err
}

func (w *intervalWriter) write(arr arrow.Array) error {
	arr, err := w.ctx.Plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	var parts []arrow.Array
	switch arr.DataType().ID() {
	case arrow.INTERVAL_DAY_TIME:
		v := arrowutil.Values[arrow.DayTimeInterval](arr)
		parts = []arrow.Array{
			intervalPart(w.ctx.Mem, arrow.PrimitiveTypes.Int32, v, func(v arrow.DayTimeInterval) int32 { return v.Days }),
			intervalPart(w.ctx.Mem, arrow.PrimitiveTypes.Int32, v, func(v arrow.DayTimeInterval) int32 { return v.Milliseconds }),
		}
	case arrow.INTERVAL_MONTH_DAY_NANO:
		v := arrowutil.Values[arrow.MonthDayNanoInterval](arr)
		parts = []arrow.Array{
			intervalPart(w.ctx.Mem, arrow.PrimitiveTypes.Int32, v, func(v arrow.MonthDayNanoInterval) int32 { return v.Months }),
			intervalPart(w.ctx.Mem, arrow.PrimitiveTypes.Int32, v, func(v arrow.MonthDayNanoInterval) int32 { return v.Days }),
			intervalPart(w.ctx.Mem, arrow.PrimitiveTypes.Int64, v, func(v arrow.MonthDayNanoInterval) int64 { return v.Nanoseconds }),
		}
	default:
		return fmt.Errorf("array of type %s for an interval", arr.DataType())
	}
	w.addPresence(arrowutil.Validity(arr))
	for i, p := range parts {
		if err == nil {
			err = w.children[i].write(p)
		}
		p.Release()
	}
	return err
}

func intervalPart[V any, P int32 | int64](mem memory.Allocator, dt arrow.DataType, values []V, get func(V) P) arrow.Array {
	b := arrowutil.NewBuffer(mem, len(values)*numeric.Of[P]().Size())
	dst := arrowutil.As[P](b.Bytes())
	for i, v := range values {
		dst[i] = get(v)
	}
	return arrowutil.Make(dt, len(values), []*memory.Buffer{nil, b}, nil, 0)
}
