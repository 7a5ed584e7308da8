package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
)

// FromReaderAt is a store with one artifact, the size bytes of r, which is open and
// stays the caller's. r must not change, and may be read by several goroutines at once.
func FromReaderAt(location string, r io.ReaderAt, size int64) Store {
	return &single{location: location, r: r, size: size}
}

// ToWriter is a store that creates one artifact by writing it to w. There is nothing to
// publish: bytes are in w as they are written, and stay there after Abort.
func ToWriter(location string, w io.Writer) Store { return &single{location: location, w: w} }

type single struct {
	location string
	r        io.ReaderAt
	size     int64
	w        io.Writer
}

func (s *single) is(location string) bool {
	own, err := URL(s.location)
	asked, err2 := URL(location)
	return err == nil && err2 == nil && own == asked
}

func (s *single) Open(ctx context.Context, location string) (Reader, error) {
	if s.r == nil || !s.is(location) {
		return nil, &fs.PathError{Op: "open", Path: Redact(location), Err: fs.ErrNotExist}
	}
	return singleReader{s}, ctx.Err()
}

func (s *single) Create(ctx context.Context, location string, _ CreateOptions) (Writer, error) {
	if s.w == nil || !s.is(location) {
		return nil, fmt.Errorf("cannot create %s: only %s can be %w", Redact(location), Redact(s.location), errors.ErrUnsupported)
	}
	return &singleWriter{location: s.location, buf: bufio.NewWriterSize(s.w, 128<<10)}, ctx.Err()
}

func (s *single) Remove(_ context.Context, location string) error {
	return fmt.Errorf("cannot remove %s: %w", Redact(location), errors.ErrUnsupported)
}

func (s *single) List(_ context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		yield(Info{}, fmt.Errorf("cannot list %s: %w", Redact(prefix), errors.ErrUnsupported))
	}
}

type singleReader struct{ s *single }

func (r singleReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), r.s.size); err != nil {
		return err
	}
	if n, err := r.s.r.ReadAt(p, off); n < len(p) {
		return fmt.Errorf("reading %d bytes at %d: %w", len(p), off, err)
	}
	return nil
}

func (r singleReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	tail := make([]byte, min(int64(max(n, 0)), r.s.size))
	err := r.ReadAt(ctx, tail, r.s.size-int64(len(tail)))
	return tail, r.s.size, err
}

func (r singleReader) Size(context.Context) (int64, error) { return r.s.size, nil }
func (r singleReader) Name() string                        { return Redact(r.s.location) }
func (r singleReader) Capabilities() Capabilities          { return Capabilities{Latency: LatencyLow} }
func (r singleReader) Close() error                        { return nil }

type singleWriter struct {
	location string
	buf      *bufio.Writer
	size     int64
	ended    bool
}

func (w *singleWriter) Write(p []byte) (int, error) {
	if w.ended {
		return 0, errEnded
	}
	n, err := w.buf.Write(p)
	w.size += int64(n)
	return n, err
}

// Flush hands what is buffered on.
func (w *singleWriter) Flush() error { return w.buf.Flush() }

func (w *singleWriter) Size() int64  { return w.size }
func (w *singleWriter) Name() string { return Redact(w.location) }

func (w *singleWriter) Publish(ctx context.Context) error {
	if w.ended {
		return errEnded
	}
	w.ended = true
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.buf.Flush()
}

func (w *singleWriter) Abort() error {
	w.ended = true
	return nil
}
