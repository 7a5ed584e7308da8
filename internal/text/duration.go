package text

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// AppendDuration appends v units of 1/per seconds as an ISO 8601 duration: PT1H2M3.5S.
func AppendDuration(dst []byte, v, per int64) []byte {
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

// AppendInterval appends an interval as an ISO 8601 duration. Each part keeps its sign.
func AppendInterval(dst []byte, months, days, nanos int64) []byte {
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

// Duration is the sum of the parts of an ISO 8601 duration. Secs and Nanos have the same sign.
type Duration struct{ Months, Days, Secs, Nanos int64 }

// ErrDuration means that a text is not a duration.
var ErrDuration = errors.New("is not an ISO 8601 duration such as PT1H30M0.5S")

// ParseDuration reads [-]P[nY][nM][nW][nD][T[nH][nM][n.fS]]. Each n may have its own sign.
func ParseDuration(b []byte) (Duration, error) {
	var d Duration
	s, neg := b, false
	if len(s) > 0 && s[0] == '-' {
		neg, s = true, s[1:]
	}
	if len(s) < 3 || s[0] != 'P' {
		return d, ErrDuration
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
			return d, ErrDuration
		}
		if neg {
			n, frac = -n, -frac
		}
		if !d.add(n, frac, unit, inTime) {
			return d, ErrDuration
		}
		s = rest
		parts++
	}
	if parts == 0 {
		return d, ErrDuration
	}
	return d, nil
}

// cutDurationPart reads a number and its letter. The fraction is in nanoseconds.
func cutDurationPart(s []byte) (n, frac int64, unit byte, rest []byte, ok bool) {
	sign, i := int64(1), 0
	if s[0] == '-' {
		sign, i = -1, 1
	}
	start := i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if d := int64(s[i] - '0'); n < (math.MinInt64+d)/10 { // negative, so that the smallest value fits
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

// add adds n of a unit. It returns false if the letter is unknown or the sum overflows.
func (d *Duration) add(n, frac int64, unit byte, inTime bool) bool {
	var to *int64
	per := int64(1)
	switch {
	case !inTime && unit == 'Y':
		to, per = &d.Months, 12
	case !inTime && unit == 'M':
		to = &d.Months
	case !inTime && unit == 'W':
		to, per = &d.Days, 7
	case !inTime && unit == 'D':
		to = &d.Days
	case inTime && unit == 'H':
		to, per = &d.Secs, 3600
	case inTime && unit == 'M':
		to, per = &d.Secs, 60
	case inTime && unit == 'S':
		to = &d.Secs
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
	d.Nanos += frac
	return true
}

// InUnits returns a duration without months in units of 1/per seconds.
func (d Duration) InUnits(per int64) (int64, error) {
	if d.Months != 0 {
		return 0, errors.New("is a number of months, which have no fixed length")
	}
	if d.Days > math.MaxInt64/DaySeconds/2 || d.Days < math.MinInt64/DaySeconds/2 {
		return 0, ErrTimeRange
	}
	extra := d.Days * DaySeconds
	if (extra > 0 && d.Secs > math.MaxInt64-extra) || (extra < 0 && d.Secs < math.MinInt64-extra) {
		return 0, ErrTimeRange
	}
	secs, nanos := d.Secs+extra, d.Nanos
	if nanos < 0 {
		if secs == math.MinInt64 {
			return 0, ErrTimeRange
		}
		secs, nanos = secs-1, nanos+1e9
	}
	return Scale(secs, nanos, per)
}

const second = 1_000_000_000 // nanoseconds

// spanUnits are the units of [ParseExactSpan] in nanoseconds, longer names first.
var spanUnits = []struct {
	name  string
	nanos int64
}{
	{"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ns", 1},
	{"d", DaySeconds * second}, {"h", 3600 * second}, {"m", 60 * second}, {"s", second},
}

// ParseExactSpan reads a length of time in nanoseconds: 1d2h3.5s, 01:02:03, or an ISO 8601 duration without months
// such as PT1H2M3S. It returns nil for other text. A fraction has at most eighteen digits.
func ParseExactSpan(s string) *big.Rat {
	if d, err := ParseDuration([]byte(s)); err == nil {
		return d.span()
	}
	s, minus := strings.CutPrefix(s, "-")
	total := parseUnits(s)
	if t, rest, ok := CutClock([]byte(s), Lenient); ok && len(rest) == 0 {
		total = t.Span()
	}
	if total != nil && minus {
		total.Neg(total)
	}
	return total
}

// ParseSpan is [ParseExactSpan] in units of 1/per seconds.
func ParseSpan(s string, per int64) (int64, error) {
	v := ParseExactSpan(s)
	if v == nil {
		return 0, ErrDuration
	}
	switch v.Quo(v, new(big.Rat).SetInt64(second/per)); {
	case !v.IsInt():
		return 0, ErrUnitLoss
	case !v.Num().IsInt64():
		return 0, ErrTimeRange
	}
	return v.Num().Int64(), nil
}

// Span returns an instant in nanoseconds, exactly.
func (t Instant) Span() *big.Rat { return exactNanos(t.Secs, t.Nanos, t.Attos) }

func (d Duration) span() *big.Rat {
	if d.Months != 0 {
		return nil
	}
	days := exactNanos(d.Days, 0, 0)
	return days.Add(days.Mul(days, new(big.Rat).SetInt64(DaySeconds)), exactNanos(d.Secs, d.Nanos, 0))
}

func exactNanos(secs, nanos, attos int64) *big.Rat {
	v := new(big.Rat).SetInt64(secs)
	v.Mul(v, new(big.Rat).SetInt64(second))
	v.Add(v, new(big.Rat).SetInt64(nanos))
	if attos != 0 {
		v.Add(v, big.NewRat(attos, second))
	}
	return v
}

// parseUnits reads numbers with units, and a 0 without a unit. It returns nil for other text.
func parseUnits(s string) *big.Rat {
	total := new(big.Rat)
	if s == "0" {
		return total
	}
	for first := true; first || s != ""; first = false {
		whole := CountDigits([]byte(s))
		n, fraction := whole, 0
		if n < len(s) && s[n] == '.' {
			fraction = CountDigits([]byte(s[n+1:]))
			n += 1 + fraction
		}
		v, ok := new(big.Rat).SetString(s[:n])
		if whole+fraction == 0 || whole > 18 || fraction > 18 || !ok {
			return nil
		}
		s = strings.TrimLeft(s[n:], " ")
		unit := int64(0)
		for _, u := range spanUnits {
			if rest, ok := strings.CutPrefix(s, u.name); ok {
				s, unit = strings.TrimLeft(rest, " "), u.nanos
				break
			}
		}
		if unit == 0 || s != "" && s[0] != '.' && s[0]-'0' > 9 {
			return nil
		}
		total.Add(total, v.Mul(v, new(big.Rat).SetInt64(unit)))
	}
	return total
}
