package traceql_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/traceql"
)

// memorySource is a source of batches in memory, which knows nothing about them.
type memorySource struct {
	schema  *arrow.Schema
	batches []arrow.RecordBatch
}

func (s *memorySource) Schema() *arrow.Schema { return s.schema }

func (s *memorySource) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[traceql.Rows, error] {
	return func(yield func(traceql.Rows, error) bool) {
		err := s.scan(columns, f, rows, func(b traceql.Rows) bool { return yield(b, nil) })
		if err != nil {
			yield(traceql.Rows{}, err)
		}
	}
}

func (s *memorySource) scan(columns []string, f filter.Expr, rows []table.RowRange, yield func(traceql.Rows) bool) error {
	bound, err := filter.Bind(f, s.schema)
	if err != nil {
		return err
	}
	p, err := provider.Project(s.schema, columns)
	if err != nil {
		return err
	}
	first := int64(0)
	for _, b := range s.batches {
		bits, err := bound.Select(b)
		if err != nil {
			return err
		}
		for row := range b.NumRows() {
			if rows != nil && !slices.ContainsFunc(rows, func(r table.RowRange) bool { return r.From <= first+row && first+row < r.To }) {
				bits[row/8] &^= 1 << (row % 8)
			}
		}
		for from := 0; from < int(b.NumRows()); { // runs of selected rows
			to := from
			for to < int(b.NumRows()) && bits[to/8]>>(to%8)&1 != 0 {
				to++
			}
			if to > from {
				slice := b.NewSlice(int64(from), int64(to))
				part, err := p.Of(slice)
				if err != nil {
					panic(err)
				}
				more := yield(traceql.Rows{RecordBatch: part, Numbers: []table.RowRange{{From: first + int64(from), To: first + int64(to)}}})
				part.Release()
				slice.Release()
				if !more {
					return nil
				}
			}
			from = to + 1
		}
		first += b.NumRows()
	}
	return nil
}

// column is a column of a table that is made for a test: nil stands for null.
type column struct {
	name   string
	typ    arrow.DataType
	values []any
	meta   arrow.Metadata
	always bool // not nullable
}

// tableOf makes a source with one batch for each rows rows.
func tableOf(t testing.TB, rows int, columns ...column) *memorySource {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	total := 0
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.typ, Nullable: !c.always, Metadata: c.meta}
		total = len(c.values)
	}
	s := &memorySource{schema: arrow.NewSchema(fields, nil)}
	for from := 0; from < total; from += rows {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.schema)
		for i, c := range columns {
			for _, v := range c.values[from:min(from+rows, total)] {
				appendValue(t, b.Field(i), v)
			}
		}
		s.batches = append(s.batches, b.NewRecordBatch())
	}
	return s
}

func appendValue(t testing.TB, b array.Builder, v any) {
	t.Helper()
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(v.(string)); err != nil {
			t.Fatal(err)
		}
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		b.Append(v.([]byte))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Uint64Builder:
		b.Append(uint64(v.(int64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(v.(int64)))
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]string) {
			b.ValueBuilder().(*array.StringBuilder).Append(e)
		}
	default:
		t.Fatalf("no builder for %T", b)
	}
}

var (
	id16  = &arrow.FixedSizeBinaryType{ByteWidth: 16}
	id8   = &arrow.FixedSizeBinaryType{ByteWidth: 8}
	times = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	text  = arrow.BinaryTypes.String
)
