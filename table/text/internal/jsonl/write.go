package jsonl

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// separators are the texts around and between records.
type separators struct{ first, between, after, last string }

// sink writes one object a row, between the given separators.
type sink struct {
	out    provider.Output
	to     *storage.IOWriter // out
	w      *bufio.Writer     // to
	schema *arrow.Schema
	sep    separators
	rows   int64
	buf    []byte
	ended  bool
}

func newSink(ctx context.Context, out provider.Output, schema *arrow.Schema, sep separators) (provider.Sink, error) {
	seen := map[string]bool{}
	for _, f := range schema.Fields() {
		if seen[f.Name] {
			return nil, fmt.Errorf("column %q occurs twice, which a JSON object cannot hold", f.Name)
		}
		seen[f.Name] = true
	}
	to := &storage.IOWriter{Context: ctx, Writer: out}
	s := &sink{out: out, to: to, w: bufio.NewWriterSize(to, 256<<10), schema: schema, sep: sep}
	_, err := s.w.WriteString(sep.first)
	return s, err
}

// Write implements [provider.Sink].
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	s.to.Context = ctx
	columns := make([]values.Appender, batch.NumCols())
	names := make([][]byte, batch.NumCols())
	for i, c := range batch.Columns() {
		f := s.schema.Field(i)
		if err := values.CheckUTF8(f.Name, c); err != nil {
			return err
		}
		columns[i] = values.JSON(c)
		if i > 0 {
			names[i] = append(names[i], ',')
		}
		names[i] = append(jsontext.AppendString(names[i], f.Name), ':')
	}
	for row := range int(batch.NumRows()) {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		dst := s.buf[:0]
		if s.rows > 0 {
			dst = append(dst, s.sep.between...)
		}
		dst = append(dst, '{')
		for i, name := range names {
			dst = columns[i](append(dst, name...), row)
		}
		dst = append(append(dst, '}'), s.sep.after...)
		s.rows++
		s.buf = dst
		if _, err := s.w.Write(dst); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [provider.Sink].
func (s *sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	s.ended = true
	if _, err := s.w.WriteString(s.sep.last); err != nil {
		return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
	}
	return records.FinishOutput(ctx, s.w, s.out)
}

// Abort implements [provider.Sink].
func (s *sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort(ctx)
}
