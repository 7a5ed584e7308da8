package text

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// DaySeconds is the number of seconds of a day.
const DaySeconds = 86400

// Errors of times. Callers add the text.
var (
	ErrNoDay     = errors.New("is not a day of the calendar")
	ErrOffset    = errors.New("has no valid offset from UTC, such as +05:30")
	ErrUnitLoss  = errors.New("has a smaller fraction of a second than the column's unit")
	ErrTimeRange = errors.New("is outside the range of the column's unit")
)

// FloorDiv returns a/b rounded down, and the remainder: 0 <= r < b.
func FloorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// civil returns the date of a day counted from 1970-01-01, in the proleptic Gregorian calendar (the inverse of
// days_from_civil in H. Hinnant, chrono-compatible low-level date algorithms).
func civil(days int64) (year int64, month, day int) {
	era, doe := FloorDiv(days+719468, 146097)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp) + 3
	year = yoe + era*400
	if month > 12 {
		month, year = month-12, year+1
	}
	return year, month, day
}

// dayNumber is the inverse of [civil].
func dayNumber(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era, yoe := FloorDiv(year, 400)
	doy := int64((153*(month-3)+2)/5 + day - 1)
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// AppendDate appends a date such as 2012-12-31. Years outside 0–9999 have a sign.
func AppendDate(dst []byte, days int64) []byte {
	year, month, day := civil(days)
	if year < 0 || year > 9999 {
		sign := byte('+')
		if year < 0 {
			sign, year = '-', -year
		}
		dst = append(dst, sign)
	}
	for p := int64(1000); p > year && p > 1; p /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, year, 10)
	dst = append2(append(dst, '-'), month)
	return append2(append(dst, '-'), day)
}

// appendFraction appends .123, .123456 or .123456789, and nothing for 0.
func appendFraction(dst []byte, nanos int64) []byte {
	if nanos == 0 {
		return dst
	}
	digits := 9
	for nanos%1000 == 0 {
		nanos /= 1000
		digits -= 3
	}
	dst = append(dst, '.')
	for p := int64(math.Pow10(digits - 1)); p > 0; p /= 10 {
		dst = append(dst, byte('0'+nanos/p%10))
	}
	return dst
}

// AppendClock appends a time such as 15:04:05.123.
func AppendClock(dst []byte, seconds, nanos int64) []byte {
	dst = append2(dst, int(seconds/3600))
	dst = append2(append(dst, ':'), int(seconds/60%60))
	dst = append2(append(dst, ':'), int(seconds%60))
	return appendFraction(dst, nanos)
}

// AppendTimeOfDay appends a time of day of v units of 1/per seconds. A value outside of the day, which Arrow does not
// forbid, is written as a duration.
func AppendTimeOfDay(dst []byte, v, per int64) []byte {
	if v < 0 || v >= DaySeconds*per {
		return AppendDuration(dst, v, per)
	}
	return AppendClock(dst, v/per, v%per*(1e9/per))
}

// AppendTimestamp appends a time of v units of 1/per seconds after 1970.
func AppendTimestamp(dst []byte, v, per int64, zoned bool) []byte {
	secs, frac := FloorDiv(v, per)
	days, secs := FloorDiv(secs, DaySeconds)
	dst = AppendDate(dst, days)
	dst = AppendClock(append(dst, 'T'), secs, frac*(1e9/per))
	if zoned {
		dst = append(dst, 'Z')
	}
	return dst
}

// PerSecond is the number of units in a second.
func PerSecond(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1e3
	case arrow.Microsecond:
		return 1e6
	}
	return 1e9
}

// Instant is a date and time, or a time of day, as read from text.
type Instant struct {
	Secs   int64 // since 1970, or since midnight
	Nanos  int64 // 0 <= Nanos < 1e9
	Attos  int64 // below a nanosecond, in 1e-18 s: 0 <= Attos < 1e9
	Digits int   // of the fraction, as written
	Zoned  bool  // the text has Z or an offset, which is applied
	Offset bool  // the offset is not 0
}

