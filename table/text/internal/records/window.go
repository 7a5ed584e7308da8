package records

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Window is the part of a stream in memory. A caller looks at bytes and takes them. A window counts lines, and grows
// up to Max for a long record.
//
//	buf: [ taken | Bytes() | free ]
//	             ^start    ^end
type Window struct {
	Max     int   // maximum bytes of a record; 0: no limit
	Line    int64 // line of the first byte that is not taken, from 1
	Read    int64 // bytes read so far
	LineEnd byte  // the last byte of a line

	r          io.Reader
	ctx        context.Context
	buf        []byte
	start, end int
	err        error // the error at which r ended
}

// NewWindow returns a window on r, for records of at most max bytes.
func NewWindow(r io.Reader, max int) Window { return Window{r: r, Max: max, Line: 1, LineEnd: '\n'} }

// NewBytesWindow returns a window on bytes in memory, which it does not copy.
func NewBytesWindow(b []byte) Window {
	return Window{Line: 1, LineEnd: '\n', Read: int64(len(b)), buf: b, end: len(b), err: io.EOF}
}

// During ends reading when ctx ends.
func (w *Window) During(ctx context.Context) { w.ctx = ctx }

// Used is the number of taken bytes.
func (w *Window) Used() int64 { return w.Read - int64(w.end-w.start) }

const windowSize = 256 << 10

// Bytes returns the bytes that are not taken yet, valid until More is called.
func (w *Window) Bytes() []byte { return w.buf[w.start:w.end] }

// Take consumes n bytes and returns them.
func (w *Window) Take(n int) []byte {
	b := w.buf[w.start : w.start+n]
	w.start += n
	w.Line += int64(bytes.Count(b, []byte{w.LineEnd}))
	return b
}

// More reads at least one byte behind Bytes(), which may move. It returns io.EOF at the end of the stream.
func (w *Window) More() error {
	if w.err != nil {
		return w.err
	}
	if w.ctx != nil && w.ctx.Err() != nil {
		return w.ctx.Err()
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
		w.Read += int64(n)
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
func (w *Window) room() error {
	if w.end-w.start <= len(w.buf)/2 && len(w.buf) > 0 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
		return nil
	}
	size := max(windowSize, 2*len(w.buf))
	if w.Max > 0 && w.end-w.start >= w.Max {
		return fmt.Errorf("a record is longer than %d bytes (line %d)", w.Max, w.Line)
	}
	buf := make([]byte, size)
	w.end = copy(buf, w.buf[w.start:w.end])
	w.start, w.buf = 0, buf
	return nil
}

// SkipBOM skips a UTF-8 byte order mark, and refuses UTF-16.
func (w *Window) SkipBOM() error {
	for w.end-w.start < 3 {
		if err := w.More(); err != nil {
			break
		}
	}
	b := w.Bytes()
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		w.Take(3)
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return fmt.Errorf("the input is UTF-16; convert it to UTF-8 first")
	}
	return nil
}
