package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
)

// ReadLying reads rows of a leaf after its layout was changed in one page.
func (t *Table) ReadLying(ctx context.Context, group, leaf int, rows rowset.Set, change func(at, size, first *int64)) error {
	c, err := t.chunk(group, leaf)
	if err != nil {
		return err
	}
	pages, err := c.Layout(ctx, nil)
	if err != nil {
		return err
	}
	p := &pages[1]
	change(&p.At, &p.Size, &p.First)
	s, _ := t.scalarOf(leaf)
	same := func(_ memory.Allocator, stored arrow.Array, _ arrow.DataType) (arrow.Array, error) {
		return stored, nil
	}
	_, err = chunk.NewReader(c, s, chunk.ReaderOptions{Plain: s.Storage, Restore: same}).ReadPhysical(ctx, rows, &table.ReadOptions{Allocator: memory.DefaultAllocator})
	return err
}
