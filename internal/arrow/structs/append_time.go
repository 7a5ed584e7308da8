package structs

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

const day = 24 * time.Hour

// newTimeAppender refuses values that the Arrow type cannot hold exactly.
func newTimeAppender(n *node) appender {
	switch dt := n.dt.(type) {
	case *arrow.TimestampType:
		return converted(n, func(t time.Time) (int64, error) { return unixIn(t, dt.Unit.Multiplier(), dt) })
	case *arrow.Date32Type:
		return converted(n, func(t time.Time) (int32, error) { return dateOf(t, dt) })
	case *arrow.Date64Type:
		return converted(n, func(t time.Time) (int64, error) {
			days, err := daysOf(t, dt)
			return days * day.Milliseconds(), err
		})
	case *arrow.Time32Type:
		return converted(n, func(d time.Duration) (int32, error) {
			x, err := timeOfDay(d, dt.Unit.Multiplier(), dt)
			return int32(x), err
		})
	case *arrow.Time64Type:
		return converted(n, func(d time.Duration) (int64, error) { return timeOfDay(d, dt.Unit.Multiplier(), dt) })
	}
	dt := n.dt.(*arrow.DurationType)
	if dt.Unit == arrow.Nanosecond {
		return newFixedAppender(n)
	}
	return converted(n, func(d time.Duration) (int64, error) { return multiple(d, dt.Unit.Multiplier(), dt) })
}

func inexact(v fmt.Stringer, dt arrow.DataType) error {
	return fmt.Errorf("%s is not a value of %s", v, dt)
}

// unixIn is the units since 1970.
func unixIn(t time.Time, unit time.Duration, dt arrow.DataType) (int64, error) {
	perSecond := int64(time.Second / unit)
	s, ns := t.Unix(), int64(t.Nanosecond())
	if ns%int64(unit) != 0 {
		return 0, inexact(t, dt)
	}
	part := ns / int64(unit)
	// The product of a time before 1970 and the part have different signs, so that only the sum needs to fit.
	if s < 0 && part > 0 {
		s, part = s+1, part-perSecond
	}
	if s > math.MaxInt64/perSecond || s < math.MinInt64/perSecond {
		return 0, inexact(t, dt)
	}
	x := s * perSecond
	if part > 0 && x > math.MaxInt64-part || part < 0 && x < math.MinInt64-part {
		return 0, inexact(t, dt)
	}
	return x + part, nil
}

const daySeconds = int64(day / time.Second)

// dateOf is daysOf as a date32.
func dateOf(t time.Time, dt arrow.DataType) (int32, error) {
	days, err := daysOf(t, dt)
	if err == nil && days != int64(int32(days)) {
		err = inexact(t, dt)
	}
	return int32(days), err
}

// daysOf is the days since 1970 of a time that is midnight in UTC.
func daysOf(t time.Time, dt arrow.DataType) (int64, error) {
	if t.Unix()%daySeconds != 0 || t.Nanosecond() != 0 {
		return 0, inexact(t, dt)
	}
	return t.Unix() / daySeconds, nil
}

func timeOfDay(d, unit time.Duration, dt arrow.DataType) (int64, error) {
	if d < 0 || d >= day {
		return 0, inexact(d, dt)
	}
	return multiple(d, unit, dt)
}

func multiple(d, unit time.Duration, dt arrow.DataType) (int64, error) {
	if d%unit != 0 {
		return 0, inexact(d, dt)
	}
	return int64(d / unit), nil
}
