package text

import "bytes"

// DateOrders is a set of orders of day, month and year.
type DateOrders uint8

// The orders.
const (
	DMY DateOrders = 1 << iota
	MDY
	YMD
)

// String lists the orders as people write them.
func (o DateOrders) String() string {
	name := ""
	for i, s := range []string{"day, month, year", "month, day, year", "year, month, day"} {
		if o&(1<<i) == 0 {
			continue
		}
		if name != "" {
			name += " or "
		}
		name += s
	}
	return name
}

// LooseDate is a date in another notation than ISO 8601, with or without a time of day:
//
//	31.12.2012   12/31/2012 11:59 PM   31-Dec-2012   December 31, 2012 23:59:59.5   2012/12/31   31/12/12
type LooseDate struct {
	ShortYear bool // the year has two digits: 69 to 99 are in the 20th century
	Clock     bool // it has a time of day
	Digits    int  // of the fraction of a second

	parts [3]int
	width [3]int // digits of each part; 0 of the name of a month
	time  Instant
}

// ParseLooseDate reads a date whose parts are separated by one of ". / -" or by spaces. The order is not decided.
func ParseLooseDate(b []byte) (d LooseDate, ok bool) {
	if len(b) < 6 || len(b) > 48 {
		return d, false
	}
	sep := byte(0)
	for i := range d.parts {
		if i > 0 {
			if b, ok = cutSeparator(b, &sep); !ok {
				return d, false
			}
		}
		if d.parts[i], d.width[i], b, ok = cutDatePart(b); !ok {
			return d, false
		}
	}
	names := 0
	for i, w := range d.width {
		if w == 0 {
			if names++; i == 2 || names > 1 {
				return d, false
			}
		}
	}
	if names == 0 && sep == ' ' {
		return d, false
	}
	d.ShortYear = d.width[0] != 4 && d.width[2] == 2
	return d, d.cutClock(b) && d.Orders() != 0
}

// cutDatePart reads a number of one, two or four digits, or the name of a month.
func cutDatePart(b []byte) (v, width int, rest []byte, ok bool) {
	n := CountDigits(b)
	switch n {
	case 0:
		month, n := cutMonth(b)
		return month, 0, b[n:], n > 0
	case 1, 2, 4:
		for _, c := range b[:n] {
			v = v*10 + int(c-'0')
		}
		return v, n, b[n:], true
	}
	return 0, 0, nil, false
}

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// cutMonth reads an English name of a month, or its first three letters and a point if there is one.
func cutMonth(b []byte) (month, n int) {
	for n < len(b) && (b[n]|0x20) >= 'a' && (b[n]|0x20) <= 'z' {
		n++
	}
	name := bytes.ToLower(b[:n])
	for i, full := range monthNames {
		if string(name) == full || string(name) == full[:3] || string(name) == "sept" && i == 8 {
			if n < len(full) && n < len(b) && b[n] == '.' {
				n++
			}
			return i + 1, n
		}
	}
	return 0, 0
}

// cutSeparator reads the separator between parts, which is the same everywhere but for a comma before a space.
func cutSeparator(b []byte, sep *byte) (rest []byte, ok bool) {
	comma := len(b) > 1 && b[0] == ',' && b[1] == ' '
	if comma {
		b = b[1:]
	}
	if len(b) == 0 || b[0] != '.' && b[0] != '/' && b[0] != '-' && b[0] != ' ' || *sep != 0 && *sep != b[0] {
		return nil, false
	}
	*sep = b[0]
	return b[1:], !comma || *sep == ' '
}

// cutClock reads the time of day behind the date, which must be the rest of the text.
func (d *LooseDate) cutClock(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if bytes.HasPrefix(b, []byte(", ")) {
		b = b[1:]
	}
	if b[0] != ' ' && b[0] != 'T' {
		return false
	}
	t, rest, ok := CutClock(bytes.TrimLeft(b[1:], " "), Lenient)
	if !ok {
		return false
	}
	hour := t.Secs / 3600
	switch half := string(bytes.ToLower(bytes.TrimLeft(rest, " "))); {
	case len(half) == 0:
	case half != "am" && half != "pm" && half != "a.m." && half != "p.m." || hour < 1 || hour > 12:
		return false
	default:
		if t.Secs -= hour * 3600; hour < 12 {
			t.Secs += hour * 3600
		}
		if half[0] == 'p' {
			t.Secs += 12 * 3600
		}
	}
	d.time, d.Digits, d.Clock = t, t.Digits, true
	return t.Digits <= 9
}

// Orders are the orders in which the date is a day of the calendar.
func (d *LooseDate) Orders() (all DateOrders) {
	for o := DMY; o <= YMD; o <<= 1 {
		if _, ok := d.day(o); ok {
			all |= o
		}
	}
	return all
}

// day returns the date in an order.
func (d *LooseDate) day(o DateOrders) (int64, bool) {
	year, month, day := 2, 1, 0
	switch o {
	case MDY:
		month, day = 0, 1
	case YMD:
		year, day = 0, 2
	}
	name := -1
	for i, w := range d.width {
		if w == 0 {
			name = i
		}
	}
	if name >= 0 && name != month || d.width[day] > 2 || d.width[month] > 2 {
		return 0, false
	}
	y := int64(d.parts[year])
	switch d.width[year] {
	case 4:
	case 2:
		if o == YMD {
			return 0, false
		}
		if y += 1900; y < 1969 {
			y += 100
		}
	default:
		return 0, false
	}
	return Day(y, d.parts[month], d.parts[day])
}

// Append appends the date in ISO 8601. ok is false if there is no such day in the order.
func (d *LooseDate) Append(dst []byte, o DateOrders) (_ []byte, ok bool) {
	days, ok := d.day(o)
	if !ok {
		return dst, false
	}
	dst = AppendDate(dst, days)
	if !d.Clock {
		return dst, true
	}
	return AppendClock(append(dst, 'T'), d.time.Secs, d.time.Nanos), true
}
