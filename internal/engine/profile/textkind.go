package profile

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/text"
)

// Kind is the kind of a text: that of the values it looks like.
type Kind uint8

// The kinds of texts.
const (
	KindOther       Kind = iota // words and everything else
	KindEmpty                   // no character
	KindBlank                   // blanks only
	KindPlaceholder             // N/A, -, null and other spellings of a missing value
	KindBool                    // true, no, Y
	KindInt                     // 12
	KindLeadingZero             // 00501
	KindFloat                   // 1.5e3
	KindGrouped                 // 1,234,567 and 1.234,5 and 12,5
	KindUnit                    // 12 %, $5
	KindTime                    // dates and times
	numKinds
)

var kindNames = [numKinds]string{"other", "empty", "blank", "placeholder", "bool", "int", "leading_zero", "float", "grouped", "unit", "time"}

// String is the name of the kind in JSON.
func (k Kind) String() string { return kindNames[min(k, numKinds-1)] }

// Number reports whether texts of the kind are numbers.
func (k Kind) Number() bool { return k >= KindInt && k <= KindUnit }

// longestKind is the length beyond which every text is KindOther.
const longestKind = 48

// kindOf classifies a text without the blanks around it.
func kindOf(b []byte) Kind {
	if len(b) == 0 {
		return KindEmpty
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return KindBlank
	}
	if len(b) > longestKind {
		return KindOther
	}
	switch c := b[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == '$', c >= 0x80:
		return numberKind(b)
	}
	switch {
	case isPlaceholder(string(b)):
		return KindPlaceholder
	case isBool(b):
		return KindBool
	}
	if len(b) >= 3 && (isMonth(b) || isDay(b)) {
		if _, ok := timeShape(b); ok {
			return KindTime
		}
	}
	return KindOther
}

func numberKind(b []byte) Kind {
	if isPlaceholder(string(b)) {
		return KindPlaceholder
	}
	digits := bytes.TrimLeft(b, "+-")
	signs := len(b) - len(digits)
	if n := text.CountDigits(digits); n == len(digits) && n > 0 && signs <= 1 {
		if n > 1 && digits[0] == '0' {
			return KindLeadingZero
		}
		return KindInt
	}
	switch {
	case signs <= 1 && text.IsNumber(digits):
		if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
			return KindLeadingZero
		}
		return KindFloat
	case isGrouped(digits):
		return KindGrouped
	}
	if _, ok := timeShape(b); ok {
		return KindTime
	}
	if rest, ok := cutUnit(b); ok {
		if k := numberKind(rest); k == KindInt || k == KindFloat || k == KindGrouped {
			return KindUnit
		}
	}
	return KindOther
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

// IsPlaceholder reports whether a text is an unmistakable spelling of a missing value, which readers may take as null.
func IsPlaceholder(s string) bool { return isPlaceholder(strings.TrimSpace(s)) }

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

// characters counts the characters of a text; each byte that is not UTF-8 is one.
func characters(b []byte) int64 { return int64(utf8.RuneCount(b)) }

// hasEdges reports whether a text begins or ends with a blank.
func hasEdges(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if c, d := b[0], b[len(b)-1]; c > ' ' && c < 0x80 && d > ' ' && d < 0x80 {
		return false
	}
	first, _ := utf8.DecodeRune(b)
	last, _ := utf8.DecodeLastRune(b)
	return unicode.IsSpace(first) || unicode.IsSpace(last)
}
