// Package convert converts between Arrow values and stored values, in loops over whole slices.
// All conversions are exact: a value that the other side cannot hold is a [*RowError].
//
// Every function takes the validity of the rows. A value under a null never causes an error; if
// it cannot be converted, the result is 0.
package convert

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/simd"
)

// Unit is the unit of an Arrow timestamp, date or duration.
type Unit uint8

// The units. Dates count days (date32) or milliseconds (date64).
const (
	Nanosecond  Unit = iota // a hundredth of a tick
	Microsecond             // 10 ticks
	Millisecond             // 10,000 ticks
	Second                  // 10,000,000 ticks
	Day                     // 864,000,000,000 ticks
)

// String is Arrow's short name of the unit.
func (u Unit) String() string {
	return [...]string{"ns", "us", "ms", "s", "days"}[min(u, Day)]
}

// RowError says that one value cannot be represented exactly on the other side. The caller adds
// the column.
type RowError struct {
	Row    int    // index into the slices that the function was given
	Value  string // the value, in words
	Reason string // the reason
}

// Error is the text without the place.
func (e *RowError) Error() string { return fmt.Sprintf("%s: %s", e.Value, e.Reason) }

// Linear is the linear conversion of stored numbers S to Arrow's D, for decoders that apply it
// themselves (numeric.Change).
type Linear[D, S integer] struct {
	fine bool // D counts the finer unit: up, else down
	up   up
	down down
}

// NewFromTicks is the change that [FromTicks] makes.
func NewFromTicks[T int32 | int64](u Unit) *Linear[T, uint64] {
	c := fromTicks[T](u)
	return &c
}

// NewFromSpan is the change that [FromSpan] makes.
func NewFromSpan(u Unit) *Linear[int64, int64] {
	c := fromSpan(u)
	return &c
}

func fromTicks[T int32 | int64](u Unit) Linear[T, uint64] {
	if u == Nanosecond {
		return Linear[T, uint64]{fine: true, up: up{lo: Epoch + neg(minNano/100), span: (maxNano / 100) - (minNano / 100), mul: 100, add: neg(minNano)}}
	}
	per := u.ticksPer()
	before := uint64(Epoch) / per
	return Linear[T, uint64]{down: newDown(per, 0, math.MaxUint64/per, -before)}
}

func fromSpan(u Unit) Linear[int64, int64] {
	if u == Nanosecond {
		return Linear[int64, int64]{fine: true, up: up{lo: neg(minNano / 100), span: (maxNano / 100) - (minNano / 100), mul: 100, add: neg(minNano)}}
	}
	per := int64(u.ticksPer())
	least, most := math.MinInt64/per, math.MaxInt64/per
	return Linear[int64, int64]{down: newDown(uint64(per), neg(least*per), uint64(most-least), neg(least))}
}

// Values changes all of src; false if the change of a value is not exact.
func (c *Linear[D, S]) Values(dst []D, src []S) bool {
	if c.fine {
		return !applyUp(dst, src, c.up)
	}
	return !applyDown(dst, src, c.down)
}

// Line converts the line base + step*q, for q from 0 to most, to a line a + b*q. ok is false if
// the result is not exact or not a line.
func (c *Linear[D, S]) Line(base, step, most uint64) (a, b uint64, ok bool) {
	lo, reach := c.down.lo, uint64(math.MaxUint64)
	if c.fine {
		lo, reach = c.up.lo, c.up.span
	}
	base -= lo
	if base > reach || step != 0 && most > (reach-base)/step {
		return 0, 0, false
	}
	if c.fine {
		return base*c.up.mul + c.up.add, step * c.up.mul, true
	}
	first, each := c.down.quotient(base), c.down.quotient(step)
	if first > c.down.lim || each > c.down.lim || each != 0 && most > (c.down.lim-first)/each {
		return 0, 0, false
	}
	return first + c.down.add, each, true
}

// Steps sets dst to a + b*q.
func (c *Linear[D, S]) Steps(dst []D, q []S, a, b uint64) {
	dst = dst[:len(q)]
	if narrowed, ok := any(dst).([]int32); ok {
		if words, ok := any(q).([]uint64); ok {
			simd.Narrow(narrowed, words, a, b)
			return
		}
	}
	if b == 1 {
		for i, v := range q {
			dst[i] = D(v) + D(a)
		}
		return
	}
	for i, v := range q {
		dst[i] = D(a + b*uint64(v))
	}
}
