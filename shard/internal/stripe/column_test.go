package stripe_test

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
)

// testColumn is a column that is read with the same options.
type testColumn struct {
	*read.Column
	o *table.ReadOptions
}

// openColumn opens a column, whose arrays an allocator makes, by default that of Arrow.
func openColumn(ctx context.Context, src stripe.Source, col arrowmap.Column, mem memory.Allocator) (*testColumn, error) {
	c, err := read.OpenColumn(ctx, src, col, read.Options{})
	return &testColumn{c, &table.ReadOptions{Allocator: mem}}, err
}

func (c *testColumn) Read(ctx context.Context, from, to int64) (arrow.Array, error) {
	return c.ReadRows(ctx, rowset.Of(rowset.Range{From: from, To: to}))
}

func (c *testColumn) ReadRows(ctx context.Context, rows rowset.Set) (arrow.Array, error) {
	return c.Column.Read(ctx, rows, c.o)
}

func (c *testColumn) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte) (rowset.Set, error) {
	return c.Column.SelectCodes(ctx, rows, keep, c.o)
}

func (c *testColumn) Repeat(ctx context.Context, entry int, n int64) (arrow.Array, error) {
	return c.Column.Repeat(ctx, entry, n, c.o)
}

func (c *testColumn) FindNumbers(ctx context.Context, rows rowset.Set, test predicate.Test) (rowset.Set, bool, error) {
	return c.Column.FindNumbers(ctx, rows, test, c.o)
}

func (c *testColumn) FindInBlocks(ctx context.Context, rows rowset.Set, holds table.Holds, required table.Required) (rowset.Set, bool, error) {
	return c.Column.FindInBlocks(ctx, rows, holds, required, c.o)
}
