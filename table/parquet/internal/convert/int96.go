package convert

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// An INT96 is a time without a zone, of nanoseconds that reach further than the 64 bits of
// Arrow's do:
//
//	i64 nanoseconds of the day | i32 Julian day
//
// Columns are read in nanoseconds if all values fit. Times of Spark, which are microseconds up to the year 294247,
// are read as such. Other columns have the finest unit that all values fit, which takes a pass over them.
const (
	epochDay = 2_440_588 // the Julian day of 1970-01-01
	dayNanos = 86_400_000_000_000
)

// unitNanos are the nanoseconds of the units that a column may have.
var unitNanos = map[arrow.TimeUnit]int64{arrow.Nanosecond: 1, arrow.Microsecond: 1e3, arrow.Millisecond: 1e6}

// Int96Time returns a value in a unit. ok is false if it is out of range, or not a multiple of the unit.
func Int96Time(v []byte, unit arrow.TimeUnit) (t int64, ok bool) {
	nanos, days := int64(binary.LittleEndian.Uint64(v)), int64(int32(binary.LittleEndian.Uint32(v[8:])))-epochDay
	per := unitNanos[unit]
	if nanos < 0 && unit == arrow.Microsecond {
		return sparkTime(days, nanos)
	}
	if nanos < 0 || nanos >= dayNanos || nanos%per != 0 {
		return 0, false
	}
	if days < 0 { // towards zero, so that the first time of a unit does not overflow in between
		days, nanos = days+1, nanos-dayNanos
	}
	t = days * (dayNanos / per)
	if t/(dayNanos/per) != days {
		return 0, false
	}
	sum := t + nanos/per
	return sum, sum < t == (nanos < 0)
}

// sparkTime returns a time of Spark, in microseconds, from the year 290301 on. Spark counts from the first Julian
// day, in 64 bits that overflow.
func sparkTime(days, nanos int64) (t int64, ok bool) {
	const day = dayNanos / 1000
	t = days*day + nanos/1000
	julian := t + epochDay*day
	return t, julian/day == days+epochDay && julian%day*1000 == nanos
}

// Int96Times converts INT96 values, read as 12 bytes, to times.
func Int96Times(mem memory.Allocator, a *array.FixedSizeBinary, t *arrow.TimestampType) (arrow.Array, error) {
	out := arrowutil.NewZeroBuffer(mem, 8*a.Len())
	for i, times := 0, arrowutil.As[int64](out.Bytes()); i < a.Len(); i++ {
		if a.IsNull(i) {
			continue
		}
		var ok bool
		if times[i], ok = Int96Time(a.Value(i), t.Unit); !ok {
			out.Release()
			return nil, fmt.Errorf("INT96 time % x (row %d of the batch) does not fit %v", a.Value(i), i, t.Unit)
		}
	}
	return arrowutil.Make(t, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(mem, a), out}, nil, a.NullN()), nil
}
