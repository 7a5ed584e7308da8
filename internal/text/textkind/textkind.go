// Package textkind tells what values a text looks like: numbers, times, Booleans, spellings of a missing value.
package textkind

import (
	"bytes"
	"strings"

	"github.com/amudai/amudai-go/internal/text"
)

// Kind is the kind of a text: that of the values it looks like.
type Kind uint8

// The kinds of texts.
const (
	Other       Kind = iota // words and everything else
	Empty                   // no character
	Blank                   // blanks only
	Placeholder             // N/A, -, null and other spellings of a missing value
	Bool                    // true, no, Y
	Int                     // 12
	LeadingZero             // 00501
	Float                   // 1.5e3
	Grouped                 // 1,234,567 and 1.234,5 and 12,5
	Unit                    // 12 %, $5
	Time                    // dates and times
	Kinds                   // the number of kinds
)

var kindNames = [Kinds]string{"other", "empty", "blank", "placeholder", "bool", "int", "leading_zero", "float", "grouped", "unit", "time"}

// String is the name of the kind in JSON.
func (k Kind) String() string { return kindNames[min(k, Kinds-1)] }

// Number reports whether texts of the kind are numbers.
func (k Kind) Number() bool { return k >= Int && k <= Unit }

// Longest is the length beyond which every text is Other.
const Longest = 48

// Of classifies a text without the blanks around it.
func Of(b []byte) Kind {
	if len(b) == 0 {
		return Empty
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return Blank
	}
	if len(b) > Longest {
		return Other
	}
	switch c := b[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == '$', c >= 0x80:
		return numberKind(b)
	}
	switch {
	case isPlaceholder(string(b)):
		return Placeholder
	case isBool(b):
		return Bool
	}
	if len(b) >= 3 && (isMonth(b) || isDay(b)) {
		if _, ok := TimeShape(b); ok {
			return Time
		}
	}
	return Other
}

func numberKind(b []byte) Kind {
	if isPlaceholder(string(b)) {
		return Placeholder
	}
	digits := bytes.TrimLeft(b, "+-")
	signs := len(b) - len(digits)
	if n := text.CountDigits(digits); n == len(digits) && n > 0 && signs <= 1 {
		if n > 1 && digits[0] == '0' {
			return LeadingZero
		}
		return Int
	}
	switch {
	case signs <= 1 && text.IsNumber(digits):
		if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
			return LeadingZero
		}
		return Float
	case isGrouped(digits):
		return Grouped
	}
	if _, ok := TimeShape(b); ok {
		return Time
	}
	if rest, ok := cutUnit(b); ok {
		if k := numberKind(rest); k == Int || k == Float || k == Grouped {
			return Unit
		}
	}
	return Other
}

// isGrouped reports whether digits have separators of thousands, a decimal comma, or both.
func isGrouped(b []byte) bool {
	first := bytes.IndexAny(b, ",. '\u00a0\u202f")
	if first < 1 || b[len(b)-1] < '0' || b[len(b)-1] > '9' {
		return false
	}
	parts := strings.FieldsFunc(string(b), func(r rune) bool { return strings.ContainsRune(",. '\u00a0\u202f", r) })
	separators := strings.FieldsFunc(string(b), func(r rune) bool { return r >= '0' && r <= '9' })
	if len(separators) != len(parts)-1 || len(parts[0]) > 3 && len(parts) > 2 {
		return false
	}
	for i, p := range parts {
		if text.CountDigits([]byte(p)) != len(p) {
			return false
		}
		last := i == len(parts)-1
		switch {
		case i == 0:
		case last && separators[i-1] != separators[0], last && len(parts) == 2 && separators[0] == ",":
		case len(p) != 3 || separators[i-1] != separators[0]:
			return false
		}
	}
	return !(len(parts) == 2 && separators[0] == ".")
}

var units = []string{"%", "$", "€", "£", "¥", "USD", "EUR", "GBP"}

// cutUnit removes one unit before or behind a number.
func cutUnit(b []byte) ([]byte, bool) {
	for _, u := range units {
		if rest, ok := bytes.CutPrefix(b, []byte(u)); ok {
			return bytes.TrimSpace(rest), len(rest) > 0
		}
		if rest, ok := bytes.CutSuffix(b, []byte(u)); ok {
			return bytes.TrimSpace(rest), len(rest) > 0
		}
	}
	return b, false
}

// isPlaceholder reports whether a text is an unmistakable spelling of a missing value.
func isPlaceholder(s string) bool {
	switch s {
	case "-", "--", "---", "?", "??", ".", "–", "—", "NA", "N/A", "n/a", "N.A.", "n.a.", "#N/A", "#NA", "#NULL!", "#DIV/0!", "NULL", "null", "Null", "<null>", "<NA>", "(null)",
		"None", "NONE", "none", "NaN", "nan", "NAN", "nil", "NIL", "NaT", "undefined", "missing", "MISSING", `\N`, "TBD", "unknown", "Unknown", "UNKNOWN":
		return true
	}
	return false
}

func isBool(b []byte) bool {
	if len(b) > 5 {
		return false
	}
	switch strings.ToLower(string(b)) {
	case "true", "false", "yes", "no", "y", "n", "t", "f", "on", "off":
		return true
	}
	return false
}