func digits2(b []byte) int {
	if len(b) < 2 || b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

// cutNumber2 reads the two digits of a month, day or hour at the start of b. Lenient parsing accepts a single digit.
// It returns the number of digits.
func cutNumber2(b []byte, mode Mode) (v, n int) {
	if v := digits2(b); v >= 0 {
		return v, 2
	}
	if mode == Lenient && len(b) > 0 && b[0]-'0' <= 9 {
		return int(b[0] - '0'), 1
	}
	return -1, 0
}

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// CutDate reads a date at the start of b, as a day counted from 1970-01-01, and returns the rest of b. Lenient
// parsing accepts a month or day of one digit, and years beyond 9999 without a sign. The error is [ErrSyntax] or
// [ErrNoDay].
func CutDate(b []byte, mode Mode) (days int64, rest []byte, err error) {
	neg, signed := false, false
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		neg, signed = b[0] == '-', true
		b = b[1:]
	}
	width := 4
	if signed || mode == Lenient {
		if width = CountDigits(b); width < 4 || width > 12 {
			return 0, nil, ErrSyntax
		}
	}
	if len(b) <= width {
		return 0, nil, ErrSyntax
	}
	year := int64(0)
	for _, c := range b[:width] {
		if c < '0' || c > '9' {
			return 0, nil, ErrSyntax
		}
		year = year*10 + int64(c-'0')
	}
	if neg {
		year = -year
	}
	month, day := -1, -1
	if b = b[width:]; b[0] == '-' {
		n := 0
		month, n = cutNumber2(b[1:], mode)
		if b = b[1+n:]; len(b) > 0 && b[0] == '-' {
			day, n = cutNumber2(b[1:], mode)
			b = b[1+n:]
		}
	}
	if month < 0 || day < 0 {
		return 0, nil, ErrSyntax
	}
	if days, ok := Day(year, month, day); ok {
		return days, b, nil
	}
	return 0, nil, ErrNoDay
}

// Day returns a day of the calendar, counted from 1970-01-01. ok is false if there is no such day.
func Day(year int64, month, day int) (days int64, ok bool) {
	if month < 1 || month > 12 || day < 1 || day > daysOf(year, month) {
		return 0, false
	}
	return dayNumber(year, month, day), true
}

func daysOf(year int64, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return monthDays[month]
}

// CutClock reads 15:04, 15:04:05 or 15:04:05.123 at the start of b. A fraction has at most nine digits. Lenient
// parsing accepts eighteen, and an hour of one digit.
func CutClock(b []byte, mode Mode) (t Instant, rest []byte, ok bool) {
	h, n := cutNumber2(b, mode)
	if h < 0 || len(b) < n+3 || b[n] != ':' {
		return t, nil, false
	}
	m, s := digits2(b[n+1:]), 0
	b = b[n+3:]
	if len(b) >= 3 && b[0] == ':' {
		s = digits2(b[1:])
		if b = b[3:]; len(b) > 1 && b[0] == '.' {
			if b, ok = t.cutFraction(b[1:], mode); !ok {
				return t, nil, false
			}
		}
	}
	if h > 23 || m < 0 || m > 59 || s < 0 || s > 59 {
		return t, nil, false
	}
	t.Secs = int64(h*3600 + m*60 + s)
	return t, b, true
}

// cutFraction reads the digits after the point.
func (t *Instant) cutFraction(b []byte, mode Mode) (rest []byte, ok bool) {
	most := 9
	if mode == Lenient {
		most = 18
	}
	t.Digits = CountDigits(b)
	if t.Digits == 0 || t.Digits > most {
		return nil, false
	}
	for i := range 18 {
		d := int64(0)
		if i < t.Digits {
			d = int64(b[i] - '0')
		} else if i == 9 {
			break
		}
		if i < 9 {
			t.Nanos = t.Nanos*10 + d
		} else {
			t.Attos = t.Attos*10 + d
		}
	}
	return b[t.Digits:], true
}

