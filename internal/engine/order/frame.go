package order

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// A frame is a part of a run, with a checksum, so that a bad disk does not change rows silently:
//
//	0000  00 00 04 00   length of the content, up to 256 KiB
//	0004  d7 9f 3b 21   CRC-32C of the content
//	0008  …             content
const (
	frameHead  = 8
	frameBytes = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameWriter appends frames to a run.
type frameWriter struct {
	run   *run
	frame []byte // scratch
}

// Write implements [io.Writer].
func (w *frameWriter) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		content := p[done:min(done+frameBytes, len(p))]
		w.frame = binary.LittleEndian.AppendUint32(w.frame[:0], uint32(len(content)))
		w.frame = binary.LittleEndian.AppendUint32(w.frame, crc32.Checksum(content, castagnoli))
		w.frame = append(w.frame, content...)
		if _, err := w.run.file.Write(w.frame); err != nil {
			return done, err
		}
		w.run.bytes += int64(len(w.frame))
		done += len(content)
	}
	return done, nil
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
	r.rest = nil
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
