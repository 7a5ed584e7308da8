package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
)

// FromReaderAt returns a store of one artifact: the size bytes of r. The caller keeps r
// open while the store is used. The bytes must not change, and r.ReadAt must allow
// concurrent calls. The artifact has no version.
func FromReaderAt(location string, r io.ReaderAt, size int64) Store {
	return &single{location: location, r: r, size: size}
}

// ToWriter returns a store that creates one artifact by writing to w. Bytes reach w
// before Publish, and Abort does not take them back. If w is an [IOWriter], the store sets
// its Context to that of each call. [CreateOptions.IfMatch] is not supported.
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
	return readerAt{name: Redact(s.location), r: s.r, size: s.size}, ctx.Err()
}

func (s *single) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	if s.w == nil || !s.is(location) {
		return nil, fmt.Errorf("cannot create %s: only %s can be %w", Redact(location), Redact(s.location), errors.ErrUnsupported)
	}
	if o.IfMatch != "" {
		return nil, noVersion(location)
	}
	w := &singleWriter{location: s.location, w: s.w, buffer: newBuffer(s.w)}
	if to, ok := s.w.(*IOWriter); ok {
		if at, ok := to.Writer.(WriterAt); ok && at.Size() == 0 {
			return singleWriterAt{w, at}, ctx.Err()
		}
	}
	return w, ctx.Err()
}

func (s *single) Remove(_ context.Context, location string) error {
	return fmt.Errorf("cannot remove %s: %w", Redact(location), errors.ErrUnsupported)
}

func (s *single) List(_ context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		yield(Info{}, fmt.Errorf("cannot list %s: %w", Redact(prefix), errors.ErrUnsupported))
	}
}

type singleWriter struct {
	location string
	w        io.Writer
	buffer   buffer
}

func (w *singleWriter) Write(ctx context.Context, p []byte) error {
	w.use(ctx)
	return w.buffer.write(ctx, p)
}

func (w *singleWriter) Flush(ctx context.Context) error {
	w.use(ctx)
	return w.buffer.flush(ctx)
}

// use sets the context of the writes that follow.
func (w *singleWriter) use(ctx context.Context) {
	if to, ok := w.w.(*IOWriter); ok {
		to.Context = ctx
	}
}

func (w *singleWriter) Size() int64  { return w.buffer.size }
func (w *singleWriter) Name() string { return Redact(w.location) }

func (w *singleWriter) Publish(ctx context.Context) error {
	err := w.Flush(ctx)
	w.buffer.err = errEnded
	return err
}

func (w *singleWriter) Abort(context.Context) error {
	w.buffer.err = errEnded
	return nil
}

// singleWriterAt writes to a [WriterAt] that was empty.
type singleWriterAt struct {
	*singleWriter
	to WriterAt
}

func (w singleWriterAt) WriteAt(ctx context.Context, p []byte, off int64) error {
	return w.buffer.writeAt(ctx, at{ctx, w.to}, p, off)
}

// at is a [WriterAt] as an io.WriterAt.
type at struct {
	ctx context.Context
	to  WriterAt
}

func (a at) WriteAt(p []byte, off int64) (int, error) {
	if err := a.to.WriteAt(a.ctx, p, off); err != nil {
		return 0, err
	}
	return len(p), nil
}
