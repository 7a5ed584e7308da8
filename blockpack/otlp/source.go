package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/table"
)

// source reads spans. The columns of a table are known only at the end of its messages, so that it reads them twice, first for
// the columns. A pipe goes through a temporary file.
type source struct {
	in         table.Input
	temp       *table.Spooled // nil unless the input is a pipe
	at         io.ReaderAt
	size       int64
	o          FormatOptions
	mem        memory.Allocator
	batchRows  int
	fields     []spans.Field
	full       *arrow.Schema
	projection *table.Projection
	rows       int64

	messages *reader
	builder  *otlp.Builder
}

func open(ctx context.Context, in table.Input, ro table.ReadOptions, o FormatOptions) (table.Source, error) {
	s := &source{in: in, at: in.At, size: in.Size, o: o, mem: ro.Allocator, batchRows: ro.BatchRows}
	if err := s.prepare(ctx, ro); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare finds the columns.
func (s *source) prepare(ctx context.Context, ro table.ReadOptions) error {
	if s.at == nil || s.size < 0 {
		var err error
		if s.temp, err = table.Spool(s.in.Reader, ro.TempDir); err != nil {
			return err
		}
		s.at, s.size = s.temp, s.temp.Size()
	}
	if err := s.survey(ctx, ro); err != nil {
		return s.wrap(err)
	}
	spans.Order(s.fields)
	s.full = spans.Schema(s.fields, spans.Options{Dictionaries: s.o.Dictionaries, Events: s.o.Events})
	var err error
	if s.projection, err = table.Project(s.full, ro.Columns); err != nil {
		return s.wrap(err)
	}
	s.messages = newReader(s.reader(), ReadOptions{MaxMessageBytes: s.o.Read.MaxMessageBytes})
	s.builder = s.newBuilder()
	return nil
}

func (s *source) reader() io.Reader { return io.NewSectionReader(s.at, 0, s.size) }

func (s *source) newBuilder() *otlp.Builder {
	return otlp.NewBuilder(otlp.Options{PadIDs: s.o.PadIDs, Truncate: s.o.Truncate})
}

func (s *source) wrap(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w in %s", err, s.in.Name)
}

// surveyRows is the number of rows after which the survey looks at the columns.
const surveyRows = 8192

// survey reads all messages, and finds their columns and what these have in common.
func (s *source) survey(ctx context.Context, ro table.ReadOptions) error {
	type key struct {
		name string
		typ  column.Type
	}
	traits := map[key]spans.Traits{}
	look := func(b otlp.Block) {
		for _, c := range b.Columns {
			k := key{c.Name, c.Type}
			t := spans.TraitsOf(c)
			if before, ok := traits[k]; ok {
				t = t.Join(before)
			} else if s.rows > 0 {
				t &^= spans.Always
			}
			traits[k] = t
		}
		for k, t := range traits {
			if b.Column(k.name, k.typ) == nil {
				traits[k] = t &^ spans.Always
			}
		}
		s.rows += int64(b.Rows)
	}
	o := s.o.Read
	o.UnknownKeys = func(n int64) {
		ro.Warning(fmt.Sprintf("%s: %d members of JSON objects that OTLP does not have are left out", s.in.Name, n))
		if s.o.Read.UnknownKeys != nil {
			s.o.Read.UnknownKeys(n)
		}
	}
	b := s.newBuilder()
	n := 0
	for msg, err := range Messages(s.reader(), o) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.AddTraces(msg)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", n, err)
		}
		n++
		if b.Rows() >= surveyRows {
			look(b.Finish())
		}
	}
	if b.Rows() > 0 {
		look(b.Finish())
	}
	for k, t := range traits {
		s.fields = append(s.fields, spans.Field{Name: k.name, Type: k.typ, Flags: t})
	}
	s.warn(b.Stats(), ro)
	return nil
}

// warn tells what a table does not have.
func (s *source) warn(st otlp.Stats, ro table.ReadOptions) {
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

// Schema implements [table.Source].
func (s *source) Schema() *arrow.Schema { return s.projection.Schema() }

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) { return s.rows, true }

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for s.builder.Rows() < s.batchRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		msg, err := s.messages.next()
		if err == io.EOF {
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
		return nil, io.EOF
	}
	batch, err := s.batch(s.builder.Take(s.batchRows))
	return batch, s.wrap(err)
}

// batch makes the columns of the projection.
func (s *source) batch(b otlp.Block) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, s.projection.NumColumns())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		k := s.projection.Index(i)
		var err error
		if columns[i], err = spans.Array(s.mem, b.Column(s.fields[k].Name, s.fields[k].Type), b.Rows, s.full.Field(k)); err != nil {
			return nil, err
		}
	}
	if s.projection.NumColumns() == 0 {
		return array.NewRecordBatch(s.projection.Schema(), nil, int64(b.Rows)), nil
	}
	return s.projection.Batch(columns, int64(b.Rows)), nil
}

// Close implements [table.Source].
func (s *source) Close() error {
	return errors.Join(s.temp.Close(), s.in.Close())
}
