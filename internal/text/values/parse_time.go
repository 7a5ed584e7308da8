package values

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text"
)

// timeSetter reads dates, times and lengths of time.
func timeSetter(b array.Builder, mode text.Mode) Setter {
	switch b := b.(type) {
	case *array.Date32Builder:
		return func(token []byte) error {
			days, rest, err := text.CutDate(token, mode)
			if err != nil || len(rest) > 0 || days != int64(int32(days)) {
				return unfit(token, b.Type())
			}
			b.Append(arrow.Date32(days))
			return nil
		}
	case *array.Date64Builder:
		return date64Setter(b, mode)
	case *array.Time32Builder:
		return clockSetter(b.Type(), mode, text.PerSecond(b.Type().(*arrow.Time32Type).Unit), func(v int64) { b.Append(arrow.Time32(v)) })
	case *array.Time64Builder:
		return clockSetter(b.Type(), mode, text.PerSecond(b.Type().(*arrow.Time64Type).Unit), func(v int64) { b.Append(arrow.Time64(v)) })
	case *array.TimestampBuilder:
		return timestampSetter(b, mode)
	case *array.DurationBuilder:
		return durationSetter(b, mode)
	case *array.MonthIntervalBuilder:
		return intervalSetter(b.Type(), func(months, days int32, nanos int64) bool {
			if days != 0 || nanos != 0 {
				return false
			}
			b.Append(arrow.MonthInterval(months))
			return true
		})
	case *array.DayTimeIntervalBuilder:
		return intervalSetter(b.Type(), func(months, days int32, nanos int64) bool {
			ms := nanos / 1e6
			if months != 0 || nanos%1e6 != 0 || ms != int64(int32(ms)) {
				return false
			}
			b.Append(arrow.DayTimeInterval{Days: days, Milliseconds: int32(ms)})
			return true
		})
	case *array.MonthDayNanoIntervalBuilder:
		return intervalSetter(b.Type(), func(months, days int32, nanos int64) bool {
			b.Append(arrow.MonthDayNanoInterval{Months: months, Days: days, Nanoseconds: nanos})
			return true
		})
	}
	return nil
}

// date64Setter reads a date, with or without a time of day.
func date64Setter(b *array.Date64Builder, mode text.Mode) Setter {
	return func(token []byte) error {
		t, err := parseInstant(token, mode)
		if err != nil || t.Zoned {
			return unfit(token, b.Type())
		}
		v, err := t.InUnits(1000)
		if err != nil {
			return numberError(token, b.Type(), err)
		}
		b.Append(arrow.Date64(v))
		return nil
	}
}

// parseInstant is [text.ParseInstant], and accepts a date alone in any mode.
func parseInstant(token []byte, mode text.Mode) (text.Instant, error) {
	t, err := text.ParseInstant(token, mode)
	if err == text.ErrSyntax && mode == text.Strict && len(token) <= len("+292277026596-12-04") {
		if _, rest, dateErr := text.CutDate(token, mode); dateErr == nil && len(rest) == 0 {
			return text.ParseInstant(token, text.Lenient)
		}
	}
	return t, err
}

func clockSetter(dt arrow.DataType, mode text.Mode, per int64, add func(int64)) Setter {
	return func(token []byte) error {
		t, rest, ok := text.CutClock(token, mode)
		if !ok || len(rest) > 0 {
			return unfit(token, dt)
		}
		v, err := t.InUnits(per)
		if err != nil {
			return numberError(token, dt, err)
		}
		add(v)
		return nil
	}
}

// timestampSetter requires a zone if the type has one, and refuses a zone otherwise.
func timestampSetter(b *array.TimestampBuilder, mode text.Mode) Setter {
	dt := b.Type().(*arrow.TimestampType)
	per, zoned := text.PerSecond(dt.Unit), dt.TimeZone != ""
	return func(token []byte) error {
		t, err := parseInstant(token, mode)
		switch {
		case err != nil:
			return numberError(token, dt, err)
		case zoned && !t.Zoned:
			return fmt.Errorf("%q has no time zone, which %s requires", text.Clip(string(token)), text.Type(dt))
		case t.Zoned && !zoned:
			return fmt.Errorf("%q has a time zone, which %s does not hold", text.Clip(string(token)), text.Type(dt))
		}
		v, err := t.InUnits(per)
		if err != nil {
			return numberError(token, dt, err)
		}
		b.Append(arrow.Timestamp(v))
		return nil
	}
}

// durationSetter reads ISO 8601 durations. Lenient parsing accepts 1h30m, too.
func durationSetter(b *array.DurationBuilder, mode text.Mode) Setter {
	per := text.PerSecond(b.Type().(*arrow.DurationType).Unit)
	return func(token []byte) error {
		d, err := text.ParseDuration(token)
		v := int64(0)
		switch {
		case err == nil:
			v, err = d.InUnits(per)
		case mode == text.Lenient:
			v, err = text.ParseSpan(string(token), per)
		}
		if err != nil {
			return numberError(token, b.Type(), err)
		}
		b.Append(arrow.Duration(v))
		return nil
	}
}

// intervalSetter reads the parts of an interval. add appends them, or returns false if its type cannot hold them all.
func intervalSetter(dt arrow.DataType, add func(months, days int32, nanos int64) bool) Setter {
	return func(token []byte) error {
		d, err := text.ParseDuration(token)
		if err != nil {
			return numberError(token, dt, err)
		}
		nanos, err := text.Duration{Secs: d.Secs, Nanos: d.Nanos}.InUnits(1e9)
		if err != nil || d.Months != int64(int32(d.Months)) || d.Days != int64(int32(d.Days)) ||
			!add(int32(d.Months), int32(d.Days), nanos) {
			return fmt.Errorf("%q does not fit %s", text.Clip(string(token)), text.Type(dt))
		}
		return nil
	}
}
