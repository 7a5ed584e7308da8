package tabular

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

const daySeconds = 86400

// floorDiv is a/b and the remainder, rounded down: 0 <= r < b.
func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// civil is the date of a day counted from 1970-01-01, in the proleptic
// Gregorian calendar (days_from_civil of H. Hinnant, chrono-compatible low-level
// date algorithms, turned round).
func civil(days int64) (year int64, month, day int) {
	era, doe := floorDiv(days+719468, 146097)
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
	era, yoe := floorDiv(year, 400)
	doy := int64((153*(month-3)+2)/5 + day - 1)
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendDate appends 2012-12-31; years outside 0–9999 have a sign.
func appendDate(dst []byte, days int64) []byte {
	year, month, day := civil(days)
	if year < 0 || year > 9999 {
		sign := byte('+')
		if year < 0 {
			sign, year = '-', -year
		}
		dst = append(dst, sign)
	}
	if year < 1000 {
		dst = append(dst, "000"[:3-len(strconv.Itoa(int(year)))+1]...)
	}
	dst = strconv.AppendInt(dst, year, 10)
	dst = append2(append(dst, '-'), month)
	return append2(append(dst, '-'), day)
}

// appendFraction appends .123, .123456 or .123456789, or nothing for 0.
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

// appendClock appends 15:04:05.123.
func appendClock(dst []byte, seconds, nanos int64) []byte {
	dst = append2(dst, int(seconds/3600))
	dst = append2(append(dst, ':'), int(seconds/60%60))
	dst = append2(append(dst, ':'), int(seconds%60))
	return appendFraction(dst, nanos)
}

// perSecond is how many of a unit make a second.
func perSecond(u arrow.TimeUnit) int64 {
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

// appendTimestamp appends a time counted from 1970 in units of 1/per seconds.
func appendTimestamp(dst []byte, v, per int64, zoned bool) []byte {
	secs, frac := floorDiv(v, per)
	days, secs := floorDiv(secs, daySeconds)
	dst = appendDate(dst, days)
	dst = appendClock(append(dst, 'T'), secs, frac*(1e9/per))
	if zoned {
		dst = append(dst, 'Z')
	}
	return dst
}

// appendDuration appends the ISO form of v units of 1/per seconds: PT1H2M3.5S.
func appendDuration(dst []byte, v, per int64) []byte {
	if v == 0 {
		return append(dst, "PT0S"...)
	}
	mag := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		mag = -mag
	}
	dst = append(dst, "PT"...)
	secs, frac := mag/uint64(per), mag%uint64(per)
	if h := secs / 3600; h > 0 {
		dst = append(strconv.AppendUint(dst, h, 10), 'H')
	}
	if m := secs / 60 % 60; m > 0 {
		dst = append(strconv.AppendUint(dst, m, 10), 'M')
	}
	if secs%60 > 0 || frac > 0 {
		dst = strconv.AppendUint(dst, secs%60, 10)
		dst = append(appendFraction(dst, int64(frac)*(1e9/per)), 'S')
	}
	return dst
}

// appendInterval appends the ISO form of an interval; each part keeps its sign.
func appendInterval(dst []byte, months, days, nanos int64) []byte {
	dst = append(dst, 'P')
	if months != 0 {
		dst = append(strconv.AppendInt(dst, months, 10), 'M')
	}
	if days != 0 || months == 0 && nanos == 0 {
		dst = append(strconv.AppendInt(dst, days, 10), 'D')
	}
	if nanos != 0 {
		dst = append(dst, 'T')
		mag := uint64(nanos)
		if nanos < 0 {
			dst = append(dst, '-')
			mag = -mag
		}
		dst = strconv.AppendUint(dst, mag/1e9, 10)
		dst = append(appendFraction(dst, int64(mag%1e9)), 'S')
	}
	return dst
}

// instant is a date and time as parsed from text.
type instant struct {
	secs   int64 // since 1970
	nanos  int64 // 0 <= nanos < 1e9
	digits int   // of the fraction, as written
	zoned  bool  // had Z or an offset (which is applied)
	offset bool  // the offset was not 0
}

func digits2(b []byte) int {
	if len(b) < 2 || b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// cutDate reads a date at the start of b and returns what follows it.
func cutDate(b []byte) (days int64, rest []byte, ok bool) {
	neg, width := false, 4
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		neg = b[0] == '-'
		b = b[1:]
		for width = 0; width < len(b) && b[width] >= '0' && b[width] <= '9'; width++ {
		}
		if width < 4 || width > 12 {
			return 0, nil, false
		}
	}
	if len(b) < width+6 || b[width] != '-' || b[width+3] != '-' {
		return 0, nil, false
	}
	year := int64(0)
	for _, c := range b[:width] {
		if c < '0' || c > '9' {
			return 0, nil, false
		}
		year = year*10 + int64(c-'0')
	}
	if neg {
		year = -year
	}
	month, day := digits2(b[width+1:]), digits2(b[width+4:])
	if month < 1 || month > 12 || day < 1 {
		return 0, nil, false
	}
	most := monthDays[month]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		most = 29
	}
	return dayNumber(year, month, day), b[width+6:], day <= most
}

