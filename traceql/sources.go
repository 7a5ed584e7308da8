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
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
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
	return blockpackSource{f, s, fields}, nil
}

type blockpackSource struct {
	*blockpack.File
	schema *arrow.Schema
	fields map[string]arrow.Field // by path
}

func (s blockpackSource) Schema() *arrow.Schema { return s.schema }

func (s blockpackSource) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (plan fmt.Stringer, rows int64, err error) {
	return explained(s.Explain(ctx, columns, f))
}

func (s blockpackSource) Traces(ctx context.Context, ids [][]byte, columns []string) iter.Seq2[arrow.RecordBatch, error] {
	fields := make([]arrow.Field, len(columns))
	for i, path := range columns {
		fields[i] = s.fields[path]
	}
	return s.File.Traces(ctx, ids, blockpack.TraceOptions{Schema: arrow.NewSchema(fields, nil)})
}

// ShardSource is the source of an open shard, which stays the caller's. Its statistics, dictionaries and indexes are used.
func ShardSource(ctx context.Context, s *shard.Shard) (Source, error) {
	schema, err := s.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	return shardSource{tablefile.OfShard(s), schema}, nil
}

type shardSource struct {
	table  enginetable.Table
	schema *arrow.Schema
}

func (s shardSource) Schema() *arrow.Schema { return s.schema }

func (s shardSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for b, err := range scan.Scan(ctx, s.table, scan.Options{Columns: columns, Filter: f.Node()}) {
			if !yield(b.RecordBatch, err) {
				return
			}
		}
	}
}

func (s shardSource) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (plan fmt.Stringer, rows int64, err error) {
	return explained(scan.Explain(ctx, s.table, scan.Options{Columns: columns, Filter: f.Node()}))
}

func (s shardSource) Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error] {
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

func (s tableSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return s.table.Scan(ctx, table.ScanOptions{Columns: columns, Filter: f})
}
