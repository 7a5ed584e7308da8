package shardtable

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// Project implements [table.Table].
func (t *Table) Project(ctx context.Context, paths []string) (*table.Projection, error) {
	return t.projections.Get(paths, func() (*table.Projection, error) { return t.project(ctx, paths) })
}

func (t *Table) project(ctx context.Context, paths []string) (*table.Projection, error) {
	var failed error
	columns, err := arrowmap.Project(t.schema, paths, t.types(ctx, &failed))
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	meta, err := t.metadata(ctx)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].Arrow
	}
	return &table.Projection{Columns: columns, Schema: arrow.NewSchema(fields, meta)}, nil
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	p, err := table.ProjectTops(ctx, t, paths, func(name string) bool {
		n, err := t.schema.Count(name)
		return n == 1 && err == nil
	})
	if err != nil || !slices.ContainsFunc(p.Columns, func(c table.Column) bool { return c.Arrow.Name != c.Stored.Name }) {
		return p, err
	}
	return t.Project(ctx, nil) // because names are unique only among all columns
}
