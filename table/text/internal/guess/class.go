package guess

import (
	"bytes"

	"github.com/amudai/amudai-go/internal/text"
)

// nullSpellings are the spellings of null that are recognized. The first ones mean nothing else, the others are also
// values of text: NA is Namibia.
var nullSpellings = []string{
	"NULL", "null", "Null", "N/A", "n/a", "#N/A", `\N`, "<NA>", "<null>",
	"NA", "na", "None", "none", "nil", "#NA", "NaT", "-", "--", "?", ".", "..",
}

const sureSpellings = 9 // of nullSpellings

// IsNull reports whether a field is a spelling of null.
func IsNull(b []byte) bool {
	_, ok := nullSpelling(b)
	return ok
}

// nullSpelling returns the index of a spelling of null.
func nullSpelling(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 6 {
		return 0, false
	}
	switch b[0] {
	case 'N', 'n', '#', '\\', '<', '-', '?', '.':
		for i, s := range nullSpellings {
			if string(b) == s {
				return i, true
			}
		}
	}
	return 0, false
}

// AutoNull reports whether a field is a spelling of null, in columns of text or of other types.
func AutoNull(b []byte, isText bool) bool {
	k, ok := nullSpelling(b)
	return ok && (!isText || k < sureSpellings)
}

// Class is the kind of value that a field appears to be, for telling the header from records.
type Class uint8

// The classes of fields.
const (
	Nothing Class = iota // empty, or a spelling of null
	Text
	Value // a number, date or time in any notation
	Bool
)

// ClassOf classifies a field.
func ClassOf(b []byte) Class {
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return Nothing
	}
	if IsNull(b) {
		return Nothing
	}
	if _, ok := text.ParseBool(b); ok {
		return Bool
	}
	if n := len(b) - 2; n > 0 && b[n+1]|0x20 == 'm' && (b[n]|0x20 == 'a' || b[n]|0x20 == 'p') { // of AM and PM
		b = b[:n]
	}
	digits := false
	for _, c := range b {
		switch {
		case c-'0' <= 9:
			digits = true
		case c == '-' || c == '+' || c == '.' || c == ',' || c == ':' || c == '/' || c == ' ' || c == '%':
		case digits && (c == 'e' || c == 'E' || c == 'T' || c == 'Z'):
		default:
			return Text
		}
	}
	if !digits {
		return Text
	}
	return Value
}
