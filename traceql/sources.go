package traceql

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// BlockpackSource is the source of an open Blockpack file, which stays the caller's. Its trace index, range index and statistics are
// used. The file must not have been opened with Options.Events.
func BlockpackSource(ctx context.Context, f *blockpack.File) (TraceSource, error) {
	s, err := f.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	fields := map[string]arrow.Field{}
	for i, name := range arrowmap.UniqueNames(s.Fields()) {
		fields[schema.JoinPath("", name)] = s.Field(i)
	}
	return &blockpackSource{fileSource{
		schema:   s,
		distinct: f.Distinct,
		scan: func(ctx context.Context, columns []string, e filter.Expr) iter.Seq2[scan.Batch, error] {
			return f.Scan(ctx, blockpack.ScanOptions{Columns: columns, Filter: e})
		},
		explain: func(ctx context.Context, columns []string, e filter.Expr) (*scan.Explanation, error) {
			return f.Explain(ctx, blockpack.ScanOptions{Columns: columns, Filter: e})
		},
	}, f, fields}, nil
}

type blockpackSource struct {
	fileSource
	file   *blockpack.File
	fields map[string]arrow.Field // by path
}

func (s *blockpackSource) Traces(ctx context.Context, ids [][]byte, columns []string) iter.Seq2[arrow.RecordBatch, error] {
	fields := make([]arrow.Field, len(columns))
	for i, path := range columns {
		fields[i] = s.fields[path]
	}
	return s.file.Traces(ctx, ids, blockpack.TraceOptions{Schema: arrow.NewSchema(fields, nil)})
}

// ShardSource is the source of an open shard, which stays the caller's. Its statistics, dictionaries and indexes are used.
func ShardSource(ctx context.Context, s *shard.Shard) (Source, error) {
	schema, err := s.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	return &fileSource{
		schema:   schema,
		distinct: s.Distinct,
		scan: func(ctx context.Context, columns []string, e filter.Expr) iter.Seq2[scan.Batch, error] {
			return s.Scan(ctx, shard.ScanOptions{Columns: columns, Filter: e})
		},
		explain: func(ctx context.Context, columns []string, e filter.Expr) (*scan.Explanation, error) {
			return s.Explain(ctx, shard.ScanOptions{Columns: columns, Filter: e})
		},
	}, nil
}

// fileSource is a file that stays open, with what was read of it.
type fileSource struct {
	schema   *arrow.Schema
	scan     func(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[scan.Batch, error]
	explain  func(ctx context.Context, columns []string, f filter.Expr) (*scan.Explanation, error)
	distinct func(ctx context.Context, column string) iter.Seq2[arrow.Array, error]
}

func (s *fileSource) Schema() *arrow.Schema { return s.schema }

func (s *fileSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for b, err := range s.scan(ctx, columns, f) {
			if !yield(b.RecordBatch, err) {
				return
			}
		}
	}
}

func (s *fileSource) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (plan fmt.Stringer, rows int64, err error) {
	e, err := s.explain(ctx, columns, f)
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

func (s *fileSource) Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error] {
	return s.distinct(ctx, column)
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

func (s tableSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return s.table.Scan(ctx, table.ScanOptions{Columns: columns, Filter: f})
}
