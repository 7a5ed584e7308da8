// Package terminal prints for people: safe text, colours, tables, numbers with units, progress.
//
// Text of a file must not be able to move the cursor, change colours, or turn the direction
// of reading. So all text goes through [Format], which escapes its arguments with [Printable].
// Only results of [Screen.Paint] and Format are left as they are.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/amudai/amudai-go/internal/text"
)

// Screen is an output for people: a terminal, or a pipe instead of one.
type Screen struct {
	Out   io.Writer
	Width int // in columns; 0: not a terminal, nothing is cut
	Color bool
}

// Color is a parameter of the ANSI sequence SGR.
type Color string

// The colours in use.
const (
	Bold   Color = "1"
	Dim    Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Cyan   Color = "36"
	Yellow Color = "33"
	Match  Color = "1;31" // a text that was searched for
)

// Styled is text that is safe to print: escape sequences in it are our own.
type Styled struct{ text string }

// String returns the text with its escape sequences.
func (s Styled) String() string { return s.text }

// Paint colours a value, if the screen has colours.
func (s Screen) Paint(c Color, value any) Styled {
	safe := Format("%v", value)
	if s.Color {
		safe.text = "\x1b[" + string(c) + "m" + safe.text + "\x1b[0m"
	}
	return safe
}

// Printf prints as fmt.Printf does, with arguments made safe by [Format].
func (s Screen) Printf(format string, args ...any) error {
	_, err := s.Out.Write([]byte(Format(format, args...).text))
	return err
}

// Format formats as fmt.Sprintf does. Arguments that are texts, errors or have a String
// method are made printable first; the format itself comes from the program.
func Format(format string, args ...any) Styled {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case Styled:
			safe[i] = v.text
		case string:
			safe[i] = Printable(v)
		case bool, int, int32, int64, uint32, uint64, float64:
			safe[i] = v
		default:
			safe[i] = Printable(fmt.Sprint(v))
		}
	}
	return Styled{fmt.Sprintf(format, safe...)}
}

// Lines makes a text of several lines printable, line by line.
func Lines(s string) Styled {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	return Styled{strings.Join(lines, "\n")}
}

// Printable is [text.Printable].
func Printable(s string) string { return text.Printable(s) }

// OneLine is [text.OneLine].
func OneLine(s string) string { return text.OneLine(s) }

// JSON prints a value as indented JSON. Unprintable characters are escaped.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	out := make([]byte, 0, b.Len())
	for _, r := range b.String() { // other characters occur only within strings
		switch {
		case unicode.IsPrint(r) || r == '\n':
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	_, err := w.Write(out)
	return err
}

// screenWidth measures grapheme clusters, as terminals do that draw them. Our own escape sequences have no width.
var screenWidth = displaywidth.Options{ControlSequences: true}

// Width is the number of columns that a printable text takes on the screen: 2 for 日 and for 👨‍👩‍👧, 1 for e with an accent.
func Width(s string) int { return screenWidth.String(s) }

// Clip shortens a text to a number of columns on the screen; 0 is no limit. It cuts between grapheme clusters.
func Clip(s string, most int) string {
	if most <= 0 {
		return s
	}
	return screenWidth.TruncateString(s, most, "…")
}

// Pad adds spaces to a text until it has a width: behind it, or before it if it is aligned to the right.
func Pad(s string, width int, right bool) string {
	n := width - Width(s)
	switch {
	case n <= 0:
		return s
	case right:
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
}
