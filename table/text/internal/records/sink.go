package records

import (
	"bufio"
	"context"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Sink is the part of a sink of text that does not depend on the format. A sink of package tablefile publishes it.
type Sink struct {
	End string // the text behind all rows

	to  *storage.IOWriter
	w   *bufio.Writer // to
	buf []byte        // the last row
}

// NewSink returns a sink that begins with some text.
func NewSink(ctx context.Context, out provider.Output, begin []byte) (Sink, error) {
	to := &storage.IOWriter{Context: ctx, Writer: out}
	s := Sink{to: to, w: bufio.NewWriterSize(to, 256<<10)}
	_, err := s.w.Write(begin)
	return s, err
}

// WriteRows writes n rows, of which add appends one.
func (s *Sink) WriteRows(ctx context.Context, n int, add func(dst []byte, row int) ([]byte, error)) (err error) {
	s.to.Context = ctx
	for row := range n {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.buf, err = add(s.buf[:0], row); err != nil {
			return err
		}
		if _, err := s.w.Write(s.buf); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the end.
func (s *Sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	if _, err := s.w.WriteString(s.End); err != nil {
		return err
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	return ctx.Err()
}

// Abort does nothing: a sink of package tablefile drops the output.
func (s *Sink) Abort(context.Context) error { return nil }
