package kinds

import "github.com/apache/arrow-go/v18/arrow"

// Appender appends the bytes of a row of an array.
type Appender = func(dst []byte, row int) []byte

// Codec tells how values become bytes: those of nested types are made of those of their parts. Neither dictionaries nor runs nor
// extensions change them.
type Codec struct {
	Null, Present byte // the marks before each value, and before each part
	// Leaf gives the bytes of the values of an array without parts, none of which is null.
	Leaf func(arr arrow.Array) Appender
	// Length appends the number of rows of a list before them; nil for nothing.
	Length func(dst []byte, n int64) []byte
	Entry  []byte // before each entry of a map
	End    []byte // behind the rows of a list
}

// Marked appends the values of an array, or nulls, with marks.
func (c *Codec) Marked(arr arrow.Array) Appender {
	value, isNull, null, present := c.Value(arr), Nulls(arr), c.Null, c.Present
	if isNull == nil {
		return func(dst []byte, row int) []byte { return value(append(dst, present), row) }
	}
	return func(dst []byte, row int) []byte {
		if isNull(row) {
			return append(dst, null)
		}
		return value(append(dst, present), row)
	}
}

// Value appends the values of an array without marks. They must not be null.
func (c *Codec) Value(arr arrow.Array) Appender {
	v := Open(arr)
	if v.Shape == Wrap {
		value, at := c.Value(v.Parts[0]), v.Row
		return func(dst []byte, row int) []byte { return value(dst, at(row)) }
	}
	parts := make([]Appender, len(v.Parts))
	for i, p := range v.Parts {
		parts[i] = c.Marked(p)
	}
	switch v.Shape {
	case Record:
		return func(dst []byte, row int) []byte {
			for _, part := range parts {
				dst = part(dst, row)
			}
			return dst
		}
	case List:
		return c.list(v, parts)
	case Choice:
		return func(dst []byte, row int) []byte {
			part, at := v.Choice(row)
			return parts[part](append(dst, byte(part)), at)
		}
	}
	return c.Leaf(arr)
}

func (c *Codec) list(v View, parts []Appender) Appender {
	item, rows, end := parts[0], v.Range, c.End
	if len(parts) > 1 {
		item = func(dst []byte, row int) []byte {
			dst = append(dst, c.Entry...)
			for _, part := range parts {
				dst = part(dst, row)
			}
			return dst
		}
	}
	return func(dst []byte, row int) []byte {
		from, to := rows(row)
		if c.Length != nil {
			dst = c.Length(dst, to-from)
		}
		for i := from; i < to; i++ {
			dst = item(dst, int(i))
		}
		return append(dst, end...)
	}
}
