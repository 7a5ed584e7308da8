package charset

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// Reader returns the text of r in UTF-8, without its byte order mark if it is UTF-16. It reads ahead by some KiB.
func (e Encoding) Reader(r io.Reader) io.Reader {
	switch e.unit {
	case 0:
		return r
	case 2:
		order := binary.ByteOrder(binary.LittleEndian)
		if e.big {
			order = binary.BigEndian
		}
		return transform.NewReader(r, &wide{order: order, name: e.name})
	}
	n := &narrow{name: e.name}
	for i := range n.table {
		c := e.table.DecodeByte(byte(i))
		n.bad[i] = c == utf8.RuneError
		n.table[i] = string(c)
	}
	return transform.NewReader(r, n)
}

// narrow converts encodings of one byte for each character.
type narrow struct {
	transform.NopResetter
	name  string
	table [256]string
	bad   [256]bool
	at    int64 // bytes converted so far
}

// Transform implements [transform.Transformer].
func (n *narrow) Transform(dst, src []byte, _ bool) (to, from int, err error) {
	defer func() { n.at += int64(from) }()
	for ; from < len(src); from++ {
		switch c := src[from]; {
		case c < utf8.RuneSelf && to < len(dst) && n.table[c][0] == c:
			dst[to] = c
			to++
		case n.bad[c]:
			return to, from, fmt.Errorf("byte %#x has no meaning in %s (offset %d)", c, n.name, n.at+int64(from))
		case to+utf8.UTFMax > len(dst):
			return to, from, transform.ErrShortDst
		default:
			to += copy(dst[to:], n.table[c])
		}
	}
	return to, from, nil
}

// wide converts UTF-16.
type wide struct {
	transform.NopResetter
	order binary.ByteOrder
	name  string
	at    int64
}

// Transform implements [transform.Transformer].
func (w *wide) Transform(dst, src []byte, last bool) (to, from int, err error) {
	defer func() { w.at += int64(from) }()
	for ; from+2 <= len(src); from += 2 {
		c := rune(w.order.Uint16(src[from:]))
		switch {
		case c == 0xfeff && w.at == 0 && from == 0: // the byte order mark
			continue
		case to+utf8.UTFMax > len(dst):
			return to, from, transform.ErrShortDst
		case c < utf8.RuneSelf:
			dst[to] = byte(c)
			to++
			continue
		case utf16.IsSurrogate(c):
			if from+4 > len(src) && !last {
				return to, from, transform.ErrShortSrc
			}
			low := rune(0)
			if from+4 <= len(src) {
				low = rune(w.order.Uint16(src[from+2:]))
			}
			full := utf16.DecodeRune(c, low)
			if full == utf8.RuneError {
				return to, from, fmt.Errorf("half of a surrogate pair, which %s does not allow (offset %d)", w.name, w.at+int64(from))
			}
			c = full
			from += 2
		}
		to += utf8.EncodeRune(dst[to:], c)
	}
	switch {
	case from == len(src):
		return to, from, nil
	case last:
		return to, from, fmt.Errorf("the text ends within a character of %s (offset %d)", w.name, w.at+int64(from))
	}
	return to, from, transform.ErrShortSrc
}
