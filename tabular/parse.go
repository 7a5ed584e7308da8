package tabular

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
)

// A column whose type was inferred takes only text that its type holds without
// losing anything that the text says; a column whose type the caller fixed takes
// what converts: leading zeros, "+5", and numbers that round to the nearest float.
type strictness bool

const (
	inferred strictness = true
	fixed    strictness = false
)

// setter appends the value that a text stands for to a builder. It keeps no
// reference to the text. After an error nothing was appended.
type setter func(text []byte) error

// newSetter makes the setter of a builder. Only types that have a text form can be set.
func newSetter(b array.Builder, strict strictness) (setter, error) {
	if s := integerSetter(b, strict); s != nil {
		return s, nil
	}
	if s := timeSetter(b); s != nil {
		return s, nil
	}
	switch b := b.(type) {
	case *array.NullBuilder:
		return func(text []byte) error {
			if len(text) > 0 {
				return fmt.Errorf("%q in a column of type null", clip(string(text)))
			}
			b.AppendNull()
			return nil
		}, nil
	case *array.BooleanBuilder:
		return func(text []byte) error {
			v, ok := parseBool(text)
			if !ok {
				return unfit(text, b.Type())
			}
			b.Append(v)
			return nil
		}, nil
	case *array.Float16Builder:
		return floatSetter(b.Type(), 32, strict, func(v float64) error {
			h := float16.New(float32(v))
			if bool(strict) && float64(h.Float32()) != v && v == v {
				return errors.New("has more digits than a float16 holds")
			}
			b.Append(h)
			return nil
		}), nil
	case *array.Float32Builder:
		return floatSetter(b.Type(), 32, strict, func(v float64) error { b.Append(float32(v)); return nil }), nil
	case *array.Float64Builder:
		return floatSetter(b.Type(), 64, strict, func(v float64) error { b.Append(v); return nil }), nil
	case *array.BinaryDictionaryBuilder:
		return dictionarySetter(b)
	case interface{ StorageBuilder() array.Builder }:
		return extensionSetter(b.(array.Builder), b.StorageBuilder(), strict)
	}
	if s := decimalSetter(b); s != nil {
		return s, nil
	}
	if s := bytesSetter(b); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("type %s cannot be read from text", TypeText(b.Type()))
}

func unfit(text []byte, t arrow.DataType) error {
	return fmt.Errorf("%q is not %s", clip(string(text)), withArticle(TypeText(t)))
}

func withArticle(name string) string {
	if name != "" && bytes.IndexByte([]byte("aeio"), name[0]) >= 0 {
		return "an " + name
	}
	return "a " + name
}

