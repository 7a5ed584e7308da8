package convert

import "math"

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