// cutClock reads 15:04, 15:04:05 or 15:04:05.123 at the start of b.
func cutClock(b []byte) (t instant, rest []byte, ok bool) {
	if len(b) < 5 || b[2] != ':' {
		return t, nil, false
	}
	h, m, s := digits2(b), digits2(b[3:]), 0
	b = b[5:]
	if len(b) >= 3 && b[0] == ':' {
		s = digits2(b[1:])
		b = b[3:]
		if len(b) > 1 && b[0] == '.' {
			b = b[1:]
			for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
				if t.digits++; t.digits > 9 {
					return t, nil, false
				}
				t.nanos = t.nanos*10 + int64(b[0]-'0')
				b = b[1:]
			}
			if t.digits == 0 {
				return t, nil, false
			}
			for i := t.digits; i < 9; i++ {
				t.nanos *= 10
			}
		}
	}
	if h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 59 {
		return t, nil, false
	}
	t.secs = int64(h*3600 + m*60 + s)
	return t, b, true
}

// parseInstant reads a whole timestamp: date, "T" or a space, clock, and
// optionally Z, UTC, +hh, +hhmm or +hh:mm.
func parseInstant(b []byte) (instant, bool) {
	days, rest, ok := cutDate(b)
	if !ok || len(rest) < 6 || rest[0] != 'T' && rest[0] != ' ' {
		return instant{}, false
	}
	t, rest, ok := cutClock(rest[1:])
	if !ok {
		return instant{}, false
	}
	t.secs += days * daySeconds
	switch zone := string(rest); {
	case zone == "":
	case zone == "Z", zone == "z", zone == " UTC", zone == "UTC":
		t.zoned = true
	case rest[0] == '+' || rest[0] == '-':
		h, m, ok := cutOffset(rest[1:])
		if !ok {
			return instant{}, false
		}
		off := int64(h*3600 + m*60)
		t.zoned, t.offset = true, off != 0
		if rest[0] == '+' {
			off = -off
		}
		t.secs += off
	default:
		return instant{}, false
	}
	return t, true
}

func cutOffset(b []byte) (h, m int, ok bool) {
	h = digits2(b)
	switch {
	case len(b) == 2:
	case len(b) == 4:
		m = digits2(b[2:])
	case len(b) == 5 && b[2] == ':':
		m = digits2(b[3:])
	default:
		return 0, 0, false
	}
	return h, m, h >= 0 && h <= 23 && m >= 0 && m <= 59
}

var (
	errUnitLoss  = errors.New("has a smaller fraction of a second than the column's unit")
	errTimeRange = errors.New("is outside the range of the column's unit")
)

// scaled is secs and nanos in units of 1/per seconds, exactly.
func scaled(secs, nanos, per int64) (int64, error) {
	step := int64(1e9) / per
	if nanos%step != 0 {
		return 0, errUnitLoss
	}
	if secs < 0 && nanos > 0 { // towards zero, so that the smallest value fits
		secs, nanos = secs+1, nanos-1e9
	}
	if secs > math.MaxInt64/per || secs < math.MinInt64/per {
		return 0, errTimeRange
	}
	v, add := secs*per, nanos/step
	if add > 0 && v > math.MaxInt64-add || add < 0 && v < math.MinInt64-add {
		return 0, errTimeRange
	}
	return v + add, nil
}

