// Package adapter makes sources of TraceQL queries out of files and tables.
package adapter

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/traceql"
)

// Blockpack is the source of an open Blockpack file, which stays the caller's. Its trace index, range index and statistics are used.
// The file must not have been opened with Options.Events.
func Blockpack(ctx context.Context, f *blockpack.File) (traceql.Source, error) {
	s, err := f.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	return &blockpackSource{f, s, pathsOf(s)}, nil
}

// pathsOf finds the fields of a schema by their paths.
func pathsOf(s *arrow.Schema) map[string]arrow.Field {
	fields := map[string]arrow.Field{}
	for i, name := range arrowmap.UniqueNames(s.Fields()) {
		fields[schema.JoinPath("", name)] = s.Field(i)
	}
	return fields
}

type blockpackSource struct {
	file   *blockpack.File
	schema *arrow.Schema
	fields map[string]arrow.Field
}

func (s *blockpackSource) Schema() *arrow.Schema { return s.schema }

func (s *blockpackSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return records(s.file.Scan(ctx, blockpack.ScanOptions{Columns: columns, Filter: f}))
}

func (s *blockpackSource) Traces(ctx context.Context, ids [][]byte, columns []string) iter.Seq2[arrow.RecordBatch, error] {
	fields := make([]arrow.Field, len(columns))
	for i, path := range columns {
		fields[i] = s.fields[path]
	}
	return s.file.Traces(ctx, ids, blockpack.TraceOptions{Schema: arrow.NewSchema(fields, nil)})
}

func (s *blockpackSource) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (fmt.Stringer, int64, error) {
	return explained(s.file.Explain(ctx, blockpack.ScanOptions{Columns: columns, Filter: f}))
}

func (s *blockpackSource) Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error] {
	return s.file.Distinct(ctx, column)
}

// Shard is the source of an open shard, which stays the caller's. Its statistics, dictionaries and indexes are used.
func Shard(ctx context.Context, s *shard.Shard) (traceql.Source, error) {
	schema, err := s.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	return &shardSource{s, schema}, nil
}

type shardSource struct {
	shard  *shard.Shard
	schema *arrow.Schema
}

func (s *shardSource) Schema() *arrow.Schema { return s.schema }

func (s *shardSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return records(s.shard.Scan(ctx, shard.ScanOptions{Columns: columns, Filter: f}))
}

func (s *shardSource) ExplainScan(ctx context.Context, columns []string, f filter.Expr) (fmt.Stringer, int64, error) {
	return explained(s.shard.Explain(ctx, shard.ScanOptions{Columns: columns, Filter: f}))
}

func (s *shardSource) Distinct(ctx context.Context, column string) iter.Seq2[arrow.Array, error] {
	return s.shard.Distinct(ctx, column)
}

// records are the batches of a scan without their row numbers.
func records(batches iter.Seq2[scan.Batch, error]) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for b, err := range batches {
			if !yield(b.RecordBatch, err) {
				return
			}
		}
	}
}

// explained is a description of a scan, with the rows whose values it looks at.
func explained(e *scan.Explanation, err error) (fmt.Stringer, int64, error) {
	if err != nil {
		return nil, -1, err
	}
	rows := int64(0)
	for _, stripe := range e.Stripes {
		left := stripe.Rows
		for _, step := range stripe.Steps {
			left = step.Left
		}
		rows += left
	}
	return e, rows, nil
}

// Table is the source of a table that open opens anew for each scan, with columns and a filter as those of [provider.ReadOptions].
// schema is that of all columns.
func Table(schema *arrow.Schema, open func(ctx context.Context, columns []string, f filter.Expr) (provider.Source, error)) traceql.Source {
	return &tableSource{schema, open}
}

type tableSource struct {
	schema *arrow.Schema
	open   func(ctx context.Context, columns []string, f filter.Expr) (provider.Source, error)
}

func (s *tableSource) Schema() *arrow.Schema { return s.schema }

func (s *tableSource) Scan(ctx context.Context, columns []string, f filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		src, err := s.open(ctx, columns, f)
		if err != nil {
			yield(nil, err)
			return
		}
		err = batches(ctx, src, func(b arrow.RecordBatch) bool { return yield(b, nil) })
		if err = errors.Join(err, src.Close()); err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

var errStop = errors.New("the caller has enough")

// batches calls yield for the batches of a table until it returns false, which is errStop.
func batches(ctx context.Context, src provider.Source, yield func(arrow.RecordBatch) bool) error {
	for {
		b, err := src.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		more := yield(b)
		b.Release()
		if !more {
			return errStop
		}
	}
}
