// Package text is the one grammar of numbers, times, durations and types: what
// CSV, JSON, filters, options and the printing of values read and write. Nothing
// here knows Arrow arrays; package values does.
package text

import "errors"

// Mode says how much of a text its value must tell.
type Mode bool

// Strict takes only text that its type holds without losing anything that the
// text says, as for a column whose type was inferred. Lenient takes whatever
// converts, as for a column whose type was given and for filters: leading zeros,
// "+5", numbers that round to the nearest float, dates such as 2012-1-5.
const (
	Strict  Mode = true
	Lenient Mode = false
)

// ErrUTF8 says that a text is not UTF-8.
var ErrUTF8 = errors.New("is not valid UTF-8; convert the input to UTF-8 first")

// Clip shortens a value for a message.
func Clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > most-4 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// Article is a name of a type with "a" or "an" before it.
func Article(name string) string {
	if name != "" {
		switch name[0] {
		case 'a', 'e', 'i', 'o':
			return "an " + name
		}
	}
	return "a " + name
}
