package fields

import "iter"

// What texts say about fields that are numbers.

// Interval is the numbers from Low to High, both included.
type Interval struct{ Low, High uint64 }

// lengths are those that a field can have, up to a limit.
func (c *Column) lengths(limit int) (least, most int) {
	if w := c.TextWidth(); w > 0 {
		return w, min(w, limit)
	}
	return 1, min(MaxDigits+1, limit)
}

// can reports whether a field of a column can have a relation to a text.
func (c *Column) can(how How, text []byte) bool {
	switch c.Kind {
	case Text:
		return true
	case Decimal, Signed:
		return c.canDecimal(how, text)
	}
	for at := range c.ats(how, text) {
		if c.canAt(at, text) {
			return true
		}
	}
	return false
}

// ats are the places where a text is in a field of fixed width that has a relation to it.
func (c *Column) ats(how How, text []byte) iter.Seq[int] {
	first, last := 0, c.TextWidth()-len(text)
	switch {
	case how == Begins || how == Equals && last == 0:
		last = min(last, 0)
	case how == Ends:
		first = last
	case how == Equals:
		last = -1
	}
	return func(yield func(int) bool) {
		for at := max(first, 0); at <= last && yield(at); at++ {
		}
	}
}

func (c *Column) canDecimal(how How, text []byte) bool {
	start := how == Begins || how == Equals
	if c.Kind == Signed && len(text) > 0 && text[0] == '-' {
		text, start = text[1:], true
	}
	return allDigits(text) && len(text) <= MaxDigits+1 && (how != Equals || len(text) > 0) && (!start || len(text) < 2 || text[0] != '0')
}

// canAt reports whether a field of fixed width can have a text at a place, with what follows inside of it.
func (c *Column) canAt(at int, text []byte) bool {
	if c.Kind != Digits {
		letter := byte('a')
		if c.Kind == HexUpper {
			letter = 'A'
		}
		for _, b := range text {
			if b-'0' > 9 && b-letter > 5 {
				return false
			}
		}
		return true
	}
	place := 0 // in the field
	for _, g := range c.Groups {
		for i := range len(g.Separator) + g.Width {
			if k := place - at; k >= 0 && k < len(text) {
				if i < len(g.Separator) && text[k] != g.Separator[i] || i >= len(g.Separator) && text[k]-'0' > 9 {
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
func (c *Column) Intervals(dst []Interval, how How, text []byte) (_ []Interval, ok bool) {
	if how != Begins && how != Equals {
		return dst, false
	}
	switch c.Kind {
	case Text, Signed:
		return dst, false
	case Decimal:
		return decimalIntervals(dst, how, text), true
	case Digits:
		return c.groupIntervals(dst, text), true
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
func (c *Column) groupIntervals(dst []Interval, text []byte) []Interval {
	var low, high uint64
	for i := range c.Groups {
		g := &c.Groups[i]
		text = text[min(len(g.Separator), len(text)):]
		digits := text[:min(g.Width, len(text))]
		text = text[len(digits):]
		scale := powers[g.Width-len(digits)]
		from := number(digits, 10) * scale
		to := from + scale - 1
		if i == 0 {
			low, high = from, to
			continue
		}
		from, to, ok := g.clip(from, to)
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
