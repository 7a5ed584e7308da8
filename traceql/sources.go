package traceql

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	enginetable "github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// BlockpackSource is the source of an open Blockpack file, which stays the caller's. Its trace index, range index and statistics are
// used. The file must not have been opened with Options.Events.
func BlockpackSource(ctx context.Context, f *blockpack.File) (Source, error) {
	s, err := f.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	t, o := tablefile.OfBlockpack(f)
	return blockpackSource{engineSource{t, o, s}, t.(summarizedSource)}, nil
}

type blockpackSource struct {
	engineSource
	summarizedSource
}

// ShardSource is the source of an open shard, which stays the caller's. Its statistics, dictionaries and indexes are used.
func ShardSource(ctx context.Context, s *shard.Shard) (Source, error) {
	schema, err := s.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	return engineSource{tablefile.OfShard(s), scan.Options{}, schema}, nil
}

// engineSource is a table of the engine.
type engineSource struct {
	table   enginetable.Table
	options scan.Options
	schema  *arrow.Schema
}

func (s engineSource) Schema() *arrow.Schema { return s.schema }

func (s engineSource) scan(columns []string, f filter.Expr) scan.Options {
	o := s.options
	o.Columns, o.Filter = columns, f.Node()
	return o
}

func (s engineSource) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[Rows, error] {
	o := s.scan(columns, f)
	o.Rows = rows
	return func(yield func(Rows, error) bool) {
		for b, err := range scan.Scan(ctx, s.table, o) {
			var batch Rows
			if err == nil {
				batch = Rows{b.RecordBatch, b.RowRanges()}
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

func (s engineSource) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (plan fmt.Stringer, rows int64, err error) {
	return explained(scan.Explain(ctx, s.table, s.scan(columns, f)))
}

func (s engineSource) Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error] {
	return scan.Distinct(ctx, s.table, column)
}

// explained is the plan of a scan, and the number of rows that indexes and statistics leave.
func explained(e *provider.Explanation, err error) (plan fmt.Stringer, rows int64, _ error) {
	if err != nil {
		return nil, -1, err
	}
	for _, stripe := range e.Stripes {
		left := stripe.Rows
		for _, step := range stripe.Steps {
			left = step.Left
		}
		rows += left
	}
	return e, rows, nil
}

// TableSource is the source of a table, which stays the caller's. Each scan opens the inputs of the table anew.
func TableSource(ctx context.Context, t *table.Table) (Source, error) {
	schema, err := t.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return tableSource{t, schema}, nil
}

type tableSource struct {
	table  *table.Table
	schema *arrow.Schema
}

func (s tableSource) Schema() *arrow.Schema { return s.schema }

func (s tableSource) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[Rows, error] {
	return func(yield func(Rows, error) bool) {
		src, err := s.table.Reader(ctx, table.ScanOptions{Columns: columns, Filter: f, Rows: rows})
		if err != nil {
			yield(Rows{}, err)
			return
		}
		for err == nil {
			var b arrow.RecordBatch
			if b, err = src.Next(ctx); err == nil && b == nil {
				break
			}
			var batch Rows
			if err == nil {
				batch = Rows{b, provider.RangesOf(src)}
			}
			more := yield(batch, err)
			if b != nil {
				b.Release()
			}
			if !more {
				break
			}
		}
		if cerr := src.Close(); cerr != nil && err == nil {
			yield(Rows{}, cerr)
		}
	}
}
