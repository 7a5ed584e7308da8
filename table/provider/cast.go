package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/internal/text/values"
)

// castSource converts columns of a source to the types of a schema. A value that its new type cannot hold exactly is
// an error.
type castSource struct {
	Source
	name   string // of the input
	mem    memory.Allocator
	schema *arrow.Schema
	rows   []RowRange // of the input that the source has; nil for all
	row    int64      // of the next batch's first row among these, from 0
}

// newCastSource wraps a source. It closes the source if it fails.
func newCastSource(src Source, name string, o ReadOptions) (Source, error) {
	from := src.Schema()
	fields := from.Fields()
	for _, f := range o.Schema {
		at := from.FieldIndices(f.Name)
		if len(at) == 0 && o.Columns == nil { // with Columns it is not requested
			src.Close()
			return nil, projection.Missing(f, name, from.Fields())
		}
		for _, i := range at {
			fields[i] = arrowutil.Retyped(fields[i], f.Type)
			fields[i].Nullable = f.Nullable
		}
	}
	meta := from.Metadata()
	return &castSource{Source: src, name: name, mem: o.WithDefaults().Allocator, schema: arrow.NewSchema(fields, &meta), rows: o.Rows}, nil
}

func (s *castSource) Schema() *arrow.Schema { return s.schema }

func (s *castSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := s.Source.Next(ctx)
	if err != nil || batch == nil {
		return nil, err
	}
	defer batch.Release()
	columns := make([]arrow.Array, batch.NumCols())
	for i, c := range batch.Columns() {
		f := s.schema.Field(i)
		if columns[i], err = s.column(c, f); err != nil {
			return nil, err
		}
		defer columns[i].Release()
	}
	s.row += batch.NumRows()
	return array.NewRecordBatch(s.schema, columns, batch.NumRows()), nil
}

// Positions implements [Hiding].
func (s *castSource) Positions() int64 {
	n, _ := PositionsOf(s.Source)
	return n
}

// Ranges implements [Numbered].
func (s *castSource) Ranges() []RowRange { return RangesOf(s.Source) }

// column casts a column; the caller releases it.
func (s *castSource) column(a arrow.Array, f arrow.Field) (arrow.Array, error) {
	if !f.Nullable {
		for i := range a.Len() {
			if values.IsNull(a, i) {
				return nil, s.misfit(f, i, "null", errors.New("null in a column that is declared not null"))
			}
		}
	}
	if arrow.TypeEqual(a.DataType(), f.Type) {
		a.Retain()
		return a, nil
	}
	out, err := cast.Array(s.mem, a, f.Type)
	var m *cast.Misfit
	switch {
	case errors.As(err, &m):
		e := s.misfit(f, m.Row, m.Value, m.Err)
		e.Column += m.Path
		return nil, e
	case err != nil:
		return nil, fmt.Errorf("column %q: %w in %s", f.Name, err, s.name)
	}
	return out, nil
}

func (s *castSource) misfit(f arrow.Field, i int, value string, err error) *ValueError {
	row := rowset.Row(s.rows, s.row+int64(i))
	if ranges := RangesOf(s.Source); ranges != nil { // which knows, also if it has left out rows by a filter
		row = rowset.Row(ranges, int64(i))
	}
	return &ValueError{Column: f.Name, Value: text.Clip(value), Row: row + 1, Input: s.name, Err: err}
}
