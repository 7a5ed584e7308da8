package cast

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/text"
)

func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// quick converts numbers and times without their text. It returns nil for other types, and if a value does not fit.
func quick(mem memory.Allocator, a arrow.Array, to arrow.DataType) arrow.Array {
	switch a := a.(type) {
	case *array.Int8:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Int16:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Int32:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Int64:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Uint8:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Uint16:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Uint32:
		return fromSigned(mem, a, a.Values(), to)
	case *array.Float32:
		if to.ID() == arrow.FLOAT64 {
			return fill(mem, a, a.Values(), to, func(v float32) (float64, bool) { return float64(v), true })
		}
	case *array.Date32:
		if t, ok := to.(*arrow.TimestampType); ok && t.TimeZone == "" {
			return scaled(mem, a, a.Values(), to, 24*60*60*text.PerSecond(t.Unit))
		}
	case *array.Timestamp:
		from := a.DataType().(*arrow.TimestampType)
		if t, ok := to.(*arrow.TimestampType); ok && (t.TimeZone == "") == (from.TimeZone == "") {
			return rescaled(mem, a, a.Values(), to, from.Unit, t.Unit)
		}
	case *array.Duration:
		if t, ok := to.(*arrow.DurationType); ok {
			return rescaled(mem, a, a.Values(), to, a.DataType().(*arrow.DurationType).Unit, t.Unit)
		}
	}
	return nil
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// fromSigned converts integers that fit an int64.
func fromSigned[F integer](mem memory.Allocator, a arrow.Array, v []F, to arrow.DataType) arrow.Array {
	switch to.ID() {
	case arrow.INT8:
		return fill(mem, a, v, to, narrow[F, int8])
	case arrow.INT16:
		return fill(mem, a, v, to, narrow[F, int16])
	case arrow.INT32:
		return fill(mem, a, v, to, narrow[F, int32])
	case arrow.INT64:
		return fill(mem, a, v, to, narrow[F, int64])
	case arrow.UINT8:
		return fill(mem, a, v, to, narrow[F, uint8])
	case arrow.UINT16:
		return fill(mem, a, v, to, narrow[F, uint16])
	case arrow.UINT32:
		return fill(mem, a, v, to, narrow[F, uint32])
	case arrow.UINT64:
		return fill(mem, a, v, to, func(v F) (uint64, bool) { return uint64(v), v >= 0 })
	case arrow.FLOAT64:
		return fill(mem, a, v, to, func(v F) (float64, bool) {
			f := float64(v)
			return f, f < 1<<63 && int64(f) == int64(v)
		})
	case arrow.FLOAT32:
		return fill(mem, a, v, to, func(v F) (float32, bool) {
			f := float32(v)
			return f, f < 1<<63 && int64(f) == int64(v)
		})
	}
	return nil
}

func narrow[F, T integer](v F) (T, bool) {
	t := T(v)
	return t, int64(t) == int64(v)
}

// scaled multiplies values.
func scaled[F integer](mem memory.Allocator, a arrow.Array, v []F, to arrow.DataType, by int64) arrow.Array {
	most := math.MaxInt64 / by
	return fill(mem, a, v, to, func(v F) (int64, bool) {
		return int64(v) * by, int64(v) <= most && int64(v) >= -most
	})
}

// rescaled converts times to a unit that is as fine, or finer.
func rescaled[F ~int64](mem memory.Allocator, a arrow.Array, v []F, to arrow.DataType, from, unit arrow.TimeUnit) arrow.Array {
	if p, q := text.PerSecond(from), text.PerSecond(unit); q >= p {
		return scaled(mem, a, v, to, q/p)
	}
	return nil
}

// fill converts the values that are not null. It returns nil if one does not fit.
func fill[F, T any](mem memory.Allocator, a arrow.Array, v []F, to arrow.DataType, convert func(F) (T, bool)) arrow.Array {
	buf := arrowutil.NewBuffer(mem, sizeOf[T]()*len(v))
	out := arrowutil.As[T](buf.Bytes())
	var valid bitmap.Bits
	hasNulls := arrowutil.NullN(a) > 0
	if hasNulls {
		valid = arrowutil.Validity(a)
	}
	for i, x := range v {
		y, ok := convert(x)
		if !ok {
			if !hasNulls || valid.At(i) {
				buf.Release()
				return nil
			}
			var zero T
			y = zero
		}
		out[i] = y
	}
	return arrowutil.Make(to, len(v), []*memory.Buffer{arrowutil.CopyValidity(mem, a), buf}, nil, arrowutil.NullN(a))
}
