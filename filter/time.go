package filter

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	datePattern = regexp.MustCompile(`^([+-]?\d{4,7})-(\d{1,2})-(\d{1,2})$`)
	timePattern = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,18})?)?$`)
	zonePattern = regexp.MustCompile(`^([+-])(\d{2}):?(\d{2})?$`)
	partPattern = regexp.MustCompile(`^(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})\s*(d|h|m|s|ms|us|µs|μs|ns)(?:[\s]+|$|[\d.])`)
)

const second = 1_000_000_000 // nanoseconds

// placeTime converts a string to the column's unit; between two ticks of it the
// place is between two values.
func (d *domain) placeTime(l literal) (place, error) {
	if l.kind != litString {
		return place{}, d.mismatch(l, map[family]string{famInstant: "a date: '2001-12-31' or '2001-12-31 23:59:59'",
			famClock: "a time of day: '23:59:59'", famDuration: "a duration: '1h30m'"}[d.family])
	}
	text := strings.TrimSpace(l.text)
	var nanos *big.Rat
	var err error
	switch d.family {
	case famInstant:
		nanos, err = parseInstant(text, d.zone)
	case famClock:
		if nanos = parseClock(text); nanos == nil {
			err = fmt.Errorf("%s is no time of day: write '23:59:59'", l.describe())
		}
	default:
		if nanos = parseDuration(text); nanos == nil {
			err = fmt.Errorf("%s is no duration: write '1h30m'", l.describe())
		}
	}
	if err != nil {
		return place{}, err
	}
	return d.placeRat(nanos.Quo(nanos, new(big.Rat).SetInt64(d.unit))), nil
}

// parseInstant reads a date, with or without a time of day, in nanoseconds since
// 1970. Without a zone of its own it is in the column's, or else in UTC.
func parseInstant(text, zone string) (*big.Rat, error) {
	bad := fmt.Errorf("%q is no date: write '2001-12-31' or '2001-12-31 23:59:59'", shorten(text))
	date, rest := text, ""
	if i := strings.IndexAny(text, "Tt "); i >= 0 {
		date, rest = text[:i], strings.TrimSpace(text[i+1:])
	}
	m := datePattern.FindStringSubmatch(date)
	if m == nil {
		return nil, bad
	}
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if midnight.Month() != time.Month(month) || midnight.Day() != day {
		return nil, fmt.Errorf("there is no %s", date)
	}
	clock, location, err := cutZone(rest, zone)
	if err != nil {
		return nil, err
	}
	nanos := new(big.Rat)
	if clock != "" {
		if nanos = parseClock(clock); nanos == nil {
			return nil, bad
		}
	}
	// The offset of a zone is that at this time of this day.
	whole := new(big.Int).Quo(nanos.Num(), nanos.Denom()).Int64()
	local := time.Date(year, time.Month(month), day, 0, 0, int(whole/second), 0, location)
	_, offset := local.Zone()
	seconds := midnight.Unix() - int64(offset)
	if local.Hour()*3600+local.Minute()*60+local.Second() != int(whole/second) {
		seconds = local.Unix() - whole/second // a time that clocks leave out
	}
	return nanos.Add(nanos, new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(seconds), big.NewInt(second)))), nil
}

// cutZone cuts the zone off a time of day.
func cutZone(clock, zone string) (string, *time.Location, error) {
	if c, ok := strings.CutSuffix(clock, "Z"); ok {
		return c, time.UTC, nil
	}
	if c, ok := strings.CutSuffix(clock, "UTC"); ok {
		return strings.TrimSpace(c), time.UTC, nil
	}
	if i := strings.LastIndexAny(clock, "+-"); i >= 0 {
		location := fixedZone(clock[i:])
		if location == nil {
			return "", nil, fmt.Errorf("%q is no offset from UTC: write '+05:30'", shorten(clock[i:]))
		}
		return strings.TrimSpace(clock[:i]), location, nil
	}
	if zone == "" {
		return clock, time.UTC, nil
	}
	if location := fixedZone(zone); location != nil {
		return clock, location, nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return "", nil, fmt.Errorf("time zone %q is not known here: write the offset from UTC, '2001-12-31 23:59:59+01:00'", shorten(zone))
	}
	return clock, location, nil
}

// fixedZone is an offset, or nil.
func fixedZone(text string) *time.Location {
	m := zonePattern.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	hours, _ := strconv.Atoi(m[2])
	minutes, _ := strconv.Atoi("0" + m[3])
	offset := hours*3600 + minutes*60
	if m[1] == "-" {
		offset = -offset
	}
	return time.FixedZone("", offset)
}

// parseClock reads a time of day in nanoseconds, nil if it is none.
func parseClock(text string) *big.Rat {
	m := timePattern.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	hour, _ := strconv.ParseInt(m[1], 10, 64)
	minute, _ := strconv.ParseInt(m[2], 10, 64)
	seconds, _ := strconv.ParseInt("0"+m[3], 10, 64)
	if hour > 23 || minute > 59 || seconds > 59 {
		return nil
	}
	nanos := new(big.Rat)
	if m[4] != "" {
		nanos.SetString("0" + m[4])
	}
	nanos.Add(nanos, new(big.Rat).SetInt64(hour*3600+minute*60+seconds))
	return nanos.Mul(nanos, new(big.Rat).SetInt64(second))
}

var durationUnits = map[string]int64{
	"d": 86_400 * second, "h": 3600 * second, "m": 60 * second, "s": second, "ms": 1e6, "us": 1e3, "µs": 1e3, "μs": 1e3, "ns": 1,
}

// parseDuration reads 1d2h3.5s, or a clock's 01:02:03, in nanoseconds; nil if it
// is neither.
func parseDuration(text string) *big.Rat {
	text, minus := strings.CutPrefix(text, "-")
	total := parseClock(text)
	if total == nil && text == "0" {
		total = new(big.Rat)
	}
	if total == nil {
		total = new(big.Rat)
		for first := true; first || text != ""; first = false {
			m := partPattern.FindStringSubmatchIndex(text)
			if m == nil {
				return nil
			}
			v, ok := new(big.Rat).SetString(text[m[2]:m[3]])
			if !ok {
				return nil
			}
			total.Add(total, v.Mul(v, new(big.Rat).SetInt64(durationUnits[text[m[4]:m[5]]])))
			text = strings.TrimSpace(text[m[5]:])
		}
	}
	if minus {
		total.Neg(total)
	}
	return total
}
