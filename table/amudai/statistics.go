package amudai

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// statistics implements [provider.Format.Statistics].
func statistics(ctx context.Context, in provider.Input, columns []string, o Options) (out *provider.Statistics, err error) {
	if isPipe(in) {
		return nil, nil
	}
	s, err := openShard(ctx, in, o.Open)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	full, err := s.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = pathsOf(nil, "", full.Fields())
	}
	visible, err := s.Count(ctx, filter.Expr{})
	if err != nil {
		return nil, err
	}
	out = &provider.Statistics{Rows: visible, Hidden: s.NumRows() - visible, Columns: make([]provider.ColumnStatistics, len(columns))}
	for i, path := range columns {
		if out.Columns[i], err = columnStatistics(ctx, s, full, path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pathsOf appends the paths of fields, and of those inside structs.
func pathsOf(paths []string, parent string, fields []arrow.Field) []string {
	for i, name := range arrowmap.UniqueNames(fields) {
		path := schema.JoinPath(parent, name)
		paths = append(paths, path)
		plain, _ := extension.Unwrap(fields[i].Type)
		if t, ok := plain.(*arrow.StructType); ok {
			paths = pathsOf(paths, path, t.Fields())
		}
	}
	return paths
}

func columnStatistics(ctx context.Context, s *shard.Shard, full *arrow.Schema, path string) (provider.ColumnStatistics, error) {
	c := provider.ColumnStatistics{Path: path, Nulls: -1, NaNs: -1, Distinct: -1, Bytes: -1}
	selected, err := provider.Project(full, []string{path})
	if err != nil {
		return c, err
	}
	var inside bool // of a list or map, whose items are not rows
	if c.Type, inside = leaf(selected.Schema().Field(0).Type, len(schema.SplitPath(path))-1); inside {
		return c, nil
	}
	stored, err := s.Statistics(ctx, path)
	if err != nil {
		return c, err
	}
	c.Nulls, c.NaNs, c.Distinct, c.DistinctEstimated = stored.Nulls, stored.NaNs, stored.Distinct, stored.DistinctEstimated
	if c.Min, err = logical(stored.Min, c.PlainType()); err == nil {
		c.Max, err = logical(stored.Max, c.PlainType())
	}
	c.Exact = stored.MinExact && stored.MaxExact
	return c, err
}

// leaf is the type that a path of some steps below a projected column leads to.
func leaf(dt arrow.DataType, steps int) (_ arrow.DataType, inside bool) {
	for range steps {
		plain, _ := extension.Unwrap(dt)
		t, ok := plain.(*arrow.StructType)
		if !ok {
			return dt, arrow.IsNested(plain.ID())
		}
		if t.NumFields() != 1 {
			return dt, false
		}
		dt = t.Field(0).Type
	}
	return dt, false
}

// logical converts an array of one value of a physical type. A nil array stays nil.
func logical(arr arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	if arr == nil || arrow.TypeEqual(arr.DataType(), dt) {
		return arr, nil
	}
	return arrowutil.Wrap(memory.DefaultAllocator, arr, dt)
}
