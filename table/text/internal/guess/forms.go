package guess

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Options are those of CSV that say how values are written. Package text has their meaning.
type Options struct {
	Decimal, Thousands byte
	Dates              DateOrder
	AutoNulls          bool
	True, False        []string
}

// DateOrder is the order of day, month and year in dates other than ISO 8601.
type DateOrder uint8

// The orders of dates. DatesAuto is the only one that is possible for all dates of a column.
const (
	DatesAuto DateOrder = iota
	DatesNone
	DMY
	MDY
	YMD
)

// A form is a notation of values that the common grammar of package text does not have. A value is rewritten, and then
// read as usual.

// numberForm is a notation of numbers. The zero value is the usual one.
type numberForm struct{ decimal, thousands byte }

func (o *Options) numbers() numberForm { return numberForm{o.Decimal, o.Thousands} }

func (f numberForm) usual() bool { return (f.decimal == 0 || f.decimal == '.') && f.thousands == 0 }

// rewrite appends a number with a point and without groups. ok is false if b is no number in this notation: groups have
// three digits, but for the first.
func (f numberForm) rewrite(dst, b []byte) (_ []byte, ok bool) {
	start := len(dst)
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		dst, b = append(dst, b[0]), b[1:]
	}
	n := text.CountDigits(b)
	dst, b = append(dst, b[:n]...), b[n:]
	if f.thousands != 0 && n >= 1 && n <= 3 {
		for len(b) >= 4 && b[0] == f.thousands && text.CountDigits(b[1:4]) == 3 {
			dst, b = append(dst, b[1:4]...), b[4:]
		}
	}
	decimal := f.decimal
	if decimal == 0 {
		decimal = '.'
	}
	if len(b) > 0 && b[0] == decimal {
		n = text.CountDigits(b[1:])
		dst, b = append(append(dst, '.'), b[1:1+n]...), b[1+n:]
	}
	if len(b) > 0 && b[0] != 'e' && b[0] != 'E' {
		return dst, false
	}
	dst = append(dst, b...)
	return dst, text.IsNumber(bytes.TrimPrefix(dst[start:], []byte("+")))
}

// Notations that are proposed if all texts of a column are such numbers.
var (
	decimalComma  = numberForm{decimal: ','}
	commaGroups   = numberForm{thousands: ','}
	pointGroups   = numberForm{decimal: ',', thousands: '.'}
	proposedForms = []numberForm{decimalComma, commaGroups, pointGroups}
)

// flags are the flags that choose the notation.
func (f numberForm) flags() string {
	switch f {
	case decimalComma:
		return "--decimal ,"
	case commaGroups:
		return "--thousands ,"
	}
	return "--decimal , --thousands ."
}

// setter puts the notations of options before the setter of a column.
func (o *Options) setter(set values.Setter, t arrow.DataType, order text.DateOrders) values.Setter {
	switch id := t.ID(); {
	case (arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id)) && !o.numbers().usual():
		return numberSetter(set, o.numbers())
	case (id == arrow.DATE32 || id == arrow.DATE64 || id == arrow.TIMESTAMP) && order != 0:
		return dateSetter(set, order)
	case id == arrow.BOOL && len(o.True)+len(o.False) > 0:
		return func(token []byte) error { return set(o.boolean(token)) }
	}
	return set
}

func numberSetter(set values.Setter, f numberForm) values.Setter {
	var buf []byte
	return func(token []byte) error {
		var ok bool
		if buf, ok = f.rewrite(buf[:0], token); ok {
			return set(buf)
		}
		if text.IsNumber(token) {
			return fmt.Errorf("%q is not a number in the notation of %s", text.Clip(string(token)), f.notation())
		}
		return set(token)
	}
}

// notation names the flags of the options.
func (f numberForm) notation() string {
	s := ""
	if f.decimal != 0 {
		s = fmt.Sprintf("--decimal %c", f.decimal)
	}
	if f.thousands != 0 {
		s += fmt.Sprintf(" --thousands %c", f.thousands)
	}
	return string(bytes.TrimSpace([]byte(s)))
}

func dateSetter(set values.Setter, order text.DateOrders) values.Setter {
	var buf []byte
	return func(token []byte) error {
		if d, ok := text.ParseLooseDate(token); ok {
			if buf, ok = d.Append(buf[:0], order); ok {
				return set(buf)
			}
		}
		return set(token)
	}
}

// boolean rewrites the texts that mean true or false.
func (o *Options) boolean(b []byte) []byte {
	if slices.Contains(o.True, string(b)) {
		return []byte("true")
	}
	if slices.Contains(o.False, string(b)) {
		return []byte("false")
	}
	return b
}

// orders are the orders of dates that the options allow.
func (o *Options) orders() text.DateOrders {
	switch o.Dates {
	case DatesNone:
		return 0
	case DMY:
		return text.DMY
	case MDY:
		return text.MDY
	case YMD:
		return text.YMD
	}
	return text.DMY | text.MDY | text.YMD
}
