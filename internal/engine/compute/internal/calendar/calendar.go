// Package calendar computes with days, times of day and time zones: on numbers, as columns store them.
package calendar

import (
	"math"
	"math/big"
	"slices"
	"sort"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
)

// The calendar is the proleptic Gregorian one. Days are counted from 1970-01-01.

const (
	DaySeconds = 86_400 // of a day
	// The algorithm of C. Neri and L. Schneider (Euclidean affine functions and their application to calendar algorithms, 2022) counts
	// days from March 1 of a year that is a multiple of 400, and works for those below 2^30.
	eras  = 82
	shift = 719_468 + 146_097*eras
)

// date returns the date of a day.
func date(days int64) (year int64, month, day int) {
	era := int64(0)
	n := uint64(days + shift)
	if n >= 1<<30 {
		era, days = text.FloorDiv(days, 146_097)
		n = uint64(days + shift)
	}
	n1 := uint32(4*n + 3)
	century, rest := n1/146_097, n1%146_097/4
	p := 2_939_745 * uint64(4*rest+3)
	inYear := uint32(p) / 2_939_745 / 4
	m := 2141*inYear + 197_913
	year, month, day = int64(100*century)+int64(p>>32)-400*eras+400*era, int(m>>16), int(m&0xffff/2141)+1
	if inYear >= 306 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// yearOf is the year of a day.
func yearOf(days int64) int64 {
	year, _, _ := date(days)
	return year
}

// OfDays sets dst to a function of days: by a table of all days between the first and the last one, if these are near each other.
func OfDays[R, T int32 | int64](dst []R, days []T, of func(day int64) int64) {
	if len(days) == 0 {
		return
	}
	one := func(day int64) R { return R(max(of(day), leastOf[R]())) }
	lo, hi := days[0], days[0]
	for _, v := range days {
		lo, hi = min(lo, v), max(hi, v)
	}
	dst = dst[:len(days)]
	if uint64(hi)-uint64(lo) >= uint64(len(days))/2 {
		for i, v := range days {
			dst[i] = one(int64(v))
		}
		return
	}
	table := make([]R, int(hi-lo)+1)
	for i := range table {
		table[i] = one(int64(lo) + int64(i))
	}
	for i, v := range days {
		dst[i] = table[v-lo]
	}
}

// leastOf is the least value of a type.
func leastOf[R int32 | int64]() int64 {
	if unsafe.Sizeof(R(0)) == 4 {
		return math.MinInt32
	}
	return math.MinInt64
}

// DayOf is the day of a date. Months beyond December are those of the years behind.
func DayOf(year int64, month, day int) int64 {
	year += int64((month - 1) / 12)
	month = (month-1)%12 + 1
	if month <= 2 {
		year--
		month += 12
	}
	era, yoe := text.FloorDiv(year, 400)
	doy := int64((153*(month-3)+2)/5 + day - 1)
	return era*146_097 + yoe*365 + yoe/4 - yoe/100 + doy - 719_468
}

// weekday is the day of the week, 0 for Sunday.
func weekday(days int64) int64 {
	_, r := text.FloorDiv(days+4, 7)
	return r
}

// isoWeek is the week of the year by ISO 8601: that of the Thursday of the same week.
func isoWeek(days int64) int64 {
	thursday := days + 3 - (weekday(days)+6)%7
	return (thursday-DayOf(yearOf(thursday), 1, 1))/7 + 1
}

// Parts are the parts of dates.
var Parts = map[string]func(days int64) int64{
	"year":      yearOf,
	"quarter":   func(days int64) int64 { _, m, _ := date(days); return int64(m+2) / 3 },
	"month":     func(days int64) int64 { _, m, _ := date(days); return int64(m) },
	"day":       func(days int64) int64 { _, _, d := date(days); return int64(d) },
	"dayofweek": weekday,
	"dayofyear": func(days int64) int64 { return days - DayOf(yearOf(days), 1, 1) + 1 },
	"week":      isoWeek,
}

// clockMost is the number of values of the parts of times of day.
var clockMost = map[string]int64{"hour": 24, "minute": 60, "second": 60}

// Truncations are the first days of the periods of days, by the words of date_trunc.
var Truncations = map[string]func(days int64) int64{
	"decade":  func(days int64) int64 { q, _ := text.FloorDiv(yearOf(days), 10); return DayOf(q*10, 1, 1) },
	"year":    func(days int64) int64 { return DayOf(yearOf(days), 1, 1) },
	"quarter": func(days int64) int64 { y, m, _ := date(days); return DayOf(y, (m-1)/3*3+1, 1) },
	"month":   func(days int64) int64 { _, _, d := date(days); return days - int64(d) + 1 },
	"week":    func(days int64) int64 { return days - (weekday(days)+6)%7 },
	"day":     func(days int64) int64 { return days },
}

// longest are the days of the longest of these periods. So many days behind the first one of a period lies the one that follows.
var longest = map[string]int64{"decade": 3653, "year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}

// ClockUnits are the shorter units of date_trunc, in nanoseconds.
var ClockUnits = map[string]int64{"hour": 3600e9, "minute": 60e9, "second": 1e9, "millisecond": 1e6, "microsecond": 1e3}

// Zone is the local time of a time zone.
type Zone struct {
	Location *time.Location // nil for a fixed offset
	offset   int64          // seconds
}

// UTC reports whether local times are those of UTC.
func (z Zone) UTC() bool { return z.Location == nil && z.offset == 0 }

// ZoneOf finds a time zone of a column. A column without one has the times as they are.
func ZoneOf(name string) (Zone, bool) {
	if name == "" || name == "UTC" {
		return Zone{}, true
	}
	if offset, ok := text.ParseOffset(name); ok {
		return Zone{offset: offset}, true
	}
	location, err := time.LoadLocation(name)
	return Zone{Location: location}, err == nil
}

// Offsets finds offsets of a zone from UTC. It remembers those that it has found, the last one first, because neighbouring rows mostly
// have the same.
type Offsets struct {
	Zone
	last  period
	known []period // in ascending order
}

// period is a time for which an offset holds, in seconds.
type period struct{ from, to, offset int64 }

// Offsets are the offsets of the zone, for one goroutine.
func (z Zone) Offsets() *Offsets { return &Offsets{Zone: z, last: period{from: 1}} }

// At is the offset at a time in seconds since 1970.
func (o *Offsets) At(seconds int64) int64 {
	if o.Location == nil {
		return o.offset
	}
	if o.last.from <= seconds && seconds < o.last.to {
		return o.last.offset
	}
	k := sort.Search(len(o.known), func(i int) bool { return seconds < o.known[i].to })
	if k == len(o.known) || seconds < o.known[k].from {
		o.known = slices.Insert(o.known, k, o.find(seconds))
	}
	o.last = o.known[k]
	return o.last.offset
}

// find asks the zone.
func (o *Offsets) find(seconds int64) period {
	t := time.Unix(seconds, 0).In(o.Location)
	_, offset := t.Zone()
	p := period{math.MinInt64, math.MaxInt64, int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.from = start.Unix()
	}
	if !end.IsZero() {
		p.to = end.Unix()
	}
	return p
}

// Instant is the time, in seconds since 1970, of a local time.
func (o *Offsets) Instant(local int64) int64 {
	if o.Location == nil {
		return local - o.offset
	}
	guess := local - o.At(local)
	return local - o.At(guess)
}

// Converter returns a function that converts times between units, a and c of which a second has, and zones, rounding down. ok is false for a
// time that is out of range. The function remembers offsets of the zones.
func Converter(a, c int64, from, to Zone) func(v int64) (converted int64, ok bool) {
	o, p := from.Offsets(), to.Offsets()
	return func(v int64) (int64, bool) {
		var seconds, rest int64 // local time
		if a == 0 {
			seconds = v * DaySeconds
		} else {
			seconds, rest = text.FloorDiv(v, a)
			seconds += o.At(seconds)
		}
		if c == 0 {
			day, _ := text.FloorDiv(seconds, DaySeconds)
			return day, day >= math.MinInt32 && day <= math.MaxInt32
		}
		seconds = p.Instant(seconds)
		if c >= max(a, 1) {
			rest *= c / max(a, 1)
		} else {
			rest /= a / c
		}
		if seconds > math.MaxInt64/c-1 || seconds < math.MinInt64/c+1 {
			exact := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(c))
			exact.Add(exact, big.NewInt(rest))
			return exact.Int64(), exact.IsInt64()
		}
		return seconds*c + rest, true
	}
}

// PerSecond is the number of units of dates and timestamps in a second; 0 for days.
func PerSecond(dt arrow.DataType) int64 {
	switch t := dt.(type) {
	case *arrow.Date32Type:
		return 0
	case *arrow.Date64Type:
		return 1000
	case arrow.TemporalWithUnit:
		return text.PerSecond(t.TimeUnit())
	}
	return 1
}

// InUnits is the first value of a type on the day that a function gives.
func InUnits(dt arrow.DataType, z Zone, day func(y int64) int64) func(y *big.Int) *big.Int {
	per := PerSecond(dt)
	return func(y *big.Int) *big.Int {
		v := int64(math.MaxInt32) * 400 // beyond all dates
		if y.IsInt64() && y.Int64() < v {
			v = max(y.Int64(), -v)
		}
		out := big.NewInt(day(v))
		if per == 0 {
			return out
		}
		out.Mul(out, big.NewInt(DaySeconds)).Sub(out, big.NewInt(z.offset))
		return out.Mul(out, big.NewInt(per))
	}
}

// LocalDays converts timestamps to days of the local time, rounded down.
func LocalDays(dst, a []int64, per int64, z Zone) {
	if z.UTC() {
		floorDivs(dst, a, DaySeconds*per)
		return
	}
	localSeconds(dst, a, per, z)
	floorDivs(dst, dst, DaySeconds)
}

// localSeconds converts timestamps to seconds of the local time, rounded down.
func localSeconds(dst, a []int64, per int64, z Zone) {
	floorDivs(dst, a, per)
	o := z.Offsets()
	for i, s := range dst {
		dst[i] = s + o.At(s)
	}
}

// Clocks finds a part of times of day.
func Clocks(dst, a []int64, per int64, z Zone, name string) {
	unit := ClockUnits[name] / (1e9 / per)
	if !z.UTC() {
		floorDivs(dst, a, per)
		o := z.Offsets()
		for i, s := range dst {
			_, inDay := text.FloorDiv(s, DaySeconds) // s and an offset may be out of range
			dst[i] = inDay + o.At(s)
		}
		a, unit = dst, ClockUnits[name]/1e9
	}
	floorDivMods(dst, a, unit, clockMost[name])
}

// TruncateTimes truncates times to multiples of a step of the local time, or to the first day of a period if there is a function for
// that. The results are multiples of the unit that it returns; dst gets the factors, because the products may be out of range.
func TruncateTimes(dst, a []int64, per, step int64, z Zone, first func(day int64) int64) (unit int64) {
	o := z.Offsets()
	switch {
	case first != nil:
		LocalDays(dst, a, per, z)
		OfDays(dst, dst, first)
		if z.UTC() {
			return DaySeconds * per
		}
		for i, day := range dst {
			dst[i] = o.Instant(day * DaySeconds)
		}
		return per
	case z.UTC() || step <= per: // offsets are whole seconds
		step = max(step, 1)
		floorDivs(dst, a, step)
		return step
	}
	floorDivs(dst, a, per)
	for i, s := range dst {
		_, over := text.FloorDiv(s+o.At(s), step/per)
		dst[i] = s - over
	}
	return per
}

// CeilDay is the first day of a period that is not before a day.
func CeilDay(word string, day *big.Int) *big.Int {
	if !day.IsInt64() || day.Int64() > math.MaxInt64/DaySeconds || day.Int64() < math.MinInt64/DaySeconds {
		return day
	}
	d := day.Int64()
	first := Truncations[word](d)
	if first < d {
		first = Truncations[word](first + longest[word])
	}
	return big.NewInt(first)
}

// CeilDiv is the least integer that is not below v/c, for c above 0.
func CeilDiv(v, c *big.Int) *big.Int {
	q, r := new(big.Int).DivMod(v, c, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}