// isoDuration is what an ISO 8601 duration adds up to. secs and nanos have the
// same sign.
type isoDuration struct{ months, days, secs, nanos int64 }

// parseDuration reads [-]P[nY][nM][nW][nD][T[nH][nM][n.fS]], where every n may
// have a sign of its own.
func parseDuration(b []byte) (isoDuration, error) {
	var d isoDuration
	bad := fmt.Errorf("is not an ISO 8601 duration such as PT1H30M0.5S")
	s, neg := b, false
	if len(s) > 0 && s[0] == '-' {
		neg, s = true, s[1:]
	}
	if len(s) < 3 || s[0] != 'P' {
		return d, bad
	}
	s = s[1:]
	inTime, parts := false, 0
	for len(s) > 0 {
		if s[0] == 'T' && !inTime {
			inTime, s = true, s[1:]
			continue
		}
		n, frac, unit, rest, ok := cutDurationPart(s)
		if !ok || frac != 0 && (unit != 'S' || !inTime) {
			return d, bad
		}
		if neg {
			n, frac = -n, -frac
		}
		if !d.add(n, frac, unit, inTime) {
			return d, bad
		}
		s = rest
		parts++
	}
	if parts == 0 {
		return d, bad
	}
	return d, nil
}

// cutDurationPart reads a number and its letter. The fraction comes in nanoseconds.
func cutDurationPart(s []byte) (n, frac int64, unit byte, rest []byte, ok bool) {
	sign, i := int64(1), 0
	if s[0] == '-' {
		sign, i = -1, 1
	}
	start := i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if d := int64(s[i] - '0'); n < (math.MinInt64+d)/10 { // counts down, for the smallest value
			return 0, 0, 0, nil, false
		} else {
			n = n*10 - d
		}
	}
	if i == start || i == len(s) || sign > 0 && n == math.MinInt64 {
		return 0, 0, 0, nil, false
	}
	if s[i] == '.' {
		i++
		p := int64(1e8)
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			if p == 0 {
				return 0, 0, 0, nil, false
			}
			frac += int64(s[i]-'0') * p
			p /= 10
		}
		if i == len(s) {
			return 0, 0, 0, nil, false
		}
	}
	return -sign * n, sign * frac, s[i], s[i+1:], true
}

// add adds n of a unit; false if the letter is unknown or the sum overflows.
func (d *isoDuration) add(n, frac int64, unit byte, inTime bool) bool {
	var to *int64
	per := int64(1)
	switch {
	case !inTime && unit == 'Y':
		to, per = &d.months, 12
	case !inTime && unit == 'M':
		to = &d.months
	case !inTime && unit == 'W':
		to, per = &d.days, 7
	case !inTime && unit == 'D':
		to = &d.days
	case inTime && unit == 'H':
		to, per = &d.secs, 3600
	case inTime && unit == 'M':
		to, per = &d.secs, 60
	case inTime && unit == 'S':
		to = &d.secs
	default:
		return false
	}
	if n > math.MaxInt64/per || n < math.MinInt64/per {
		return false
	}
	sum := *to + n*per
	if (sum > *to) != (n > 0) && n != 0 {
		return false
	}
	*to = sum
	d.nanos += frac
	return true
}

// inUnits is the duration without months in units of 1/per seconds.
func (d isoDuration) inUnits(per int64) (int64, error) {
	if d.months != 0 {
		return 0, errors.New("is a number of months, which have no fixed length")
	}
	if d.days > math.MaxInt64/daySeconds/2 || d.days < math.MinInt64/daySeconds/2 {
		return 0, errTimeRange
	}
	extra := d.days * daySeconds
	if (extra > 0 && d.secs > math.MaxInt64-extra) || (extra < 0 && d.secs < math.MinInt64-extra) {
		return 0, errTimeRange
	}
	secs, nanos := d.secs+extra, d.nanos
	if nanos < 0 {
		if secs == math.MinInt64 {
			return 0, errTimeRange
		}
		secs, nanos = secs-1, nanos+1e9
	}
	return scaled(secs, nanos, per)
}
