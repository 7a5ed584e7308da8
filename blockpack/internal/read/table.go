package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/storage"
)

// NumRows implements [table.Table].
func (t *Table) NumRows() int64 {
	rows := t.blocks.firstRows
	return rows[len(rows)-1]
}

// NumStripes implements [table.Table]: a block that has no spans is a stripe without rows.
func (t *Table) NumStripes() int { return len(t.blocks.meta.Blocks) }

// Stripe implements [table.Table].
func (t *Table) Stripe(i int) table.Stripe { return &t.blocks.stripes[i] }

// StoredBytes implements [table.Table].
func (t *Table) StoredBytes() int64 { return t.file.Size }

// NumNodes implements [table.Table].
func (t *Table) NumNodes() int { return len(t.columns.Load().fields) }

// Latency implements [table.Table].
func (t *Table) Latency() storage.Latency { return t.reader.Capabilities().Latency }

// Project implements [table.Table].
func (t *Table) Project(_ context.Context, paths []string) (*table.Projection, error) {
	return t.projections.Get(paths, func() (*table.Projection, error) {
		l := t.columns.Load()
		return table.ProjectFields(l.arrow, paths, func(i int, _ *projection.Part) table.Column { return l.column(i) })
	})
}

// column is a column as the engine knows it. Its ID is its index.
func (l *columnList) column(i int) table.Column {
	return table.Column{Arrow: l.arrow.Field(i), Plain: l.arrow.Field(i).Type, ID: uint32(i)}
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	return table.ProjectTops(ctx, t, paths, table.UniqueIn(t.columns.Load().arrow))
}

// Facts implements [table.Table]: of numbers, the range index of a file of this module has the bounds.
func (t *Table) Facts(_ context.Context, path []*table.Column) (predicate.Facts, error) {
	facts := predicate.Facts{NoNulls: !path[0].Arrow.Nullable}
	l, columns := &t.blocks, t.columns.Load()
	f := &columns.fields[path[0].ID]
	c := l.meta.Ranges.Column(f.Name)
	if !l.trusted || c == nil || c.Keys == 0 || c.Type.Base() != f.Type || f.Type.Textual() {
		return facts, nil
	}
	dt := columns.physical.Field(int(path[0].ID)).Type
	facts.Min = limitOf(column.Value{Type: f.Type, Bits: uint64(c.Min)}, dt)
	facts.Max = limitOf(column.Value{Type: f.Type, Bits: uint64(c.Max)}, dt)
	return facts, nil
}

// PhysicalType implements [table.Table].
func (t *Table) PhysicalType(c *table.Column) (dt arrow.DataType, same bool) {
	physical := t.columns.Load().physical.Field(int(c.ID)).Type
	return physical, arrow.TypeEqual(physical, c.Arrow.Type)
}

// Logical implements [table.Table].
func (t *Table) Logical(mem memory.Allocator, physical arrow.Array, c *table.Column) (arrow.Array, error) {
	if arrow.TypeEqual(physical.DataType(), c.Arrow.Type) {
		physical.Retain()
		return physical, nil
	}
	l := t.columns.Load()
	values, err := spans.Column(physical, l.fields[c.ID])
	if err != nil {
		return nil, err
	}
	return spans.Array(mem, values, physical.Len(), nullable(c.Arrow))
}
