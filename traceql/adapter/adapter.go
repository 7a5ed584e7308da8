// Package adapter makes sources of TraceQL queries out of files and tables.
package adapter

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/traceql"
)

// Blockpack is the source of an open Blockpack file, which stays the caller's.
func Blockpack(ctx context.Context, f *blockpack.File) (traceql.Source, error) {
	return nil, errors.ErrUnsupported
}

// Shard is the source of an open shard, which stays the caller's.
func Shard(ctx context.Context, s *shard.Shard) (traceql.Source, error) {
	return nil, errors.ErrUnsupported
}

// Table is the source of a table that open opens anew for each scan, with these columns and this filter as in [table.ReadOptions].
func Table(schema *arrow.Schema, open func(ctx context.Context, columns []string, f filter.Expr) (table.Source, error)) traceql.Source {
	return nil
}
