package fields

import (
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Column is the form of a column of numbers.
type Column struct {
	Kind   Kind
	Width  int     // HexLower, HexUpper: digits
	Groups []Group // Digits
}

// check looks for numbers in the form of a column that cannot be.
func (c *Column) check() error {
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

// maxText is the most bytes of a number in decimal, and of what may be written for it.
const maxText = 24

// Buffer is the memory for the texts of a column.
type Buffer struct {
	text    []byte
	lengths []uint32
}

// Format writes the texts of numbers, which it keeps until the buffer is used again, and their size.
func Format[W uint32 | uint64](b *Buffer, c *Column, numbers []W) (f Fields, size int, err error) {
	if w := c.TextWidth(); w > 0 {
		size = w * len(numbers)
		f.Lengths = scratch.Slice(&b.lengths, 1)
		f.Lengths[0] = uint32(w)
		f.Text = scratch.Slice(&b.text, size+Slack)
		switch {
		case c.Kind == HexLower:
			err = appendHex(f.Text, numbers, c.Width, 'a'-'9'-1)
		case c.Kind == HexUpper:
			err = appendHex(f.Text, numbers, c.Width, 'A'-'9'-1)
		case len(c.Groups) == 1:
			err = appendDigits(f.Text, numbers, c.Groups[0].Width)
		default:
			err = appendGroups(f.Text, numbers, c.Groups, w)
		}
		return f, size, err
	}
	f.Lengths = scratch.Slice(&b.lengths, len(numbers)+1)[:len(numbers)]
	f.Text = scratch.Slice(&b.text, maxText*len(numbers)+Slack)
	if wide, ok := any(numbers).([]uint64); ok && c.Kind == Signed {
		return f, appendSigned(f.Text, f.Lengths, wide), nil
	}
	return f, appendDecimals(f.Text, f.Lengths, numbers), nil
}

// Texts is the fields that lie back to back in text, before Slack bytes, and end at ends.
func (b *Buffer) Texts(text []byte, ends []int32) Fields {
	lengths := scratch.Slice(&b.lengths, len(ends)+1)[:len(ends)] // a cursor may stand behind the last
	last := int32(0)
	for i, end := range ends {
		lengths[i], last = uint32(end-last), end
	}
	return Fields{Text: text, Lengths: lengths}
}
