package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table/provider"
)

// messageReader returns messages one after the other. It is used by one goroutine.
type messageReader interface {
	// Next returns an encoded TracesData, which is valid until the next call. At the end, ok is false.
	Next(ctx context.Context) (message []byte, ok bool, err error)
	// Close releases the reader.
	Close() error
}

// source reads spans.
type source struct {
	in         provider.Input
	temp       *provider.Spooled // nil unless the input is a pipe
	open       func(ctx context.Context, in provider.Input) (messageReader, error)
	o          FormatOptions
	mem        memory.Allocator
	batchRows  int
	fields     []spans.Field
	full       *arrow.Schema
	projection *provider.Projection
	rows       int64

	messages messageReader // nil before it is open
	number   int           // of the next message
	builder  *otlp.Builder
	kept     []otlp.Block // those of all rows, unless they are too large
	passed   bool         // somebody else reads the messages
}

// newSource returns the spans of messages as a table, which closes the input. newSource does if it fails. A pipe goes through a temporary
// file: open is called twice, as the columns of a table are known only at the end of its messages. The first reader is closed before the
// second call.
func newSource(ctx context.Context, in provider.Input, ro provider.ReadOptions, o FormatOptions, open func(ctx context.Context, in provider.Input) (messageReader, error)) (provider.Source, error) {
	s := &source{in: in, open: open, o: o, mem: ro.Allocator, batchRows: ro.BatchRows}
	if err := s.prepare(ctx, ro); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// messagesOfFile opens a file of messages.
func messagesOfFile(in provider.Input, read ReadOptions, warning func(string)) func(context.Context, provider.Input) (messageReader, error) {
	told := false
	unknown := func(n int64) {
		if !told {
			told = true
			warning(fmt.Sprintf("%s: %d members of JSON objects that OTLP does not have are left out", in.Name, n))
		}
	}
	return func(_ context.Context, in provider.Input) (messageReader, error) {
		return newReader(io.NewSectionReader(in.At, 0, in.Size), read, unknown), nil
	}
}

// prepare finds the columns.
func (s *source) prepare(ctx context.Context, ro provider.ReadOptions) (err error) {
	if s.in.At == nil || s.in.Size < 0 {
		if s.temp, err = provider.Spool(s.in.Reader, ro.TempDir); err != nil {
			return err
		}
	}
	if err = s.begin(ctx); err != nil {
		return s.wrap(err)
	}
	if s.passed = ro.Messages != nil && !s.o.PadIDs; s.passed {
		ro.Messages(s.next)
	} else if err = s.survey(ctx, ro); err != nil {
		return s.wrap(err)
	}
	spans.Order(s.fields)
	s.full = spans.Schema(s.fields, spans.Options{Events: s.o.Events})
	s.projection, err = provider.Project(s.full, ro.Columns)
	return s.wrap(err)
}

// begin opens the messages from the first one on.
func (s *source) begin(ctx context.Context) error {
	in := s.in
	in.Closer = nil
	if s.temp != nil {
		in.At, in.Size = s.temp, s.temp.Size()
	}
	messages, err := s.open(ctx, in)
	if err != nil {
		return err // messages may hold a nil pointer
	}
	s.messages, s.number = messages, 0
	s.builder = otlp.NewBuilder(otlp.Options{PadIDs: s.o.PadIDs})
	return nil
}

// next returns the next message, nil at the end.
func (s *source) next(ctx context.Context) ([]byte, error) {
	msg, ok, err := s.messages.Next(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, s.inMessage(err)
	}
	if !ok {
		return nil, nil
	}
	s.number++
	return msg, nil
}

// inMessage adds to an error which message it is about.
func (s *source) inMessage(err error) error {
	return s.wrap(fault.In(err, fmt.Sprintf("message %d", s.number), -1))
}

func (s *source) wrap(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Of(err, s.in.Name)
}

// maxKept bounds the memory of blocks that are kept from the survey, so that messages need not be parsed again. Tests change it.
var maxKept int64 = 64 << 20

// survey reads all messages, and finds their columns and what these have in common.
func (s *source) survey(ctx context.Context, ro provider.ReadOptions) error {
	var columns spans.Survey
	size := int64(0)
	for {
		block, err := s.block(ctx)
		if err != nil {
			return err
		}
		if block.Rows == 0 {
			break
		}
		columns.Add(block.Columns)
		s.rows += int64(block.Rows)
		for _, c := range block.Columns {
			size += c.Size()
		}
		if s.kept = append(s.kept, block); size > maxKept {
			s.kept = s.kept[:0]
		}
	}
	s.fields = columns.Fields()
	s.builder.Stats().Tell(func(text string) { ro.Warning(s.in.Name + ": " + text) })
	if size <= maxKept {
		return nil
	}
	s.kept = nil
	err := s.messages.Close()
	s.messages = nil
	if err == nil {
		err = s.begin(ctx)
	}
	return err
}

// block parses messages until they have the rows of a batch. It has no rows at the end.
func (s *source) block(ctx context.Context) (otlp.Block, error) {
	for s.builder.Rows() < s.batchRows {
		msg, err := s.next(ctx)
		if err != nil {
			return otlp.Block{}, err
		}
		if msg == nil {
			break
		}
		if err := s.builder.AddTraces(msg); err != nil {
			s.number--
			return otlp.Block{}, s.inMessage(err)
		}
	}
	return s.builder.Take(s.batchRows)
}

// Schema implements [provider.Source].
func (s *source) Schema() *arrow.Schema { return s.projection.Schema() }

// Rows implements [provider.Source].
func (s *source) Rows() (int64, bool) { return s.rows, !s.passed }

// Next implements [provider.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil || s.passed {
		return nil, err
	}
	var b otlp.Block
	var err error
	if len(s.kept) > 0 {
		b, s.kept[0] = s.kept[0], otlp.Block{}
		s.kept = s.kept[1:]
	} else {
		b, err = s.block(ctx) // nothing is left if all were kept
	}
	if err != nil || b.Rows == 0 {
		return nil, s.wrap(err)
	}
	batch, err := s.batch(b)
	return batch, s.wrap(err)
}

// batch makes the columns of the projection.
func (s *source) batch(b otlp.Block) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, s.projection.NumColumns())
	defer func() { arrowutil.ReleaseAll(columns) }()
	for i := range columns {
		k := s.projection.Index(i)
		var err error
		if columns[i], err = spans.Array(s.mem, b.Column(s.fields[k].Name, s.fields[k].Type), b.Rows, s.full.Field(k)); err != nil {
			return nil, err
		}
	}
	return s.projection.Batch(columns, int64(b.Rows))
}

// Close implements [provider.Source].
func (s *source) Close() error {
	var err error
	if s.messages != nil {
		err = s.messages.Close()
	}
	return errors.Join(err, s.temp.Close(), s.in.Close())
}
