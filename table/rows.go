package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// TakeOptions ask for rows by their positions, in the order of these; a position that is named twice gives its row twice.
type TakeOptions struct {
	Rows    []int64 // positions from 0
	Columns []string
}

// Take returns rows by their positions, as [Table.Scan] does. Inputs that record their number of rows are read only where
// these rows are, others up to the last one. A position beyond the table is a [NoRowError]. Deleted rows have positions, and cannot be taken.
func (t *Table) Take(ctx context.Context, o TakeOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o TakeOptions) open(ctx context.Context, t *Table) (provider.Source, error) {
	for _, row := range o.Rows {
		if row < 0 {
			return nil, fmt.Errorf("Rows: there is no row %d", row)
		}
	}
	return t.union.Take(ctx, o.Rows, t.options(ScanOptions{Columns: o.Columns}))
}

// SampleOptions ask for random rows in their order.
type SampleOptions struct {
	ScanOptions        // the rows to choose from; their limit comes first
	N           int64  // number of rows
	Seed        uint64 // equal seeds draw equal rows of equal inputs
}

// Sample returns N random rows, or all if there are fewer, as [Table.Scan] does. All rows have the same chance. Without filter, rows
// and limit, inputs that record their number of rows are read only where the chosen rows are.
func (t *Table) Sample(ctx context.Context, o SampleOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o SampleOptions) open(ctx context.Context, t *Table) (provider.Source, error) {
	if o.N < 0 {
		return nil, &OptionError{Option: "N", Value: strconv.FormatInt(o.N, 10), Err: errors.New("it is negative")}
	}
	so := o.ScanOptions
	if t.Rereadable() && so.Filter.IsZero() && so.Rows == nil && so.Limit == 0 {
		n, hidden, known, err := t.union.Positions(ctx)
		if err != nil {
			return nil, err
		}
		if shown := n - hidden; known && o.N < shown {
			rows := tables.Positions(o.N, shown, o.Seed)
			places, err := t.union.ShownBut(ctx, hidden)
			if err != nil {
				return nil, err
			}
			places.Locate(rows)
			so.Rows = rowset.Ranges(rows)
			return so.open(ctx, t)
		}
	}
	so.Reuse = false
	src, err := so.open(ctx, t)
	if err != nil {
		return nil, err
	}
	return tables.Sample(src, o.N, o.Seed), nil
}

// TailOptions ask for the last rows.
type TailOptions struct {
	Columns []string
	Filter  filter.Expr
	Rows    []RowRange // before the filter; nil for all
	N       int64      // number of rows
}

// Tail returns the last N rows that meet the filter, as [Table.Scan] does.
func (t *Table) Tail(ctx context.Context, o TailOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o TailOptions) open(ctx context.Context, t *Table) (provider.Source, error) {
	if o.N < 0 {
		return nil, &OptionError{Option: "N", Value: strconv.FormatInt(o.N, 10), Err: errors.New("it is negative")}
	}
	so := ScanOptions{Columns: o.Columns, Filter: o.Filter, Rows: o.Rows}
	if o.N > 0 && o.Filter.IsZero() && o.Rows == nil {
		so.Rows = []RowRange{{From: -o.N, To: math.MaxInt64}}
		return so.open(ctx, t)
	}
	src, err := so.open(ctx, t)
	if err != nil {
		return nil, err
	}
	return tables.Last(src, o.N), nil
}
