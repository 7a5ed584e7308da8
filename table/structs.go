package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/structs"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// RowsOf scans a table as structs of type T. Only the columns, and parts of nested columns, that T has fields for are
// read; fields and their tags are those of shard.WriterOf. The filter may use other columns, too. Of the options, Columns,
// Dictionaries, Decimals64, Lengths and Reuse follow from T and must not be set.
//
//	for order, err := range table.RowsOf[Order](ctx, t, table.ScanOptions{Filter: expensive}) { … }
//
// A field of another type than WriterOf makes is an error, except that
//
//   - integers and durations may have any width or unit: a value that does not fit is an error with its row
//   - float16 and float32 become float64 or float32, and narrower decimals of the same scale wider ones
//   - string and []byte take strings of any layout, []byte and []V also values and lists of a fixed length
//   - time.Time takes timestamps of any unit, in their zone, and dates; time.Duration takes times of a day
//   - dictionaries and run-end encoded columns count as their values, and extension types as their storage
//
// Such an error, or one about a field that the table has no column for, is the first and only step of the loop. A null is
// nil; in a field that cannot be nil, it is an error with its row. Every error ends the loop. A loop that is left early
// ends all reading.
//
// Rows may be kept, with the strings, slices and pointers in them. Up to 64 KiB of values in neighbouring rows share
// memory, which is freed when the last of them is: a program that keeps few strings for long should clone them.
func RowsOf[T any](ctx context.Context, t *Table, o ScanOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		src, r, err := openStructs[T](ctx, t, o)
		if err != nil {
			yield(none, err)
			return
		}
		before := int64(0)
		for batch, err := range tables.Batches(ctx, src) {
			if err != nil {
				yield(none, err)
				return
			}
			more, err := r.Each(batch, yield)
			if err != nil {
				yield(none, placeIn(src, before, err))
				return
			}
			if !more {
				return
			}
			before += batch.NumRows()
		}
	}
}

// openStructs opens a table with the columns that T has fields for.
func openStructs[T any](ctx context.Context, t *Table, o ScanOptions) (provider.Source, *structs.Reader[T], error) {
	if o.Columns != nil || o.Dictionaries || o.Decimals64 != nil || o.Lengths != nil || o.Reuse {
		return nil, nil, fmt.Errorf("ScanOptions.Columns, Dictionaries, Decimals64, Lengths and Reuse follow from %s and must not be set", reflect.TypeFor[T]())
	}
	rows, err := structs.TypeOf[T]()
	if err != nil {
		return nil, nil, err
	}
	o.Reuse = true // the reader copies texts
	ro := t.options(o)
	ro.Choose = func(in *arrow.Schema) (columns []string, _ filter.Expr, err error) {
		columns, err = columnsOf(rows.Leaves(), in)
		return columns, o.Filter, err
	}
	src, err := t.openChosen(ctx, ro)
	if err != nil {
		return nil, nil, err
	}
	r, err := rows.NewReader(src.Schema())
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	return src, r, nil
}

// columnsOf are the paths of fields in the columns of a table.
func columnsOf(fields []structs.Field, in *arrow.Schema) (paths []string, err error) {
	for _, f := range fields {
		path := ""
		for _, name := range f.Names {
			path = schema.JoinPath(path, name)
		}
		if _, err := provider.Project(in, []string{path}); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Go, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// placeIn counts the row of an error in the last batch of a source, which had some rows before: from the first of the table or, if the source
// does not know positions, of the result.
func placeIn(src provider.Source, before int64, err error) error {
	e := (*structs.RowError)(nil)
	if !errors.As(err, &e) {
		return err
	}
	row, of := before+int64(e.Row), "result"
	if ranges := provider.RangesOf(src); ranges != nil {
		row, of = rowset.Row(ranges, int64(e.Row)), "table"
	}
	return fmt.Errorf("row %d of the %s: field %s: %w", row, of, e.Field, e.Err)
}
