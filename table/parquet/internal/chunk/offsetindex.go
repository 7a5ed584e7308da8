package chunk

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/thrift"
)

// offsetIndex returns the places of the pages by the offset index, nil if there is none.
//
//	1 list of { 1 i64 offset, 2 i32 bytes with the header, 3 i64 first row }
//
// Each page is checked against its own header when it is read.
func (c *Chunk) offsetIndex(ctx context.Context, have storage.Prefetched) ([]Place, error) {
	at := c.Meta.GetOffsetIndexLocation()
	if at == nil || at.Length <= 0 || c.Rows == 0 {
		return nil, nil
	}
	b, err := c.Source.BytesAt(ctx, have, at.Offset, int64(at.Length))
	if err != nil {
		return nil, fault.In(err, "offset index", at.Offset)
	}
	var pages []Place
	t := thrift.NewReader(b)
	t.Fields(func(id int16, kind thrift.Kind) bool {
		if id != 1 || kind != thrift.List || pages != nil {
			return false
		}
		item, n := t.List()
		if t.Err == nil && item != thrift.Struct {
			t.Err = thrift.ErrFormat
		}
		for range n {
			var p Place
			t.Fields(t.Ints(nil, &p.At, &p.Size, &p.First))
			pages = append(pages, p)
		}
		return true
	})
	if t.Err != nil {
		return nil, fault.In(fault.Corruptf("%v", t.Err), "offset index", at.Offset)
	}
	return pages, fault.In(c.checkPages(pages), "offset index", at.Offset)
}

// checkPages checks that pages are in order, within the column chunk, and have all rows.
func (c *Chunk) checkPages(pages []Place) error {
	if len(pages) == 0 || pages[0].First != 0 {
		return fault.Corruptf("no page has row 0")
	}
	for i, p := range pages {
		if p.At < 0 || p.Size <= 0 || p.At > c.Source.Size || p.Size > c.Source.Size-p.At {
			return fault.Corruptf("page %d of %d bytes at %d lies outside the file", i, p.Size, p.At)
		}
		if n := c.RowsOf(pages, i); n <= 0 && (i+1 < len(pages) || n < 0) {
			return fault.Corruptf("page %d has %d rows", i, n)
		}
	}
	return nil
}
