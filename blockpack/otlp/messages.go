package otlp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// DefaultMaxMessageBytes is the default of [ReadOptions.MaxMessageBytes].
const DefaultMaxMessageBytes = 64 << 20

// ReadOptions are how the forms that the package describes are read. The zero value is the default.
type ReadOptions struct {
	// MaxMessageBytes is the largest message in bytes, by default DefaultMaxMessageBytes. In a file that is one message,
	// it is the largest ResourceSpans.
	MaxMessageBytes int
}

// reader reads the messages of a file in one of the forms that the package describes, which its owner closes. An error has the
// offset in the file.
type reader struct {
	r       *bufio.Reader
	most    int                    // bytes of a message
	unknown func(n int64)          // is called at the end if there are unknown members of JSON objects, with their number
	read    func() ([]byte, error) // the next message, nil before the first one
	at      int64                  // bytes that were read
	buf     bytes.Buffer
	out     []byte
	json    wire.Decoder
}

func newReader(r io.Reader, o ReadOptions, unknown func(n int64)) *reader {
	most := cmp.Or(max(o.MaxMessageBytes, 0), DefaultMaxMessageBytes)
	return &reader{r: bufio.NewReaderSize(r, 256<<10), most: most, unknown: unknown}
}

// Next implements [messageReader].
func (m *reader) Next(context.Context) (msg []byte, ok bool, err error) {
	if m.read == nil {
		m.read, err = m.form()
	}
	if err == nil {
		msg, err = m.read()
	}
	if err != io.EOF { // as bufio.Reader returns it between messages
		return msg, err == nil, err
	}
	if m.json.UnknownKeys > 0 {
		m.unknown(m.json.UnknownKeys)
		m.json.UnknownKeys = 0
	}
	return nil, false, nil
}

// Close implements [messageReader].
func (m *reader) Close() error { return nil }

// form finds the form of the file, and returns the function for its next message.
func (m *reader) form() (func() ([]byte, error), error) {
	head, err := m.r.Peek(16)
	if isJSON(head) {
		if bytes.HasPrefix(head, bom) {
			err = m.discard(len(bom))
		}
		return m.document, noEOF(err)
	}
	if err == nil {
		head, err = m.r.Peek(64 << 10)
	}
	switch framed, whole := isFramed(head, m.most), isMessage(head); {
	case noEOF(err) != nil:
		return nil, err
	case len(head) == 0:
		return nil, io.EOF
	case framed && whole && err == io.EOF && int64(len(head)) < 4+int64(binary.LittleEndian.Uint32(head)):
		return m.resourceSpans, nil
	case framed:
		return m.frame, nil
	case whole:
		return m.resourceSpans, nil
	case len(skipSpace(head)) == 0 || skipSpace(head)[0] == '{':
		return m.document, nil
	}
	return nil, fault.Corruptf("neither OTLP messages nor OTLP/JSON: the file begins with %q", head[:min(len(head), 16)])
}

// isJSON tells whether a file begins with an object, and not with a message of 123 bytes. As a length of a message its characters
// would be more than 128 MiB.
func isJSON(head []byte) bool {
	text := skipSpace(bytes.TrimPrefix(head, bom))
	if len(text) == 0 || text[0] != '{' || len(head) >= 4 && binary.LittleEndian.Uint32(head) < 1<<27 {
		return false
	}
	text = skipSpace(text[1:])
	return len(text) == 0 || text[0] == '"' || text[0] == '}'
}

func noEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

var bom = []byte("\xef\xbb\xbf")

func skipSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// isFramed tells whether a file may begin with the length of a message, and a message.
func isFramed(head []byte, most int) bool {
	if len(head) < 4 {
		return false
	}
	n := uint64(binary.LittleEndian.Uint32(head))
	return n <= uint64(most) && mayBegin(head[4:], n, 0)
}

// isMessage tells whether a file may begin with a TracesData.
func isMessage(head []byte) bool {
	size, k := uint64(0), 0
	if len(head) > 0 {
		size, k = protowire.ConsumeVarint(head[1:])
	}
	return k > 0 && mayBegin(head[:min(uint64(len(head)), size+uint64(1+k))], 1<<40, 0)
}

// mayBegin tells whether b may be the first bytes of n bytes of a TracesData, or at deeper levels of a ResourceSpans and of what is
// in it. A TracesData has only field 1. What is no such message does not get far, because lengths have to fit.
//
//	0a 8f02    ResourceSpans of 271 bytes
//	   0a 3c      Resource of 60
//	      0a 1a      KeyValue of 26
func mayBegin(b []byte, n uint64, level int) bool {
	for n > 0 && len(b) > 0 {
		if b[0] != 0x0a && (level == 0 || b[0]>>3 == 0 || b[0]&7 > 5) {
			return false
		}
		if b[0]&7 != 2 {
			return true // what follows is not looked at
		}
		size, k := protowire.ConsumeVarint(b[1:])
		if k < 0 {
			return len(b) <= binary.MaxVarintLen64
		}
		field := uint64(1+k) + size
		if size > n || field > n {
			return false
		}
		content := b[1+k:]
		if level == 0 || level == 1 && (b[0] == 0x0a || b[0] == 0x12) {
			if !mayBegin(content[:min(size, uint64(len(content)))], size, level+1) {
				return false
			}
		}
		if field >= uint64(len(b)) {
			break
		}
		b, n = b[field:], n-field
	}
	return true
}

