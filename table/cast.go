package table

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// castSource converts columns of a source to the types of a schema. A value that its new type cannot hold exactly is
// an error.
type castSource struct {
	Source
	name   string // of the input
	mem    memory.Allocator
	schema *arrow.Schema
	row    int64 // of the next batch's first row, from 0
}

// newCastSource wraps a source. It closes the source if it fails.
func newCastSource(src Source, name string, o ReadOptions) (Source, error) {
	from := src.Schema()
	fields := from.Fields()
	for _, f := range o.Schema {
		at := from.FieldIndices(f.Name)
		if len(at) == 0 && o.Columns == nil { // with Columns it is not requested
			src.Close()
			return nil, fmt.Errorf("column %q of the schema is not in %s", f.Name, name)
		}
		for _, i := range at {
			fields[i].Type, fields[i].Nullable = f.Type, f.Nullable
		}
	}
	meta := from.Metadata()
	return &castSource{Source: src, name: name, mem: o.WithDefaults().Allocator, schema: arrow.NewSchema(fields, &meta)}, nil
}

// Schema implements [Source].
func (s *castSource) Schema() *arrow.Schema { return s.schema }

// Next implements [Source].
func (s *castSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := s.Source.Next(ctx)
	if err != nil {
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
	b := array.NewBuilder(s.mem, f.Type)
	defer b.Release()
	set, err := newCaster(a, b)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w in %s", f.Name, err, s.name)
	}
	for i := range a.Len() {
		if values.IsNull(a, i) {
			b.AppendNull()
		} else if err := set(i); err != nil {
			return nil, s.misfit(f, i, string(values.Text(a)(nil, i)), err)
		}
	}
	return b.NewArray(), nil
}

func (s *castSource) misfit(f arrow.Field, i int, value string, err error) error {
	e := &ValueError{Column: f.Name, Value: text.Clip(value), Row: s.row + int64(i) + 1, Input: s.name, Err: err}
	var m *values.Misfit
	if errors.As(err, &m) {
		e.Column, e.Err = f.Name+m.Path, m.Err
	}
	return e
}

// newCaster returns a function that appends value i of an array to a builder of another type. Values are converted by
// their text, which has one meaning for all types. Bytes and strings are copied.
func newCaster(a arrow.Array, b array.Builder) (func(i int) error, error) {
	if copyBytes := bytesCaster(a, b); copyBytes != nil {
		return copyBytes, nil
	}
	mode := text.Strict
	if _, isText := a.(array.StringLike); isText {
		mode = text.Lenient // the text has all information
	}
	set, err := values.NewCellSetter(b, mode)
	if err != nil {
		return nil, err
	}
	write := values.Text(a)
	var buf []byte
	return func(i int) error {
		if v, ok := floatOf(a, i); ok && !exactAs(v, b.Type()) {
			return fmt.Errorf("%v does not fit %s exactly", v, text.Type(b.Type()))
		}
		buf = write(buf[:0], i)
		return set(buf)
	}, nil
}

func floatOf(a arrow.Array, i int) (float64, bool) {
	switch a := a.(type) {
	case *array.Float16:
		return float64(a.Value(i).Float32()), true
	case *array.Float32:
		return float64(a.Value(i)), true
	case *array.Float64:
		return a.Value(i), true
	}
	return 0, false
}

// exactAs reports whether a float is unchanged in another type, as far as its text does not show.
func exactAs(v float64, t arrow.DataType) bool {
	switch id := t.ID(); {
	case id == arrow.FLOAT32:
		return v != v || float64(float32(v)) == v
	case id == arrow.FLOAT16:
		return v != v || float64(float16.New(float32(v)).Float32()) == v
	case arrow.IsInteger(id) || arrow.IsDecimal(id):
		return v != 0 || !math.Signbit(v) // these have no -0
	}
	return true
}

// bytesCaster converts between strings and bytes of all layouts. It returns nil for other types.
func bytesCaster(a arrow.Array, b array.Builder) func(i int) error {
	var value func(i int) []byte
	isText := false
	switch a := a.(type) {
	case array.StringLike:
		value, isText = func(i int) []byte { return []byte(a.Value(i)) }, true
	case array.ExtensionArray:
		return nil
	case interface{ Value(int) []byte }:
		value = a.Value
	default:
		return nil
	}
	switch t := b.Type().(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		add := b.(interface{ Append(string) }).Append
		return func(i int) error {
			v := value(i)
			if !isText && !utf8.Valid(v) {
				return fmt.Errorf("%q is not valid UTF-8", text.Clip(string(v)))
			}
			add(string(v))
			return nil
		}
	case *arrow.FixedSizeBinaryType:
		add := b.(*array.FixedSizeBinaryBuilder).Append
		return func(i int) error {
			v := value(i)
			if len(v) != t.ByteWidth {
				return fmt.Errorf("%q has %d %s, not %d", text.Clip(string(v)), len(v), text.Plural(len(v), "byte"), t.ByteWidth)
			}
			add(v)
			return nil
		}
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		add := b.(interface{ Append([]byte) }).Append
		return func(i int) error { add(value(i)); return nil }
	}
	return nil
}
