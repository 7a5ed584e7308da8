// Package text has the grammar of numbers, times, durations and types that CSV, JSON, filters,
// options and the printing of values share. It does not know Arrow arrays; package values does.
package text

import (
	"errors"
	"iter"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/suggest"
)

// Mode is the strictness of parsing.
type Mode bool

// Strict accepts only text that can be restored from the value, as for a column whose type was
// inferred. Lenient accepts all text that converts, as for filters and columns whose type was
// given: leading zeros, "+5", numbers that round to the nearest float, dates such as 2012-1-5.
const (
	Strict  Mode = true
	Lenient Mode = false
)

// ErrUTF8 means that a text is not UTF-8.
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

// Article is the name of a type with "a" or "an" before it.
func Article(name string) string {
	if name != "" {
		switch name[0] {
		case 'a', 'e', 'i', 'o':
			return "an " + name
		}
	}
	return "a " + name
}

// Plural returns a noun in the form that follows a number: "row" after 1, else "rows".
func Plural[T int | int64 | uint64](n T, noun string) string {
	stem, isY := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return noun
	case isY:
		return stem + "ies"
	case strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "ch"):
		return noun + "es"
	}
	return noun + "s"
}

// Suggest completes an error about an unknown name: ": is NAME meant?" It chooses the known name that differs in case
// only, or by one edit, or that begins with the unknown one. It returns "" if there is none.
func Suggest(name string, known iter.Seq[string]) string {
	meant := suggest.Name(name, known)
	if meant == "" {
		return ""
	}
	return ": is " + Clip(meant) + " meant?"
}

// Names returns the names of the fields of a schema or a struct.
func Names(fields interface {
	NumFields() int
	Field(i int) arrow.Field
}) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range fields.NumFields() {
			if !yield(fields.Field(i).Name) {
				return
			}
		}
	}
}
