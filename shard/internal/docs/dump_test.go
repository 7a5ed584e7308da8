package docs

import (
	"fmt"
	"strings"
)

// dump is a hexadecimal listing of byte ranges with their meanings. Ranges are in the order of the bytes, and each
// begins a line. Long ranges are shortened.
type dump struct {
	b    strings.Builder
	data []byte
	at   int
}

const (
	perLine  = 16
	maxShown = 64
)

// field lists the next n bytes.
func (d *dump) field(n int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	end := d.at + n
	for from := d.at; from < end; from += perLine {
		if from-d.at >= maxShown && end-from > perLine {
			fmt.Fprintf(&d.b, "      ... %d bytes more\n", end-from)
			break
		}
		d.line(from, d.data[from:min(from+perLine, end)], text)
		text = ""
	}
	d.at = end
}

func (d *dump) line(at int, b []byte, text string) {
	d.b.WriteString(strings.TrimRight(fmt.Sprintf("%04x  %-47s  %s", at, fmt.Sprintf("% x", b), text), " ") + "\n")
}

// until lists the bytes up to an offset, if there are any.
func (d *dump) until(at int, text string) {
	if at > d.at {
		d.field(at-d.at, "%s", text)
	}
}

// title adds a line without bytes.
func (d *dump) title(format string, args ...any) {
	fmt.Fprintf(&d.b, "%04x  %s\n", d.at, fmt.Sprintf(format, args...))
}

func (d *dump) String() string { return d.b.String() }

// trimLines removes spaces from the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
