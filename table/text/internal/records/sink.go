package records

import (
	"bufio"
	"context"
	"errors"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Sink is the part of a sink of text that does not depend on the format.
type Sink struct {
	End string // the text behind all rows

	out   provider.Output
	to    *storage.IOWriter // out
	w     *bufio.Writer     // to
	buf   []byte            // the last row
	ended bool
}

// NewSink returns a sink that begins with some text.
func NewSink(ctx context.Context, out provider.Output, begin []byte) (Sink, error) {
	to := &storage.IOWriter{Context: ctx, Writer: out}
	s := Sink{out: out, to: to, w: bufio.NewWriterSize(to, 256<<10)}
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

// Close implements [provider.Sink].
func (s *Sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	s.ended = true
	_, err := s.w.WriteString(s.End)
	if err == nil {
		err = s.w.Flush()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return s.out.Publish(ctx)
	}
	return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
}

// Abort implements [provider.Sink].
func (s *Sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort(ctx)
}
