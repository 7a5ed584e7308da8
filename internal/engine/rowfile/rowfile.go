// Package rowfile keeps rows that do not fit into memory in temporary files: Arrow IPC streams in frames with checksums.
package rowfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Temporary is a temporary file.
type Temporary interface {
	io.Writer
	io.ReaderAt
	io.Closer // removes the file, too
}

// File is rows in a temporary file: they are written, then read. It is used by one goroutine.
type File struct {
	Rows int64

	file   Temporary
	mem    memory.Allocator
	out    frameWriter
	ipc    *ipc.Writer // nil until there are rows
	schema *arrow.Schema
}

// New makes a file of rows in an empty temporary file, which it closes.
func New(f Temporary, mem memory.Allocator) *File {
	return &File{file: f, mem: mem, out: frameWriter{out: f}}
}

// Write appends rows. The columns have the same types each time.
func (f *File) Write(columns []arrow.Array, rows int) error {
	if f.ipc == nil {
		fields := make([]arrow.Field, len(columns))
		for i, c := range columns {
			fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: c.DataType(), Nullable: true}
		}
		f.schema = arrow.NewSchema(fields, nil)
		f.ipc = ipc.NewWriter(&f.out, ipc.WithSchema(f.schema), ipc.WithAllocator(f.mem))
	}
	batch := array.NewRecordBatch(f.schema, columns, int64(rows))
	defer batch.Release()
	f.Rows += int64(rows)
	return failed(f.ipc.Write(batch))
}

// failed is an error of a temporary file, nil for nil.
func failed(err error) error {
	if err != nil {
		err = fmt.Errorf("temporary file: %w", fault.NoEOF(err))
	}
	return err
}

// Finish ends the writing.
func (f *File) Finish() (err error) {
	if f.ipc != nil {
		err = f.ipc.Close()
	}
	err = errors.Join(err, f.out.flush())
	f.ipc, f.out.frame = nil, nil
	return failed(err)
}

// Bytes is the size of a file that is finished.
func (f *File) Bytes() int64 { return f.out.bytes }

// Close removes the file.
func (f *File) Close() error { return f.file.Close() }

// Reader reads the rows of a file in their order.
type Reader struct {
	ipc  *ipc.Reader
	left int64 // rows that are still to come
}

// Open reads a file that is finished and has rows, from its beginning.
func (f *File) Open() (*Reader, error) {
	r, err := ipc.NewReader(&frameReader{in: io.NewSectionReader(f.file, 0, f.out.bytes)}, ipc.WithAllocator(f.mem))
	return &Reader{r, f.Rows}, failed(err)
}

// Next is the next batch, which lives until the next call, or none behind the last one.
func (r *Reader) Next() (arrow.RecordBatch, error) {
	for r.ipc.Next() {
		if b := r.ipc.RecordBatch(); b.NumRows() > 0 {
			r.left -= b.NumRows()
			return b, nil
		}
	}
	err := r.ipc.Err()
	if err == nil && r.left != 0 { // to package ipc, any io.EOF below is the end
		err = fmt.Errorf("it ends %d rows early: %w", r.left, io.ErrUnexpectedEOF)
	}
	return nil, failed(err)
}

// Release releases the last batch.
func (r *Reader) Release() { r.ipc.Release() }

// Each calls f for each batch. The columns live until it returns.
func (f *File) Each(ctx context.Context, yield func(columns []arrow.Array, rows int) error) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Release()
	for {
		b, err := r.Next()
		if err = errors.Join(err, ctx.Err()); err != nil || b == nil {
			return err
		}
		if err := yield(b.Columns(), int(b.NumRows())); err != nil {
			return err
		}
	}
}

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
