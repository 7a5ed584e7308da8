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
	builder  *otlp.Builder
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
	if err = s.survey(ctx, ro); err != nil {
		return s.wrap(err)
	}
	spans.Order(s.fields)
	s.full = spans.Schema(s.fields, spans.Options{Dictionaries: s.o.Dictionaries, Events: s.o.Events})
	if s.projection, err = provider.Project(s.full, ro.Columns); err != nil {
		return s.wrap(err)
	}
	s.builder = s.newBuilder()
	messages, err := s.begin(ctx)
	if err != nil {
		return s.wrap(err) // messages may hold a nil pointer
	}
	s.messages = messages
	return nil
}

// begin opens the messages from the first one on.
func (s *source) begin(ctx context.Context) (messageReader, error) {
	in := s.in
	in.Closer = nil
	if s.temp != nil {
		in.At, in.Size = s.temp, s.temp.Size()
	}
	return s.open(ctx, in)
}

func (s *source) newBuilder() *otlp.Builder {
	return otlp.NewBuilder(otlp.Options{PadIDs: s.o.PadIDs, Truncate: s.o.Truncate})
}

func (s *source) wrap(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Of(err, s.in.Name)
}

// surveyRows is the number of rows after which the survey looks at the columns.
const surveyRows = 8192

// survey reads all messages, and finds their columns and what these have in common.
func (s *source) survey(ctx context.Context, ro provider.ReadOptions) (err error) {
	messages, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := messages.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}()
	b := s.newBuilder()
	var columns spans.Survey
	look := func() {
		block := b.Finish()
		columns.Add(block.Columns)
		s.rows += int64(block.Rows)
	}
	for n := 0; ; n++ {
		msg, ok, err := messages.Next(ctx)
		if err == nil && !ok {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.AddTraces(msg)
		}
		if err != nil {
			return fault.In(err, fmt.Sprintf("message %d", n), -1)
		}
		if b.Rows() >= surveyRows {
			look()
		}
	}
	if b.Rows() > 0 {
		look()
	}
	s.fields = columns.Fields()
	s.warn(b.Stats(), ro)
	return nil
}

// warn tells what a table does not have.
func (s *source) warn(st otlp.Stats, ro provider.ReadOptions) {
	for _, w := range []struct {
		n    int64
		what string
	}{
		{st.EmptyResources, "resources without spans are left out"},
		{st.EmptyScopes, "scopes without spans are left out"},
		{st.UnknownFields, "fields around resources that OTLP does not have are left out"},
		{st.Truncated, "values are cut"},
		{st.Padded, "ids are padded with zeros"},
	} {
		if w.n > 0 {
			ro.Warning(fmt.Sprintf("%s: %d %s", s.in.Name, w.n, w.what))
		}
	}
}

// Schema implements [provider.Source].
func (s *source) Schema() *arrow.Schema { return s.projection.Schema() }

// Rows implements [provider.Source].
func (s *source) Rows() (int64, bool) { return s.rows, true }

// Next implements [provider.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for s.builder.Rows() < s.batchRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		msg, ok, err := s.messages.Next(ctx)
		if err == nil && !ok {
			break
		}
		if err == nil {
			err = s.builder.AddTraces(msg)
		}
		if err != nil {
			return nil, s.wrap(err)
		}
	}
	if s.builder.Rows() == 0 {
		return nil, nil
	}
	b, err := s.builder.Take(s.batchRows)
	if err != nil {
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
