package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// ReadLying reads rows of a leaf after its layout was changed in one page.
func (t *Table) ReadLying(ctx context.Context, group, leaf int, rows rowset.Set, change func(at, size, first *int64)) error {
	c, err := t.chunk(group, leaf)
	if err != nil {
		return err
	}
	pages, err := c.layout(ctx, nil)
	if err != nil {
		return err
	}
	p := &pages[1]
	change(&p.at, &p.size, &p.first)
	s, _ := t.scalarOf(leaf)
	_, err = c.read(ctx, memory.DefaultAllocator, &s, rows, 0, input{held: &held{}})
	return c.place(err)
}
