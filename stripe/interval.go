package stripe

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
)

// Intervals of several parts are stored as a struct with a child a part:
// days and milliseconds, or months, days and nanoseconds.

type (
	dayTime      = arrow.DayTimeInterval
	monthDayNano = arrow.MonthDayNanoInterval
)

// intervalWriter splits intervals into their parts.
type intervalWriter struct {
	*structWriter
}

func newIntervalWriter(c *nodeContext, col *arrowmap.Column) (nodeWriter, error) {
	parts, err := newStructWriter(c, col)
	return &intervalWriter{parts}, err
}

func (w *intervalWriter) write(arr arrow.Array) error {
	arr, err := w.ctx.plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	var parts []arrow.Array
	switch arr.DataType().ID() {
	case arrow.INTERVAL_DAY_TIME:
		v := arrowutil.Values[dayTime](arr)
		parts = []arrow.Array{
			intervalPart(w.ctx.mem, arrow.PrimitiveTypes.Int32, v, func(v dayTime) int32 { return v.Days }),
			intervalPart(w.ctx.mem, arrow.PrimitiveTypes.Int32, v, func(v dayTime) int32 { return v.Milliseconds }),
		}
	case arrow.INTERVAL_MONTH_DAY_NANO:
		v := arrowutil.Values[monthDayNano](arr)
		parts = []arrow.Array{
			intervalPart(w.ctx.mem, arrow.PrimitiveTypes.Int32, v, func(v monthDayNano) int32 { return v.Months }),
			intervalPart(w.ctx.mem, arrow.PrimitiveTypes.Int32, v, func(v monthDayNano) int32 { return v.Days }),
			intervalPart(w.ctx.mem, arrow.PrimitiveTypes.Int64, v, func(v monthDayNano) int64 { return v.Nanoseconds }),
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
	b := arrowutil.NewBuffer(mem, len(values)*sizeOf[P]())
	dst := arrowutil.As[P](b.Bytes())
	for i, v := range values {
		dst[i] = get(v)
	}
	return arrowutil.Make(dt, len(values), []*memory.Buffer{nil, b}, nil, 0)
}

// intervalReader joins the parts again.
type intervalReader struct {
	parts *structReader
	dt    arrow.DataType
}

func (r *intervalReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.parts.need(w, rows, add)
}

func (r *intervalReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	parts := make([]arrow.Array, len(r.parts.children))
	defer func() {
		for _, p := range parts {
			if p != nil {
				p.Release()
			}
		}
	}()
	n := int(rows.Len())
	for i, c := range r.parts.children {
		var err error
		if parts[i], err = c.read(ctx, w, rows); err != nil {
			return nil, err
		}
		if parts[i].NullN() > 0 {
			return nil, fault.Corruptf("null part of an interval")
		}
	}
	valid, nulls, err := r.parts.presence.read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	values := arrowutil.NewBuffer(w.options.Allocator, n*widthOf(r.dt))
	if len(parts) == 2 {
		dst, days, ms := arrowutil.As[dayTime](values.Bytes()), arrowutil.Values[int32](parts[0]), arrowutil.Values[int32](parts[1])
		for i := range dst {
			dst[i] = dayTime{Days: days[i], Milliseconds: ms[i]}
		}
	} else {
		dst, months, days := arrowutil.As[monthDayNano](values.Bytes()), arrowutil.Values[int32](parts[0]), arrowutil.Values[int32](parts[1])
		nanos := arrowutil.Values[int64](parts[2])
		for i := range dst {
			dst[i] = monthDayNano{Months: months[i], Days: days[i], Nanoseconds: nanos[i]}
		}
	}
	return arrowutil.Make(r.dt, n, []*memory.Buffer{valid, values}, nil, nulls), nil
}

// emptyArray is an array of a type without content: a struct without fields or
// fixed_size_binary[0]. It takes over the reference to valid.
func emptyArray(dt arrow.DataType, n int, valid *memory.Buffer, nulls int) arrow.Array {
	buffers := []*memory.Buffer{valid}
	if dt.ID() == arrow.FIXED_SIZE_BINARY {
		buffers = append(buffers, memory.NewBufferBytes(nil))
	}
	return arrowutil.Make(dt, n, buffers, nil, nulls)
}

// isText tells whether arrays of dt promise valid UTF-8.
func isText(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}
