package jsonl

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// separators are the texts around and between records.
type separators struct{ first, between, after, last string }

// sink writes one object a row, between the given separators.
type sink struct {
	records.Sink
	schema *arrow.Schema
	sep    separators
	rows   int64
}

func newSink(ctx context.Context, out provider.Output, schema *arrow.Schema, sep separators) (provider.Sink, error) {
	seen := map[string]bool{}
	for _, f := range schema.Fields() {
		if seen[f.Name] {
			return nil, fmt.Errorf("column %q occurs twice, which a JSON object cannot hold", f.Name)
		}
		seen[f.Name] = true
	}
	s := &sink{schema: schema, sep: sep}
	var err error
	s.Sink, err = records.NewSink(ctx, out, []byte(sep.first))
	s.End = sep.last
	return tablefile.NewSink(s, out), err
}

func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	columns := make([]values.Appender, batch.NumCols())
	names := make([][]byte, batch.NumCols())
	for i, c := range batch.Columns() {
		f := s.schema.Field(i)
		if err := values.CheckUTF8(f.Name, c); err != nil {
			return err
		}
		columns[i] = values.JSONOf(f, c)
		if i > 0 {
			names[i] = append(names[i], ',')
		}
		names[i] = append(jsontext.AppendString(names[i], f.Name), ':')
	}
	return s.WriteRows(ctx, int(batch.NumRows()), func(dst []byte, row int) ([]byte, error) {
		if s.rows > 0 {
			dst = append(dst, s.sep.between...)
		}
		dst = append(dst, '{')
		for i, name := range names {
			dst = columns[i](append(dst, name...), row)
		}
		s.rows++
		return append(append(dst, '}'), s.sep.after...), nil
	})
}
