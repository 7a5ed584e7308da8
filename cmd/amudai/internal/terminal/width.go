package terminal

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

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
