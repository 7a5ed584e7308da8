package tablefile

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/table/provider"
)

// sink passes batches to a writer, and publishes its output once it is closed.
type sink struct {
	writer provider.Sink
	out    provider.Output
	ended  bool
}

// grouped is a sink that stores rows in groups.
type grouped struct {
	*sink
	cut func(context.Context) error
}

// NewSink makes a sink of a writer that does not publish its output.
func NewSink(w provider.Sink, out provider.Output) provider.Sink { return &sink{writer: w, out: out} }

// NewGroupedSink makes a [provider.StripeCutter] of a writer with a method that ends a group.
func NewGroupedSink(w provider.Sink, out provider.Output, cut func(context.Context) error) provider.Sink {
	return grouped{&sink{writer: w, out: out}, cut}
}

// CutStripe implements [provider.StripeCutter].
func (s grouped) CutStripe(ctx context.Context) error { return s.cut(ctx) }

// Write passes a batch on. It stays the caller's.
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return s.writer.Write(ctx, batch)
}

// Close closes the writer, then publishes the output, or drops it after an error.
func (s *sink) Close(ctx context.Context) error {
	s.ended = true
	if err := s.writer.Close(ctx); err != nil {
		return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
	}
	return s.out.Publish(ctx)
}

// Abort drops writer and output. After Close or Abort it does nothing.
func (s *sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.writer.Abort(ctx), s.out.Abort(ctx))
}
