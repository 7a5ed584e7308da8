package convert

import (
	"fmt"
	"math"
	"math/bits"
	"time"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Epoch is 1970-01-01 in ticks: units of 100 ns since 0001-01-01 (docs/format.md §4.2).
const Epoch = 621355968000000000

// ticksPer is the number of ticks of a unit, 0 for nanoseconds.
func (u Unit) ticksPer() uint64 {
	return [...]uint64{0, 10, 10_000, 10_000_000, 864_000_000_000}[u]
}

type integer interface{ int32 | int64 | uint64 }

// up is the change to a finer unit: dst = (src - lo) * mul + add, for src from lo to lo + span.
type up struct{ lo, span, mul, add uint64 }

// down is the change to a coarser unit: dst = (src - lo) / d + add, for src
// that lie a multiple of d, at most lim of them, above lo. With d = 2^k * o, o
// odd, division and test are one multiplication by the inverse of o modulo 2^64
// and one rotation: multiples of d give their quotient, all other numbers
// something larger than any quotient (Warren, Hacker's Delight, 10-17).
type down struct {
	lo, inv, lim, add uint64
	k                 int
}

// quotient is u/d for multiples of d, and more than any quotient for other numbers.
func (p down) quotient(u uint64) uint64 { return bits.RotateLeft64(u*p.inv, -p.k) }

func newDown(d, lo, lim, add uint64) down {
	k := bits.TrailingZeros64(d)
	o := d >> k
	inv := o // right in the lowest 3 bits; each step doubles that
	for range 5 {
		inv *= 2 - o*inv
	}
	return down{lo: lo, inv: inv, lim: lim, add: add, k: k}
}

// applyUp converts all of src and reports whether some value was out of range.
func applyUp[D, S integer](dst []D, src []S, p up) (bad bool) {
	dst = dst[:len(src)]
	var over uint64
	for i, v := range src {
		u := uint64(int64(v)) - p.lo
		_, borrow := bits.Sub64(p.span, u, 0)
		over |= borrow
		dst[i] = D(u*p.mul + p.add)
	}
	return over != 0
}

// applyDown converts all of src and reports whether some value was out of range or not a multiple.
func applyDown[D, S integer](dst []D, src []S, p down) (bad bool) {
	dst = dst[:len(src)]
	var over uint64
	for i, v := range src {
		q := p.quotient(uint64(int64(v)) - p.lo)
		_, borrow := bits.Sub64(p.lim, q, 0)
		over |= borrow
		dst[i] = D(q + p.add)
	}
	return over != 0
}

// retry repeats a loop that found a bad value. Bad values under nulls become 0, and the first
// other one is the error.
func retry[D, S integer](dst []D, src []S, valid bitmap.Bits, bad func(S) bool, report func(row int, v S) error) error {
	for i, v := range src {
		if !bad(v) {
			continue
		}
		if valid.At(i) {
			return report(i, v)
		}
		dst[i] = 0
	}
	return nil
}

// run converts all of src by c. The first value that c does not convert is the error.
func run[D, S integer](dst []D, src []S, valid bitmap.Bits, c Linear[D, S], report func(int, S) error) error {
	switch {
	case c.Values(dst, src):
		return nil
	case c.fine:
		return retry(dst, src, valid, func(v S) bool { return uint64(int64(v))-c.up.lo > c.up.span }, report)
	}
	return retry(dst, src, valid, func(v S) bool { return c.down.quotient(uint64(int64(v))-c.down.lo) > c.down.lim }, report)
}

const (
	outOfTicks = "DateTime holds 0001-01-01 to about the year 58456; store the column as integers to keep it"
	subTick    = "not a multiple of 100 ns, which is all that ticks hold; store the column as integers to keep it"
	outOfSpan  = "too long for a timespan, which counts 100 ns in 64 bits; store the column as integers to keep it"
)

// minNano and maxNano are the first and the last multiple of 100 in 64 bits.
const (
	minNano = math.MinInt64 / 100 * 100
	maxNano = math.MaxInt64 / 100 * 100
)

// neg is the two's complement of a negative bound.
func neg(v int64) uint64 { return uint64(v) }

// ToTicks writes instants, counted in u since 1970-01-01, as DateTime ticks.
// int32 is for days only.
func ToTicks[T int32 | int64](dst []uint64, src []T, valid bitmap.Bits, u Unit) error {
	report := func(row int, v T) error {
		reason := outOfTicks
		if u == Nanosecond {
			reason = subTick
		}
		return &RowError{Row: row, Value: describeInstant(int64(v), u), Reason: reason}
	}
	if u == Nanosecond {
		return run(dst, src, valid, Linear[uint64, T]{down: newDown(100, neg(minNano), (maxNano/100)-(minNano/100), Epoch+neg(minNano/100))}, report)
	}
	per := u.ticksPer()
	before := uint64(Epoch) / per // units from 0001 to 1970
	span := min(math.MaxUint64/per, math.MaxInt64+before)
	return run(dst, src, valid, Linear[uint64, T]{fine: true, up: up{lo: -before, span: span, mul: per}}, report)
}

// FromTicks is the inverse of [ToTicks]: a tick between two units, or outside of the range of T
// in u, is an error.
func FromTicks[T int32 | int64](dst []T, src []uint64, valid bitmap.Bits, u Unit) error {
	report := func(row int, v uint64) error {
		return &RowError{Row: row, Value: describeTicks(v), Reason: fmt.Sprintf("cannot be held as %s since 1970 in %d bits", u, bitsOf[T]())}
	}
	return run(dst, src, valid, fromTicks[T](u), report)
}

// ToSpan writes durations, counted in u, as timespan ticks.
func ToSpan(dst, src []int64, valid bitmap.Bits, u Unit) error {
	report := func(row int, v int64) error {
		reason := outOfSpan
		if u == Nanosecond {
			reason = subTick
		}
		return &RowError{Row: row, Value: fmt.Sprintf("duration of %d %s", v, u), Reason: reason}
	}
	if u == Nanosecond {
		return run(dst, src, valid, Linear[int64, int64]{down: newDown(100, neg(minNano), (maxNano/100)-(minNano/100), neg(minNano/100))}, report)
	}
	per := int64(u.ticksPer())
	most := math.MaxInt64 / per
	return run(dst, src, valid, Linear[int64, int64]{fine: true, up: up{lo: neg(-most), span: 2 * uint64(most), mul: uint64(per), add: neg(-most * per)}}, report)
}

// FromSpan is the inverse of [ToSpan].
func FromSpan(dst, src []int64, valid bitmap.Bits, u Unit) error {
	report := func(row int, v int64) error {
		return &RowError{Row: row, Value: fmt.Sprintf("timespan of %d ticks", v), Reason: fmt.Sprintf("cannot be held as %s in 64 bits", u)}
	}
	return run(dst, src, valid, fromSpan(u), report)
}

func bitsOf[T int32 | int64]() int {
	var v T
	return 8 * int(unsafe.Sizeof(v))
}

// describeInstant is an instant in words, as far as the calendar goes.
func describeInstant(v int64, u Unit) string {
	var t time.Time
	switch u {
	case Day:
		if v < -1e9 || v > 1e9 {
			return fmt.Sprintf("day %d of 1970", v)
		}
		return time.Unix(v*86400, 0).UTC().Format("2006-01-02")
	case Second:
		t = time.Unix(v, 0)
	case Millisecond:
		t = time.UnixMilli(v)
	case Microsecond:
		t = time.UnixMicro(v)
	default:
		t = time.Unix(0, v)
	}
	return fmt.Sprintf("%s (%d %s since 1970)", t.UTC().Format("2006-01-02T15:04:05.999999999"), v, u)
}

func describeTicks(v uint64) string {
	sec, rest := int64(v/10_000_000), int64(v%10_000_000)
	t := time.Unix(sec-Epoch/10_000_000, rest*100)
	return fmt.Sprintf("%s (DateTime of %d ticks)", t.UTC().Format("2006-01-02T15:04:05.9999999"), v)
}

// TicksBetween is the range of ticks that [FromTicks] converts to numbers from lo to hi. ok is
// false if there are none.
func TicksBetween(lo, hi int64, u Unit) (low, high uint64, ok bool) {
	if u == Nanosecond {
		lo, hi = ceil100(lo), floor100(hi)
		return uint64(lo) + Epoch, uint64(hi) + Epoch, lo <= hi
	}
	per := u.ticksPer()
	before := int64(uint64(Epoch) / per)
	lo, hi = max(lo, -before), min(hi, int64(math.MaxUint64/per)-before)
	return uint64(lo+before) * per, uint64(hi+before) * per, lo <= hi
}

// SpanBetween is TicksBetween for durations.
func SpanBetween(lo, hi int64, u Unit) (low, high int64, ok bool) {
	if u == Nanosecond {
		lo, hi = ceil100(lo), floor100(hi)
		return lo, hi, lo <= hi
	}
	per := int64(u.ticksPer())
	lo, hi = max(lo, math.MinInt64/per), min(hi, math.MaxInt64/per)
	return lo * per, hi * per, lo <= hi
}

// floor100 and ceil100 are v/100, rounded down and up.
func floor100(v int64) int64 {
	q := v / 100
	if v%100 < 0 {
		q--
	}
	return q
}

func ceil100(v int64) int64 {
	q := v / 100
	if v%100 > 0 {
		q++
	}
	return q
}
