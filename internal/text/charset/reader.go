package charset

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// chunk is the number of bytes that a reader converts at once.
const chunk = 32 << 10

// Reader returns the text of r in UTF-8, without its byte order mark if it is UTF-16. It reads ahead by up to 32 KiB.
func (e Encoding) Reader(r io.Reader) io.Reader {
	switch e.unit {
	case 0:
		return r
	case 2:
		order := binary.ByteOrder(binary.LittleEndian)
		if e.big {
			order = binary.BigEndian
		}
		return &reader{r: r, convert: (&wide{order: order, name: e.name}).convert, in: make([]byte, 0, chunk)}
	}
	n := &narrow{name: e.name}
	for i := range n.table {
		c := e.table.DecodeByte(byte(i))
		n.bad[i] = c == utf8.RuneError
		n.table[i] = string(c)
	}
	return &reader{r: r, convert: n.convert, in: make([]byte, 0, chunk)}
}

// reader converts a stream chunk by chunk.
type reader struct {
	r       io.Reader
	convert func(dst, src []byte, last bool) (out []byte, used int, err error)
	in      []byte // read, and not converted yet
	out     []byte // converted
	at      int    // of the next byte of out to be returned
	err     error  // after out
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for r.at == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		r.fill()
	}
	n := copy(p, r.out[r.at:])
	r.at += n
	return n, nil
}

// fill reads and converts another chunk.
func (r *reader) fill() {
	n, err := r.r.Read(r.in[len(r.in):cap(r.in)])
	r.in = r.in[:len(r.in)+n]
	r.at, r.err = 0, err
	out, used, bad := r.convert(r.out[:0], r.in, err == io.EOF)
	r.out, r.in = out, r.in[:copy(r.in, r.in[used:])]
	if bad != nil {
		r.err = bad
	}
}

// narrow converts encodings of one byte for each character.
type narrow struct {
	name  string
	table [256]string
	bad   [256]bool
	at    int64 // bytes converted so far
}

func (n *narrow) convert(dst, src []byte, _ bool) ([]byte, int, error) {
	for i, c := range src {
		switch {
		case c < utf8.RuneSelf && n.table[c][0] == c:
			dst = append(dst, c)
		case n.bad[c]:
			return dst, i, fmt.Errorf("byte %#x has no meaning in %s (offset %d)", c, n.name, n.at+int64(i))
		default:
			dst = append(dst, n.table[c]...)
		}
	}
	n.at += int64(len(src))
	return dst, len(src), nil
}

// wide converts UTF-16.
type wide struct {
	order binary.ByteOrder
	name  string
	at    int64
}

func (w *wide) convert(dst, src []byte, last bool) ([]byte, int, error) {
	i := 0
	for ; i+2 <= len(src); i += 2 {
		c := rune(w.order.Uint16(src[i:]))
		switch {
		case c == 0xfeff && w.at == 0 && i == 0: // the byte order mark
			continue
		case c < utf8.RuneSelf:
			dst = append(dst, byte(c))
			continue
		case utf16.IsSurrogate(c):
			if i+4 > len(src) && !last {
				w.at += int64(i)
				return dst, i, nil
			}
			low := rune(0)
			if i+4 <= len(src) {
				low = rune(w.order.Uint16(src[i+2:]))
			}
			full := utf16.DecodeRune(c, low)
			if full == utf8.RuneError {
				return dst, i, fmt.Errorf("half of a surrogate pair, which %s does not allow (offset %d)", w.name, w.at+int64(i))
			}
			c = full
			i += 2
		}
		dst = utf8.AppendRune(dst, c)
	}
	w.at += int64(i)
	if last && i < len(src) {
		return dst, i, fmt.Errorf("the text ends within a character of %s (offset %d)", w.name, w.at)
	}
	return dst, i, nil
}
