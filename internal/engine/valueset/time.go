package valueset

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/text"
)

// placeTime is the place of a time in a string. A time between two ticks of the domain's unit lies between two values.
func (d *Domain) placeTime(l ast.Literal) (place, error) {
	if l.Kind != ast.LitString {
		return place{}, d.mismatch(l, map[family]string{famInstant: "a date: '2001-12-31' or '2001-12-31 23:59:59'",
			famClock: "a time of day: '23:59:59'", famDuration: "a duration: '1h30m'"}[d.family])
	}
	s := strings.TrimSpace(l.Text)
	var nanos *big.Rat
	switch d.family {
	case famInstant:
		var err error
		if nanos, err = parseInstant(s, d.zone); err != nil {
			return place{}, err
		}
	case famClock:
		t, rest, ok := text.CutClock([]byte(s), text.Lenient)
		if !ok || len(rest) > 0 {
			return place{}, fmt.Errorf("%s is no time of day: write '23:59:59'", l.Describe())
		}
		nanos = t.Span()
	default:
		if nanos = text.ParseExactSpan(s); nanos == nil {
			return place{}, fmt.Errorf("%s is no duration: write '1h30m'", l.Describe())
		}
	}
	return d.placeRat(nanos.Quo(nanos, new(big.Rat).SetInt64(d.unit))), nil
}

// parseInstant reads a date, with or without a time of day, as nanoseconds since 1970. A string without a time zone is in
// that of the column, or else in UTC.
func parseInstant(s, zone string) (*big.Rat, error) {
	t, err := text.ParseInstant([]byte(s), text.Lenient)
	switch err {
	case nil:
	case text.ErrNoDay:
		return nil, fmt.Errorf("there is no %s", ast.Shorten(s))
	case text.ErrOffset:
		return nil, fmt.Errorf("%q has no offset from UTC that is one: write '+05:30'", ast.Shorten(s))
	default:
		return nil, fmt.Errorf("%q is no date: write '2001-12-31' or '2001-12-31 23:59:59'", ast.Shorten(s))
	}
	if t.Zoned || zone == "" {
		return t.Span(), nil
	}
	if offset, ok := text.ParseOffset(zone); ok {
		return new(big.Rat).Sub(t.Span(), text.Instant{Secs: offset}.Span()), nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known here: write the offset from UTC, '2001-12-31 23:59:59+01:00'", ast.Shorten(zone))
	}
	return t.In(location).Span(), nil
}
