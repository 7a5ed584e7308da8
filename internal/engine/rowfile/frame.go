package rowfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// A frame is a part of a file, with a checksum, so that a bad disk does not change rows silently:
//
//	0000  00 00 01 00   length of the content, up to 64 KiB
//	0004  d7 9f 3b 21   CRC-32C of the content
//	0008  …             content
const (
	frameHead  = 8
	frameBytes = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameWriter writes frames.
type frameWriter struct {
	out   io.Writer
	frame []byte // the next one: a place for its head, and its content so far
	bytes int64  // written
}

// Write implements [io.Writer].
func (w *frameWriter) Write(p []byte) (int, error) {
	if w.frame == nil {
		w.frame = make([]byte, frameHead, frameHead+frameBytes)
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), cap(w.frame)-len(w.frame))
		w.frame, rest = append(w.frame, rest[:n]...), rest[n:]
		if len(w.frame) == cap(w.frame) {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// flush writes the content so far.
func (w *frameWriter) flush() error {
	if len(w.frame) <= frameHead {
		return nil
	}
	content := w.frame[frameHead:]
	binary.LittleEndian.PutUint32(w.frame, uint32(len(content)))
	binary.LittleEndian.PutUint32(w.frame[4:], crc32.Checksum(content, castagnoli))
	n, err := w.out.Write(w.frame)
	w.bytes += int64(n)
	w.frame = w.frame[:frameHead]
	return err
}

// frameReader reads the content of frames.
type frameReader struct {
	in     io.Reader
	buffer []byte
	rest   []byte // of the content, in buffer
	offset int64  // of the next frame
}

// Read implements [io.Reader].
func (r *frameReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next reads a frame.
func (r *frameReader) next() error {
	var head [frameHead]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > frameBytes {
		return fmt.Errorf("%w: frame of %d bytes at offset %d", fault.ErrCorrupt, n, r.offset)
	}
	if r.buffer == nil {
		r.buffer = make([]byte, frameBytes)
	}
	content := r.buffer[:n]
	if _, err := io.ReadFull(r.in, content); err != nil {
		return err
	}
	if crc32.Checksum(content, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: frame at offset %d", fault.ErrChecksum, r.offset)
	}
	r.rest = content
	r.offset += frameHead + int64(n)
	return nil
}
