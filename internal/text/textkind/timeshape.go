package textkind

import (
	"bytes"
	"strings"

	"github.com/amudai/amudai-go/internal/text"
)

// TimeShape returns the spelling of a date, a time or both, such as "yyyy-mm-dd hh:mm:ss +hh:mm". ok is false for other
// texts. The parts of dates whose order is open are "nn/nn/yyyy".
func TimeShape(b []byte) (shape string, ok bool) {
	if len(b) < 4 || len(b) > Longest {
		return "", false
	}
	date, rest := dateShape(b)
	clock, behind := rest, rest
	separator := ""
	if date != "" && len(rest) > 0 {
		separator = string(rest[:1])
		if separator != "T" && separator != " " && separator != ":" {
			return "", false
		}
		clock = bytes.TrimLeft(rest[1:], " ")
	}
	s, behind := clockShape(clock)
	switch {
	case s == "" && (date == "" || len(rest) > 0):
		return "", false
	case s == "":
		return date, true
	case date == "":
		separator = ""
	}
	zone, ok := zoneShape(behind)
	return date + separator + s + zone, ok
}

// group is a run of digits.
func group(b []byte) (digits, rest []byte) {
	n := text.CountDigits(b)
	return b[:n], b[n:]
}

func upTo(digits []byte, most int) bool {
	if len(digits) == 0 || len(digits) > 2 {
		return false
	}
	v := 0
	for _, c := range digits {
		v = v*10 + int(c-'0')
	}
	return v <= most
}

// dateShape reads a date at the start of b. The shape is "" if there is none.
func dateShape(b []byte) (shape string, rest []byte) {
	if s, rest, ok := namedDate(b); ok {
		return s, rest
	}
	first, x := group(b)
	if len(first) == 0 || len(x) == 0 || !strings.Contains("-/.", string(x[:1])) {
		return "", b
	}
	sep := string(x[:1])
	second, y := group(x[1:])
	if len(second) == 0 {
		return monthDate(b, first, sep, x[1:])
	}
	if len(y) == 0 || string(y[:1]) != sep {
		return "", b
	}
	third, rest := group(y[1:])
	switch {
	case len(first) == 4 && upTo(second, 12) && upTo(third, 31):
		return "yyyy" + sep + "mm" + sep + "dd", rest
	case len(third) != 4 && (len(third) != 2 || sep == "."), !upTo(first, 31), !upTo(second, 31), !upTo(first, 12) && !upTo(second, 12):
		return "", b
	}
	year := strings.Repeat("y", len(third))
	switch {
	case sep == "." || !upTo(first, 12):
		return "dd" + sep + "mm" + sep + year, rest
	case !upTo(second, 12):
		return "mm" + sep + "dd" + sep + year, rest
	}
	return "nn" + sep + "nn" + sep + year, rest
}

// isMonth reports whether three letters begin the name of a month, and isDay that of a day of the week.
func isMonth(b []byte) bool {
	switch string([]byte{b[0] | 0x20, b[1] | 0x20, b[2] | 0x20}) {
	case "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec":
		return true
	}
	return false
}

func isDay(b []byte) bool {
	switch string([]byte{b[0] | 0x20, b[1] | 0x20, b[2] | 0x20}) {
	case "mon", "tue", "wed", "thu", "fri", "sat", "sun":
		return true
	}
	return false
}

// month reads the name of a month.
func month(b []byte) (rest []byte, ok bool) {
	if len(b) < 3 || !isMonth(b) {
		return b, false
	}
	n := letters(b)
	return b[n:], n <= 9
}

func letters(b []byte) (n int) {
	for n < len(b) && (b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// monthDate reads the rest of 05-Jan-2024 behind the day.
func monthDate(whole, day []byte, sep string, b []byte) (string, []byte) {
	rest, ok := month(b)
	if !ok || !upTo(day, 31) || len(rest) == 0 || string(rest[:1]) != sep {
		return "", whole
	}
	year, rest := group(rest[1:])
	if len(year) != 4 && len(year) != 2 {
		return "", whole
	}
	return "dd" + sep + "mon" + sep + strings.Repeat("y", len(year)), rest
}

// namedDate reads 5 Jan 2024, Jan 5, 2024 and Sun, 5 Jan 2024.
func namedDate(b []byte) (string, []byte, bool) {
	prefix := ""
	if n := letters(b); n >= 3 && n+1 < len(b) {
		if isDay(b) {
			b = bytes.TrimLeft(b[n:], ", ")
			prefix = "www "
		}
	}
	if rest, ok := month(b); ok {
		day, rest := group(bytes.TrimLeft(rest, " ."))
		year, end := group(bytes.TrimLeft(rest, ", "))
		if upTo(day, 31) && len(year) == 4 && len(rest) > len(year) {
			return prefix + "mon dd yyyy", end, true
		}
		return "", b, false
	}
	day, rest := group(b)
	if !upTo(day, 31) || len(rest) == 0 || rest[0] != ' ' {
		return "", b, false
	}
	rest, ok := month(bytes.TrimLeft(rest, " "))
	if !ok {
		return "", b, false
	}
	year, end := group(bytes.TrimLeft(rest, " ."))
	return prefix + "dd mon yyyy", end, len(year) == 4
}

// clockShape reads a time of day at the start of b. The shape is "" if there is none.
func clockShape(b []byte) (shape string, rest []byte) {
	hour, x := group(b)
	if !upTo(hour, 24) || len(x) == 0 || x[0] != ':' {
		return "", b
	}
	minute, rest := group(x[1:])
	if len(minute) != 2 || !upTo(minute, 59) {
		return "", b
	}
	shape = "hh:mm"
	if len(rest) > 2 && rest[0] == ':' {
		second, more := group(rest[1:])
		if len(second) != 2 || !upTo(second, 60) {
			return "", b
		}
		shape, rest = "hh:mm:ss", more
		if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
			if fraction, more := group(rest[1:]); len(fraction) > 0 {
				rest = more // fractions of any length are one spelling
			}
		}
	}
	switch tail := strings.ToUpper(string(bytes.TrimSpace(rest[:min(len(rest), 3)]))); tail {
	case "AM", "PM":
		return shape + " am", rest[min(len(rest), bytes.IndexAny(rest, "mM")+1):]
	}
	return shape, rest
}

// zoneShape is the shape of a whole zone, "" for none.
func zoneShape(b []byte) (string, bool) {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return "", true
	case string(b) == "Z" || string(b) == "z" || string(b) == "UTC" || string(b) == "GMT":
		return " Z", true
	case b[0] == '+' || b[0] == '-':
		digits := bytes.ReplaceAll(b[1:], []byte(":"), nil)
		return " +hh:mm", (len(digits) == 2 || len(digits) == 4) && text.CountDigits(digits) == len(digits)
	}
	return " zone", letters(b) == len(b) && len(b) <= 5
}
