package cast

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/text"
)

// quick converts numbers and times without their text. It returns nil for other types, and if a value does not fit.
func quick(mem memory.Allocator, a arrow.Array, to arrow.DataType) arrow.Array {
	if id := a.DataType().ID(); arrow.IsInteger(id) && id != arrow.UINT64 {
		return fromIntegers(mem, a, to)
	}
	switch a := a.(type) {
	case *array.Float32:
		if to.ID() == arrow.FLOAT64 {
			return fill(mem, a, a.Value, to, func(v float32) (float64, bool) { return float64(v), true })
		}
	case *array.Date32:
		if t, ok := to.(*arrow.TimestampType); ok && t.TimeZone == "" {
			return scaled(mem, a, to, 24*60*60*text.PerSecond(t.Unit))
		}
	case *array.Timestamp:
		from := a.DataType().(*arrow.TimestampType)
		if t, ok := to.(*arrow.TimestampType); ok && (t.TimeZone == "") == (from.TimeZone == "") {
			return rescaled(mem, a, to, from.Unit, t.Unit)
		}
	case *array.Duration:
		if t, ok := to.(*arrow.DurationType); ok {
			return rescaled(mem, a, to, a.DataType().(*arrow.DurationType).Unit, t.Unit)
		}
	}
	return nil
}

// fromIntegers converts integers that fit an int64.
func fromIntegers(mem memory.Allocator, a arrow.Array, to arrow.DataType) arrow.Array {
	value := arrowutil.Integers(a)
	switch to.ID() {
	case arrow.INT8:
		return fill(mem, a, value, to, narrow[int8])
	case arrow.INT16:
		return fill(mem, a, value, to, narrow[int16])
	case arrow.INT32:
		return fill(mem, a, value, to, narrow[int32])
	case arrow.INT64:
		return fill(mem, a, value, to, narrow[int64])
	case arrow.UINT8:
		return fill(mem, a, value, to, narrow[uint8])
	case arrow.UINT16:
		return fill(mem, a, value, to, narrow[uint16])
	case arrow.UINT32:
		return fill(mem, a, value, to, narrow[uint32])
	case arrow.UINT64:
		return fill(mem, a, value, to, func(v int64) (uint64, bool) { return uint64(v), v >= 0 })
	case arrow.FLOAT64:
		return fill(mem, a, value, to, func(v int64) (float64, bool) {
			f := float64(v)
			return f, f < 1<<63 && int64(f) == v
		})
	case arrow.FLOAT32:
		return fill(mem, a, value, to, func(v int64) (float32, bool) {
			f := float32(v)
			return f, f < 1<<63 && int64(f) == v
		})
	}
	return nil
}

func narrow[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](v int64) (T, bool) {
	t := T(v)
	return t, int64(t) == v
}

// scaled multiplies values.
func scaled(mem memory.Allocator, a arrow.Array, to arrow.DataType, by int64) arrow.Array {
	most := math.MaxInt64 / by
	return fill(mem, a, arrowutil.Integers(a), to, func(v int64) (int64, bool) { return v * by, v <= most && v >= -most })
}

// rescaled converts times to a unit that is as fine, or finer.
func rescaled(mem memory.Allocator, a arrow.Array, to arrow.DataType, from, unit arrow.TimeUnit) arrow.Array {
	if p, q := text.PerSecond(from), text.PerSecond(unit); q >= p {
		return scaled(mem, a, to, q/p)
	}
	return nil
}

// fill converts the values that are not null. It returns nil if one does not fit.
func fill[F, T any](mem memory.Allocator, a arrow.Array, value func(i int) F, to arrow.DataType, convert func(F) (T, bool)) arrow.Array {
	var zero T
	buf := arrowutil.NewBuffer(mem, int(unsafe.Sizeof(zero))*a.Len())
	valid := arrowutil.Validity(a)
	for i, out := 0, arrowutil.As[T](buf.Bytes()); i < len(out); i++ {
		y, ok := convert(value(i))
		if !ok {
			if valid.At(i) {
				buf.Release()
				return nil
			}
			y = zero
		}
		out[i] = y
	}
	return arrowutil.Make(to, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a), buf}, nil, arrowutil.NullN(a))
}