func parseBool(b []byte) (v, ok bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// timeSetter is for the types of dates, times and spans of time.
func timeSetter(b array.Builder) setter {
	switch b := b.(type) {
	case *array.Date32Builder:
		return func(text []byte) error {
			days, rest, ok := cutDate(text)
			if !ok || len(rest) > 0 || days != int64(int32(days)) {
				return unfit(text, b.Type())
			}
			b.Append(arrow.Date32(days))
			return nil
		}
	case *array.Date64Builder:
		return date64Setter(b)
	case *array.Time32Builder:
		return clockSetter(b.Type(), perSecond(b.Type().(*arrow.Time32Type).Unit), func(v int64) { b.Append(arrow.Time32(v)) })
	case *array.Time64Builder:
		return clockSetter(b.Type(), perSecond(b.Type().(*arrow.Time64Type).Unit), func(v int64) { b.Append(arrow.Time64(v)) })
	case *array.TimestampBuilder:
		return timestampSetter(b)
	case *array.DurationBuilder:
		return durationSetter(b)
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

func date64Setter(b *array.Date64Builder) setter {
	return func(text []byte) error {
		days, rest, ok := cutDate(text)
		t := instant{secs: days * daySeconds}
		if ok && len(rest) > 0 {
			t, ok = parseInstant(text)
		}
		if !ok || t.zoned {
			return unfit(text, b.Type())
		}
		v, err := scaled(t.secs, t.nanos, 1000)
		if err != nil {
			return numberError(text, b.Type(), err)
		}
		b.Append(arrow.Date64(v))
		return nil
	}
}

func clockSetter(dt arrow.DataType, per int64, add func(int64)) setter {
	return func(text []byte) error {
		t, rest, ok := cutClock(text)
		if !ok || len(rest) > 0 {
			return unfit(text, dt)
		}
		v, err := scaled(t.secs, t.nanos, per)
		if err != nil {
			return numberError(text, dt, err)
		}
		add(v)
		return nil
	}
}

// timestampSetter wants a zone where the type has one, and none where it has none.
func timestampSetter(b *array.TimestampBuilder) setter {
	dt := b.Type().(*arrow.TimestampType)
	per, zoned := perSecond(dt.Unit), dt.TimeZone != ""
	return func(text []byte) error {
		t, ok := parseInstant(text)
		if days, rest, isDate := cutDate(text); !ok && isDate && len(rest) == 0 && !zoned {
			t, ok = instant{secs: days * daySeconds}, true
		}
		switch {
		case !ok:
			return unfit(text, dt)
		case zoned && !t.zoned:
			return fmt.Errorf("%q has no zone, as %s needs", clip(string(text)), TypeText(dt))
		case t.zoned && !zoned:
			return fmt.Errorf("%q has a zone, which %s does not keep", clip(string(text)), TypeText(dt))
		}
		v, err := scaled(t.secs, t.nanos, per)
		if err != nil {
			return numberError(text, dt, err)
		}
		b.Append(arrow.Timestamp(v))
		return nil
	}
}

func durationSetter(b *array.DurationBuilder) setter {
	per := perSecond(b.Type().(*arrow.DurationType).Unit)
	return func(text []byte) error {
		d, err := parseDuration(text)
		if err != nil {
			return numberError(text, b.Type(), err)
		}
		v, err := d.inUnits(per)
		if err != nil {
			return numberError(text, b.Type(), err)
		}
		b.Append(arrow.Duration(v))
		return nil
	}
}

// intervalSetter reads the parts; add appends them, or returns false if its
// type cannot keep all of them.
func intervalSetter(dt arrow.DataType, add func(months, days int32, nanos int64) bool) setter {
	return func(text []byte) error {
		d, err := parseDuration(text)
		if err != nil {
			return numberError(text, dt, err)
		}
		nanos, err := isoDuration{secs: d.secs, nanos: d.nanos}.inUnits(1e9)
		if err != nil || d.months != int64(int32(d.months)) || d.days != int64(int32(d.days)) ||
			!add(int32(d.months), int32(d.days), nanos) {
			return fmt.Errorf("%q does not fit %s", clip(string(text)), TypeText(dt))
		}
		return nil
	}
}

var errUTF8 = errors.New("is not valid UTF-8; convert the input to UTF-8 first")

func bytesSetter(b array.Builder) setter {
	type textBuilder interface {
		array.Builder
		Append(string)
	}
	switch b := b.(type) {
	case *array.BinaryBuilder:
		if b.Type().ID() == arrow.BINARY || b.Type().ID() == arrow.LARGE_BINARY {
			return base64Setter(b.Type(), -1, b.Append)
		}
	case *array.BinaryViewBuilder:
		return base64Setter(b.Type(), -1, b.Append)
	case *array.FixedSizeBinaryBuilder:
		return base64Setter(b.Type(), b.Type().(*arrow.FixedSizeBinaryType).ByteWidth, b.Append)
	case *array.StringBuilder:
		return textSetter(b.BinaryBuilder.Append)
	case *array.LargeStringBuilder:
		return textSetter(b.BinaryBuilder.Append)
	case textBuilder:
		return textSetter(func(v []byte) { b.Append(string(v)) })
	}
	return nil
}

func textSetter(add func([]byte)) setter {
	return func(text []byte) error {
		if !utf8.Valid(text) {
			return fmt.Errorf("%q %w", clip(string(text)), errUTF8)
		}
		add(text)
		return nil
	}
}

func base64Setter(dt arrow.DataType, width int, add func([]byte)) setter {
	var buf []byte
	return func(text []byte) error {
		var err error
		if buf, err = base64.StdEncoding.AppendDecode(buf[:0], text); err != nil {
			return fmt.Errorf("%q is not base64, as %s needs", clip(string(text)), TypeText(dt))
		}
		if width >= 0 && len(buf) != width {
			return fmt.Errorf("%q has %d bytes, not %d", clip(string(text)), len(buf), width)
		}
		add(buf)
		return nil
	}
}

func dictionarySetter(b *array.BinaryDictionaryBuilder) (setter, error) {
	if id := b.Type().(*arrow.DictionaryType).ValueType.ID(); id != arrow.STRING && id != arrow.LARGE_STRING {
		return nil, fmt.Errorf("type %s cannot be read from text", TypeText(b.Type()))
	}
	return func(text []byte) error {
		if !utf8.Valid(text) {
			return fmt.Errorf("%q %w", clip(string(text)), errUTF8)
		}
		return b.Append(text)
	}, nil
}

// extensionSetter reads the text forms of json, uuid and bool8, and that of the
// storage type for the rest.
func extensionSetter(b, storage array.Builder, strict strictness) (setter, error) {
	name := b.Type().(arrow.ExtensionType).ExtensionName()
	switch s := storage.(type) {
	case *array.FixedSizeBinaryBuilder:
		if name == "arrow.uuid" {
			return func(text []byte) error {
				v, ok := parseUUID(text)
				if !ok {
					return unfit(text, b.Type())
				}
				s.Append(v[:])
				return nil
			}, nil
		}
	case *array.Int8Builder:
		if name == "arrow.bool8" {
			return func(text []byte) error {
				v, ok := parseBool(text)
				if !ok {
					return unfit(text, b.Type())
				}
				n := int8(0)
				if v {
					n = 1
				}
				s.Append(n)
				return nil
			}, nil
		}
	}
	set, err := newSetter(storage, strict)
	if err != nil || name != "arrow.json" {
		return set, err
	}
	return func(text []byte) error {
		if !validJSON(text) {
			return unfit(text, b.Type())
		}
		return set(text)
	}, nil
}

func parseUUID(b []byte) (v [16]byte, ok bool) {
	if len(b) != 36 || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return v, false
	}
	at := 0
	for i := range v {
		if b[at] == '-' {
			at++
		}
		n, err := strconv.ParseUint(string(b[at:at+2]), 16, 8)
		if err != nil || b[at] == '+' {
			return v, false
		}
		v[i] = byte(n)
		at += 2
	}
	return v, true
}

// Parser gives a function that appends the value that a text stands for to a
// builder, as [Text] writes it. It is for types that hold one value each. After
// an error nothing was appended.
func Parser(b array.Builder) (func(text []byte) error, error) { return newSetter(b, fixed) }