// sniff tells whether bytes of any file are the beginning of messages: of lengths that fit three times.
func sniff(head []byte) bool {
	return sniffMessage(head) || len(head) > 4 && binary.LittleEndian.Uint32(head) <= DefaultMaxMessageBytes && sniffMessage(head[4:])
}

func sniffMessage(b []byte) bool {
	around := uint64(1) << 31
	for level := range 3 {
		if len(b) < 2 || b[0] != 0x0a && (level == 0 || b[0] != 0x12) {
			return false
		}
		n, k := protowire.ConsumeVarint(b[1:])
		if k < 0 || n == 0 || n+uint64(1+k) > around {
			return false
		}
		around, b = n, b[1+k:]
	}
	return true
}

func (m *reader) discard(n int) error {
	k, err := m.r.Discard(n)
	m.at += int64(k)
	return err
}

// take reads n bytes into the buffer. Memory grows with the bytes that arrive.
func (m *reader) take(n int64, what string) ([]byte, error) {
	if n > int64(m.most) {
		return nil, fault.In(fault.Limitf("a message of %d bytes; the limit is %d", n, m.most), what, m.at)
	}
	m.buf.Reset()
	k, err := m.buf.ReadFrom(io.LimitReader(m.r, n))
	if err == nil && k < n {
		err = fault.Corruptf("the file ends after %d of %d bytes", k, n)
	}
	if err != nil {
		return nil, fault.In(err, what, m.at)
	}
	m.at += k
	return m.buf.Bytes(), nil
}

// frame reads a length and a message.
func (m *reader) frame() ([]byte, error) {
	var head [4]byte
	n, err := io.ReadFull(m.r, head[:])
	if err == io.EOF {
		return nil, err
	}
	if err == io.ErrUnexpectedEOF {
		err = fault.Corruptf("the file ends in the length of a message")
	}
	if err != nil {
		return nil, fault.In(err, "message", m.at)
	}
	m.at += int64(n)
	return m.take(int64(binary.LittleEndian.Uint32(head[:])), "message")
}

// resourceSpans reads a field of a TracesData, which is a TracesData, too.
func (m *reader) resourceSpans() ([]byte, error) {
	start := m.at
	head, err := m.r.Peek(1 + binary.MaxVarintLen64)
	if len(head) == 0 {
		return nil, err
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	n, k := protowire.ConsumeVarint(head[1:])
	if head[0] != 0x0a || k < 0 || n > 1<<31 {
		return nil, fault.In(fault.Corruptf("no ResourceSpans begins with % x", head), "TracesData", start)
	}
	tag := append(m.out[:0], head[:1+k]...)
	if err := m.discard(1 + k); err != nil {
		return nil, err
	}
	data, err := m.take(int64(n), "ResourceSpans")
	m.out = append(tag, data...)
	return m.out, err
}

// document reads an object of OTLP/JSON.
func (m *reader) document() ([]byte, error) {
	if err := m.space(); err != nil {
		return nil, err
	}
	start := m.at
	text, err := m.object()
	if err != nil {
		return nil, fault.In(err, "document", start)
	}
	if m.out, err = m.json.Append(m.out[:0], text, wire.TracesData); err != nil {
		return nil, offsetFrom(err, start)
	}
	return m.out, nil
}

// offsetFrom makes the offset in a document one in the file.
func offsetFrom(err error, start int64) error {
	var e *fault.Error
	if errors.As(err, &e) && e.Offset >= 0 {
		moved := *e
		moved.Offset += start
		return &moved
	}
	return fmt.Errorf("%w (in the document at offset %d)", err, start)
}

// space skips white space between documents.
func (m *reader) space() error {
	for {
		c, err := m.r.ReadByte()
		if err != nil {
			return err
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			m.at++
		default:
			return m.r.UnreadByte()
		}
	}
}

// object reads the text up to the brace that ends an object. What is in between is checked later.
func (m *reader) object() ([]byte, error) {
	m.buf.Reset()
	var s scan
	for {
		b, err := m.r.Peek(max(1, m.r.Buffered()))
		if err == io.EOF {
			return nil, fault.Corruptf("JSON ends in the middle of a value")
		}
		if err != nil {
			return nil, err
		}
		n, done := s.end(b)
		if m.buf.Len()+n > m.most {
			return nil, fault.Limitf("a document of more than %d bytes", m.most)
		}
		m.buf.Write(b[:n])
		if err := m.discard(n); err != nil {
			return nil, err
		}
		if done {
			return m.buf.Bytes(), nil
		}
	}
}

// scan finds the end of a JSON object.
type scan struct {
	depth            int
	quoted, escaping bool
}

// end returns the number of bytes that belong to the object, and whether it ends with them.
func (s *scan) end(b []byte) (int, bool) {
	for i, c := range b {
		switch {
		case s.escaping:
			s.escaping = false
		case s.quoted:
			s.escaping = c == '\\'
			s.quoted = c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
		if s.depth <= 0 && !s.quoted {
			return i + 1, true
		}
	}
	return len(b), false
}
