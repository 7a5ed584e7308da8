package tabular

import (
	"bytes"
	"fmt"
	"io"
)

// window is the part of a stream that is in memory: bytes are looked at, then
// taken. It counts lines, and grows up to max for a record that is longer than it.
//
//	buf: [ taken | bytes() | free ]
//	             ^start    ^end
type window struct {
	r          io.Reader
	buf        []byte
	start, end int
	max        int   // most bytes of one record
	line       int64 // 1-based line of start
	read       int64 // bytes read from r
	err        error // what r ended with
}

const windowSize = 256 << 10

// bytes are those not taken yet, valid until more is called.
func (w *window) bytes() []byte { return w.buf[w.start:w.end] }

// take consumes n bytes and returns them.
func (w *window) take(n int) []byte {
	b := w.buf[w.start : w.start+n]
	w.start += n
	w.line += int64(bytes.Count(b, []byte{'\n'}))
	return b
}

// more reads at least one more byte behind bytes(), which may move. It returns
// io.EOF at the end of the stream.
func (w *window) more() error {
	if w.err != nil {
		return w.err
	}
	if w.start > 0 && w.start == w.end {
		w.start, w.end = 0, 0
	}
	if w.end == len(w.buf) {
		if err := w.room(); err != nil {
			return err
		}
	}
	for range 100 {
		n, err := w.r.Read(w.buf[w.end:])
		w.end += n
		w.read += int64(n)
		w.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// room makes free space at the end of the buffer.
func (w *window) room() error {
	if w.end-w.start <= len(w.buf)/2 && len(w.buf) > 0 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
		return nil
	}
	size := max(windowSize, 2*len(w.buf))
	if w.max > 0 && w.end-w.start >= w.max {
		return fmt.Errorf("a record is longer than %d bytes (line %d)", w.max, w.line)
	}
	buf := make([]byte, size)
	w.end = copy(buf, w.buf[w.start:w.end])
	w.start, w.buf = 0, buf
	return nil
}

// skipBOM passes a UTF-8 byte order mark, and refuses UTF-16.
func (w *window) skipBOM() error {
	for w.end-w.start < 3 {
		if err := w.more(); err != nil {
			break
		}
	}
	b := w.bytes()
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		w.take(3)
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return fmt.Errorf("the input is UTF-16; convert it to UTF-8 first")
	}
	return nil
}