// ParseInstant reads a date, optionally followed by "T" or a space and a time of day, and then by a zone: Z, UTC,
// +hh, +hhmm or +hh:mm. Strict parsing requires a time of day. The error is [ErrSyntax], [ErrNoDay], [ErrOffset], or
// [ErrTimeRange] if the seconds do not fit 64 bits.
func ParseInstant(b []byte, mode Mode) (Instant, error) {
	days, rest, err := CutDate(b, mode)
	if err != nil {
		return Instant{}, err
	}
	var t Instant
	offset := int64(0)
	switch {
	case len(rest) == 0 && mode == Lenient:
	case len(rest) < 5 || rest[0] != 'T' && rest[0] != ' ' && (mode == Strict || rest[0] != 't'):
		return Instant{}, ErrSyntax
	default:
		if rest = rest[1:]; mode == Lenient {
			rest = bytes.TrimLeft(rest, " ")
		}
		ok := false
		if t, rest, ok = CutClock(rest, mode); !ok {
			return Instant{}, ErrSyntax
		}
		if offset, err = t.cutZone(rest, mode); err != nil {
			return Instant{}, err
		}
	}
	var fits bool
	if t.Secs, fits = addDays(days, t.Secs-offset); !fits {
		return Instant{}, ErrTimeRange
	}
	return t, nil
}

// addDays returns the seconds of some days, plus seconds of less than two days.
func addDays(days, secs int64) (int64, bool) {
	if days < 0 { // towards zero, so that the smallest value fits
		days, secs = days+1, secs-DaySeconds
	}
	if days > math.MaxInt64/DaySeconds || days < math.MinInt64/DaySeconds {
		return 0, false
	}
	v := days * DaySeconds
	if secs > 0 && v > math.MaxInt64-secs || secs < 0 && v < math.MinInt64-secs {
		return 0, false
	}
	return v + secs, true
}

// cutZone reads a zone, which must be the whole text, and returns its offset from UTC in seconds.
func (t *Instant) cutZone(b []byte, mode Mode) (int64, error) {
	if mode == Lenient {
		b = bytes.TrimLeft(b, " ")
	}
	switch string(b) {
	case "":
		return 0, nil
	case "Z", "z", " UTC", "UTC":
		t.Zoned = true
		return 0, nil
	}
	offset, ok := ParseOffset(string(b))
	if !ok {
		if b[0] == '+' || b[0] == '-' {
			return 0, ErrOffset
		}
		return 0, ErrSyntax
	}
	t.Zoned, t.Offset = true, offset != 0
	return offset, nil
}

// ParseOffset reads an offset from UTC, +hh, +hhmm or +hh:mm, in seconds.
func ParseOffset(s string) (int64, bool) {
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	b := []byte(s[1:])
	h, m := digits2(b), 0
	switch {
	case len(b) == 2:
	case len(b) == 4:
		m = digits2(b[2:])
	case len(b) == 5 && b[2] == ':':
		m = digits2(b[3:])
	default:
		return 0, false
	}
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	offset := int64(h*3600 + m*60)
	if s[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// In converts local time at a place to UTC. A local time in a gap, as at the start of summer time, is moved behind
// the gap.
func (t Instant) In(location *time.Location) Instant {
	days, clock := FloorDiv(t.Secs, DaySeconds)
	year, month, day := civil(days)
	if year < -9999 || year > 99999 { // zones have no rules that far away
		return t
	}
	local := time.Date(int(year), time.Month(month), day, 0, 0, int(clock), 0, location)
	t.Secs = local.Unix()
	return t
}

// Scale returns secs and nanos in units of 1/per seconds, exactly.
func Scale(secs, nanos, per int64) (int64, error) {
	step := int64(1e9) / per
	if nanos%step != 0 {
		return 0, ErrUnitLoss
	}
	if secs < 0 && nanos > 0 { // towards zero, so that the smallest value fits
		secs, nanos = secs+1, nanos-1e9
	}
	if secs > math.MaxInt64/per || secs < math.MinInt64/per {
		return 0, ErrTimeRange
	}
	v, add := secs*per, nanos/step
	if add > 0 && v > math.MaxInt64-add || add < 0 && v < math.MinInt64-add {
		return 0, ErrTimeRange
	}
	return v + add, nil
}

// InUnits returns an instant in units of 1/per seconds, exactly.
func (t Instant) InUnits(per int64) (int64, error) {
	if t.Attos != 0 {
		return 0, ErrUnitLoss
	}
	return Scale(t.Secs, t.Nanos, per)
}
