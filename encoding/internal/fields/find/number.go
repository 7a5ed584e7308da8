package find

import (
	"slices"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// What texts say about fields that are numbers.

// Interval is the numbers from Low to High, both included.
type Interval struct{ Low, High uint64 }

// lengths are those that a field can have, up to a limit.
func lengths(c *fields.Column, limit int) (least, most int) {
	if w := c.TextWidth(); w > 0 {
		return w, min(w, limit)
	}
	return 1, min(fields.MaxDigits+1, limit)
}

// can reports whether a field of a column can have a relation to a text.
func can(c *fields.Column, how How, text []byte) bool {
	switch c.Kind {
	case fields.Text:
		return true
	case fields.Decimal, fields.Signed:
		return canDecimal(c, how, text)
	}
	first, last := places(c, how, text)
	for at := first; at <= last; at++ {
		if canAt(c, at, text) {
			return true
		}
	}
	return false
}

// places are the first and the last place where a text can be in a field of fixed width that has a relation to it; the last one is less
// if there is none.
func places(c *fields.Column, how How, text []byte) (first, last int) {
	last = c.TextWidth() - len(text)
	switch {
	case how == Begins || how == Equals && last == 0:
		last = min(last, 0)
	case how == Ends:
		first = max(last, 0)
	case how == Equals:
		last = -1
	}
	return first, last
}

// canDecimal is can for integers without zeros in front.
func canDecimal(c *fields.Column, how How, text []byte) bool {
	start := how == Begins || how == Equals
	if c.Kind == fields.Signed && len(text) > 0 && text[0] == '-' {
		text, start = text[1:], true
	}
	return !slices.ContainsFunc(text, noDigit) && len(text) <= fields.MaxDigits+1 && (how != Equals || len(text) > 0) && (!start || len(text) < 2 || text[0] != '0')
}

func noDigit(b byte) bool { return b-'0' > 9 }

// canAt reports whether a field of fixed width can have a text at a place, with what follows inside of it.
func canAt(c *fields.Column, at int, text []byte) bool {
	if c.Kind != fields.Digits {
		letter := byte('a')
		if c.Kind == fields.HexUpper {
			letter = 'A'
		}
		for _, b := range text {
			if noDigit(b) && b-letter > 5 {
				return false
			}
		}
		return true
	}
	place := 0 // in the field
	for _, g := range c.Groups {
		for i := range len(g.Separator) + g.Width {
			if k := place - at; k >= 0 && k < len(text) {
				if i < len(g.Separator) && text[k] != g.Separator[i] || i >= len(g.Separator) && noDigit(text[k]) {
					return false
				}
			}
			place++
		}
	}
	return true
}

// Intervals appends the numbers of the fields that begin with a text, or are it; they can. ok is false if that does not
// make intervals.
func Intervals(dst []Interval, c *fields.Column, how How, text []byte) (_ []Interval, ok bool) {
	if how != Begins && how != Equals {
		return dst, false
	}
	switch c.Kind {
	case fields.Text, fields.Signed:
		return dst, false
	case fields.Decimal:
		return decimalIntervals(dst, how, text), true
	case fields.Digits:
		return groupIntervals(dst, c, text), true
	}
	x := number(text, 16)
	shift := 4 * uint(c.Width-len(text))
	return append(dst, Interval{x << shift, x<<shift | (1<<shift - 1)}), true
}

// decimalIntervals is Intervals of a text of digits.
func decimalIntervals(dst []Interval, how How, text []byte) []Interval {
	x, over := uint64(0), false
	for _, b := range text {
		x = times(x, 10, uint64(b-'0'), &over)
	}
	if over {
		return dst
	}
	if how == Equals || len(text) == 1 && text[0] == '0' {
		return append(dst, Interval{x, x})
	}
	for low, high := x, x; ; {
		dst = append(dst, Interval{low, high})
		if low = times(low, 10, 0, &over); over {
			return dst
		}
		if high = times(high, 10, 9, &over); over {
			return append(dst, Interval{low, ^uint64(0)})
		}
	}
}

// groupIntervals is Intervals of groups of digits.
func groupIntervals(dst []Interval, c *fields.Column, text []byte) []Interval {
	var low, high uint64
	for i := range c.Groups {
		g := &c.Groups[i]
		text = text[min(len(g.Separator), len(text)):]
		digits := text[:min(g.Width, len(text))]
		text = text[len(digits):]
		scale := fields.Power(g.Width - len(digits))
		from := number(digits, 10) * scale
		to := from + scale - 1
		if i == 0 {
			low, high = from, to
			continue
		}
		from, to, ok := clip(g, from, to)
		over := false
		if low = times(low, g.Radix, from, &over); !ok || over {
			return dst
		}
		if high = times(high, g.Radix, to, &over); over {
			high = ^uint64(0)
		}
	}
	return append(dst, Interval{low, high})
}
