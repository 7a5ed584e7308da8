package fields

import (
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/search"
)

// Column is the form of a column of numbers.
type Column struct {
	Kind   Kind
	Width  int     // HexLower, HexUpper: digits
	Groups []Group // Digits
}

// Check looks for numbers in the form of a column that cannot be. An error wraps fault.ErrCorrupt.
func (c *Column) Check() error {
	switch c.Kind {
	case HexLower, HexUpper:
		if c.Width < 1 || c.Width > MaxHex {
			return fault.Corruptf("%d hexadecimal digits", c.Width)
		}
	case Digits:
		return c.checkGroups()
	}
	return nil
}

func (c *Column) checkGroups() error {
	if len(c.Groups) < 1 || len(c.Groups) > MaxGroups {
		return fault.Corruptf("%d groups of digits", len(c.Groups))
	}
	for i, g := range c.Groups {
		most := MaxGroup
		if i == 0 {
			most = MaxDigits
		}
		switch {
		case g.Width < 1 || g.Width > most:
			return fault.Corruptf("group %d of %d digits", i, g.Width)
		case len(g.Separator) > MaxSeparator || i == 0 && len(g.Separator) > 0:
			return fault.Corruptf("separator of %d bytes before group %d", len(g.Separator), i)
		case i > 0 && (g.Radix == 0 || g.Radix > powers[g.Width] || g.Low > powers[g.Width]-g.Radix):
			return fault.Corruptf("group %d of %d digits from %d on, %d numbers", i, g.Width, g.Low, g.Radix)
		case i == 0 && (g.Radix|g.Low) != 0:
			return fault.Corruptf("first group of digits with a bound")
		}
	}
	if c.TextWidth() > MaxWidth {
		return fault.Corruptf("groups of %d bytes", c.TextWidth())
	}
	return nil
}

// TextWidth is the bytes of each field, 0 if they differ.
func (c *Column) TextWidth() int {
	switch c.Kind {
	case HexLower, HexUpper:
		return c.Width
	case Digits:
		n := 0
		for _, g := range c.Groups {
			n += len(g.Separator) + g.Width
		}
		return n
	}
	return 0
}

// AppendShape appends the parts that a field of the column consists of.
func (c *Column) AppendShape(dst search.Shape) search.Shape {
	switch c.Kind {
	case Decimal:
		return append(dst, search.Part{Kind: search.Digits, Min: 1, Max: MaxDigits + 1})
	case HexLower:
		return append(dst, search.Part{Kind: search.HexLower, Min: c.Width, Max: c.Width})
	case HexUpper:
		return append(dst, search.Part{Kind: search.HexUpper, Min: c.Width, Max: c.Width})
	case Digits:
		for _, g := range c.Groups {
			dst = append(dst, search.Part{Text: g.Separator}, search.Part{Kind: search.Digits, Min: g.Width, Max: g.Width})
		}
		return dst
	}
	return append(dst, search.Part{Kind: search.Anything})
}

// maxText is the most bytes of a number in decimal, and of what may be written for it.
const maxText = 24

// SetNumbers gives a column of a Decoder the fields that numbers stand for, and returns their size.
func SetNumbers[W uint32 | uint64](d *Decoder, column int, c *Column, numbers []W) (size int, err error) {
	room, err := d.Room(c.most() * len(numbers))
	if err != nil {
		return 0, err
	}
	at := len(d.data) - len(room)
	size, err = write(room, d.spansOf(column, len(numbers)), uint32(at), c, numbers)
	d.data = d.data[:at+size]
	return size, err
}

// Buffer is memory for the texts of numbers.
type Buffer struct {
	text  []byte
	spans []Span
}

// Fields are the texts of numbers, back to back.
type Fields struct {
	Text  []byte
	Spans []Span // in Text, of each
}

// Format writes the texts of numbers to the buffer, where they stay until it is used again.
func Format[W uint32 | uint64](b *Buffer, c *Column, numbers []W) (f Fields, err error) {
	f.Spans = scratch.Slice(&b.spans, len(numbers))
	size, err := write(scratch.Slice(&b.text, c.most()*len(numbers)+Slack), f.Spans, 0, c, numbers)
	f.Text = b.text[:size]
	return f, err
}

// most is the most bytes that are written for a number.
func (c *Column) most() int { return max(c.TextWidth(), maxText) }

// write writes the texts of numbers, and where they are, the first at place base. It returns their size.
func write[W uint32 | uint64](dst []byte, spans []Span, base uint32, c *Column, numbers []W) (size int, err error) {
	w := c.TextWidth()
	if w == 0 {
		if wide, ok := any(numbers).([]uint64); ok && c.Kind == Signed {
			return appendSigned(dst, spans, base, wide), nil
		}
		return appendDecimals(dst, spans, base, numbers), nil
	}
	for i := range spans {
		spans[i] = Span{base, uint32(w)}
		base += uint32(w)
	}
	switch {
	case c.Kind == HexLower:
		err = appendHex(dst, numbers, c.Width, 'a'-'9'-1)
	case c.Kind == HexUpper:
		err = appendHex(dst, numbers, c.Width, 'A'-'9'-1)
	case len(c.Groups) == 1:
		err = appendDigits(dst, numbers, c.Groups[0].Width)
	default:
		err = appendGroups(dst, numbers, c.Groups, w)
	}
	return w * len(numbers), err
}
