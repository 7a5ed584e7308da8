package serve

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/sys"
)

// A log is a sequence of frames, in the order in which messages were added to the file:
//
//	offset  bytes
//	0       4      magic "OTLP"
//	4       4      length of the message, little endian
//	8       8      how many bytes of the log were durable when the frame was written, little endian
//	16      4      CRC-32C of bytes 4 to 15 and of the message, little endian
//	20      …      the message: an OTLP ExportTraceServiceRequest
//
// A crash may leave an incomplete frame, or one that other bytes took the place of, but only after the bytes that were durable. If a later
// frame says that damaged bytes were durable, then the disk has lost what was acknowledged.
const (
	frameMagic  = "OTLP"
	frameHeader = 20
	maxMessage  = 1 << 30 // bytes of a message
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// log is a log that is written. It belongs to one goroutine.
type log struct {
	f       sys.File
	size    int64 // bytes that were written
	durable int64 // of these
}

// append adds a message. It is durable after the next sync.
func (l *log) append(message []byte) error {
	var h [frameHeader]byte
	copy(h[:], frameMagic)
	binary.LittleEndian.PutUint32(h[4:], uint32(len(message)))
	binary.LittleEndian.PutUint64(h[8:], uint64(l.durable))
	binary.LittleEndian.PutUint32(h[16:], frameSum(h[:], message))
	if _, err := l.f.Write(h[:]); err != nil {
		return err
	}
	if _, err := l.f.Write(message); err != nil {
		return err
	}
	l.size += frameHeader + int64(len(message))
	return nil
}

func frameSum(header, message []byte) uint32 {
	return crc32.Update(crc32.Checksum(header[4:16], castagnoli), castagnoli, message)
}

// sync makes the log durable.
func (l *log) sync() error {
	if l.durable == l.size {
		return nil
	}
	if err := l.f.Sync(); err != nil {
		return err
	}
	l.durable = l.size
	return nil
}

// logReader returns the messages of a log.
type logReader struct {
	f    io.ReaderAt
	size int64
	at   int64
	buf  []byte

	Incomplete int64 // bytes that are no frames, and were never acknowledged as far as the log tells
	Damaged    int64 // bytes that are no frames, but were durable
	unsure     []byteRange
}

// byteRange is a range of bytes that are no frames.
type byteRange struct{ from, to int64 }

// next returns the next message, valid until the following call. At the end, ok is false. Bytes that are no frame are skipped.
func (r *logReader) next() (message []byte, ok bool, err error) {
	for start := r.at; ; {
		message, durable, err := r.frame(r.at)
		if err == nil {
			r.skipped(start, r.at)
			r.judge(durable)
			r.at += frameHeader + int64(len(message))
			return message, true, nil
		}
		if !errors.Is(err, fault.ErrCorrupt) {
			return nil, false, err
		}
		if r.at, err = r.find(r.at + 1); err != nil {
			return nil, false, err
		}
		if r.at == r.size {
			r.skipped(start, r.at)
			for _, b := range r.unsure {
				r.Incomplete += b.to - b.from
			}
			r.unsure = nil
			return nil, false, nil
		}
	}
}

func (r *logReader) skipped(from, to int64) {
	if from < to {
		r.unsure = append(r.unsure, byteRange{from, to})
	}
}

// judge counts what was skipped as damaged if a frame says that it was durable.
func (r *logReader) judge(durable int64) {
	left := r.unsure[:0]
	for _, b := range r.unsure {
		if b.from < durable {
			r.Damaged += b.to - b.from
		} else {
			left = append(left, b)
		}
	}
	r.unsure = left
}

// frame reads the frame at an offset. The error is fault.ErrCorrupt if there is none.
func (r *logReader) frame(at int64) (message []byte, durable int64, err error) {
	if r.size-at < frameHeader {
		return nil, 0, fault.Corruptf("%d bytes are too few for a frame", r.size-at)
	}
	var h [frameHeader]byte
	if _, err := r.f.ReadAt(h[:], at); err != nil {
		return nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(h[4:]))
	if string(h[:4]) != frameMagic || n > r.size-at-frameHeader || n > maxMessage {
		return nil, 0, fault.Corruptf("no frame")
	}
	if int64(cap(r.buf)) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	if _, err := r.f.ReadAt(r.buf, at+frameHeader); err != nil {
		return nil, 0, err
	}
	if frameSum(h[:], r.buf) != binary.LittleEndian.Uint32(h[16:]) {
		return nil, 0, fault.Corruptf("the checksum of a frame is wrong")
	}
	return r.buf, int64(binary.LittleEndian.Uint64(h[8:])), nil
}

// find returns the next offset at which a frame may begin, or the size of the log.
func (r *logReader) find(from int64) (int64, error) {
	const step = 64 << 10
	var buf [step]byte
	for from+frameHeader <= r.size {
		n := min(step, r.size-from)
		if _, err := r.f.ReadAt(buf[:n], from); err != nil {
			return 0, err
		}
		if i := bytes.Index(buf[:n], []byte(frameMagic)); i >= 0 {
			return from + int64(i), nil
		}
		from += max(1, n-int64(len(frameMagic))+1)
	}
	return r.size, nil
}
