// Package rowio gives readers and writers of records the methods that sources and sinks of package provider have in
// common. It does not know that package, so that formats on both sides of it can share them.
package rowio

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Source gives the batches of a reader one after the other. The zero value has no rows, and can only be closed.
type Source struct {
	reader array.RecordReader
	ends   []int64
	next   int64 // rows of all batches so far
	group  int   // of the last batch
}

// NewSource makes a source of a reader, which it releases when it is closed. ends are the numbers of rows up to the
// end of each group of rows that are stored together; nil if the reader gives only some of the rows.
func NewSource(r array.RecordReader, ends []int64) Source { return Source{reader: r, ends: ends} }

// Schema is that of every batch.
func (s *Source) Schema() *arrow.Schema { return s.reader.Schema() }

// Next returns the next batch, which the caller releases, or none at the end.
func (s *Source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.reader.Next() {
		return nil, s.reader.Err()
	}
	batch := s.reader.RecordBatch()
	batch.Retain() // the reader releases its own reference at the next step
	for s.group+1 < len(s.ends) && s.next >= s.ends[s.group] {
		s.group++
	}
	s.next += batch.NumRows()
	return batch, nil
}

// Group is the number of the group that the last batch is a part of, -1 if the reader gives only some of the rows.
func (s *Source) Group() int {
	if s.ends == nil {
		return -1
	}
	return s.group
}

// Release releases the reader, if there is one.
func (s *Source) Release() {
	if s.reader != nil {
		s.reader.Release()
	}
}

// Writer takes batches. After Close or Abort, Abort does nothing.
type Writer interface {
	Write(ctx context.Context, batch arrow.RecordBatch) error
	Close(ctx context.Context) error
	Abort(ctx context.Context) error
}

// Output is where a writer's bytes become visible.
type Output interface {
	Publish(ctx context.Context) error
	Abort(ctx context.Context) error
}

// Sink passes batches to a writer, and publishes its output once it is closed.
type Sink struct {
	writer Writer
	out    Output // nil if the writer publishes by itself
	ended  bool
}

// NewSink makes a sink of a writer. out is nil if the writer publishes its output by itself.
func NewSink(w Writer, out Output) Sink { return Sink{writer: w, out: out} }

// Write passes a batch on. It stays the caller's.
func (s *Sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return s.writer.Write(ctx, batch)
}

// Close closes the writer, then publishes the output, or drops it after an error.
func (s *Sink) Close(ctx context.Context) error {
	s.ended = true
	err := s.writer.Close(ctx)
	switch {
	case s.out == nil:
		return err
	case err == nil:
		return s.out.Publish(ctx)
	}
	return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
}

// Abort drops writer and output. After Close or Abort it does nothing.
func (s *Sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	err := s.writer.Abort(ctx)
	if s.out != nil {
		err = errors.Join(err, s.out.Abort(ctx))
	}
	return err
}
