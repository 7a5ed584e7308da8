package table

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table/provider"
)

// DistinctOptions ask for rows without repetition.
type DistinctOptions struct {
	Columns []string // in which rows differ, as in [ScanOptions]
	Filter  filter.Expr
	Rows    []RowRange
	Limit   int64 // maximum number of rows of the result; 0 for all
	Memory  int64 // bytes of rows held in memory; the rest goes to temporary files; default DefaultMemory
}

// Distinct returns each row once, in the order of first appearance, as [Table.Scan] does. Null is a value, and so is NaN.
// Rows that went to temporary files come last.
func (t *Table) Distinct(ctx context.Context, o DistinctOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o DistinctOptions) open(ctx context.Context, t *Table) (_ provider.Source, err error) {
	if err := option.SetDefault("Memory", &o.Memory, DefaultMemory); err != nil {
		return nil, err
	}
	d := &distinctSource{}
	if d.src, err = (ScanOptions{Columns: o.Columns, Filter: o.Filter, Rows: o.Rows}).open(ctx, t); err != nil {
		return nil, err
	}
	if d.rows, err = order.NewDistinct(d.src.Schema(), order.Options{Memory: o.Memory}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return provider.Limit(d, o.Limit), nil
}

// distinctSource returns the distinct rows of a source.
type distinctSource struct {
	src   provider.Source
	rows  *order.Distinct
	ended bool // the source, so that the rest follows
}

func (d *distinctSource) Schema() *arrow.Schema { return d.src.Schema() }
func (d *distinctSource) Rows() (int64, bool)   { return 0, false }

func (d *distinctSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for !d.ended {
		batch, err := d.src.Next(ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			d.ended = true
			if err := d.rows.Finish(ctx); err != nil {
				return nil, err
			}
			break
		}
		out, err := d.rows.Add(ctx, batch)
		batch.Release()
		if out != nil || err != nil {
			return out, err
		}
	}
	return d.rows.Next(ctx)
}

func (d *distinctSource) Close() error {
	var err error
	if d.rows != nil {
		err = d.rows.Close()
	}
	return errors.Join(err, d.src.Close())
}
