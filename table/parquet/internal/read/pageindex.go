package read

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/thrift"
)

// columnIndex is the bounds of the pages of a chunk:
//
//	1 list of bool   the page has only nulls
//	2, 3 lists of binary   minima and maxima, as in statistics
//	5 list of i64    nulls; may be missing
type columnIndex struct {
	allNull []bool
	low     [][]byte
	high    [][]byte
	nulls   []int64
}

func parseColumnIndex(b []byte) (x columnIndex, err error) {
	t := thrift.NewReader(b)
	t.Fields(func(id int16, kind thrift.Kind) bool {
		if kind != thrift.List {
			return false
		}
		item, n := t.List()
		for range n {
			switch {
			case t.Err != nil:
				return true
			case id == 1 && item == thrift.Bool:
				x.allNull = append(x.allNull, t.Bool())
			case id == 2 && item == thrift.Binary:
				x.low = append(x.low, t.Binary())
			case id == 3 && item == thrift.Binary:
				x.high = append(x.high, t.Binary())
			case id == 5 && item == thrift.I64:
				x.nulls = append(x.nulls, t.Int())
			default:
				t.Skip(item)
			}
		}
		return true
	})
	return x, t.Err
}

// pageBounds returns the bounds of the pages of a chunk, nil if there are none. Pages that the offset index does not
// describe are a fault.
func (f *File) pageBounds(ctx context.Context, c *chunk.Chunk, l *leaf, have storage.Prefetched) (*source.Pages, error) {
	at := c.Meta.GetColumnIndexLocation()
	if at == nil || at.Length <= 0 || !f.orderOf(c.Leaf).current || c.Rows == 0 {
		return nil, nil
	}
	places, err := c.Layout(ctx, have)
	if err != nil || !c.IsIndexed() || len(places) < 2 {
		return nil, err
	}
	b, err := f.source.BytesAt(ctx, have, at.Offset, int64(at.Length))
	if err != nil {
		return nil, fault.In(err, "column index", at.Offset)
	}
	x, err := parseColumnIndex(b)
	n := len(places)
	if err == nil && (len(x.allNull) != n || len(x.low) != n || len(x.high) != n || x.nulls != nil && len(x.nulls) != n) {
		err = fault.Corruptf("bounds of %d, %d and %d pages, of %d", len(x.allNull), len(x.low), len(x.high), n)
	}
	if err != nil {
		return nil, fault.In(fault.Corruptf("%v", err), "column index", at.Offset)
	}
	if x.contradicts(c, places) {
		return nil, nil
	}
	pages := &source.Pages{N: n, Starts: make([]int64, n+1)}
	for i, p := range places {
		pages.Starts[i] = p.First
	}
	pages.Starts[n] = c.Rows
	low, high := f.limits(l, &x, x.low), f.limits(l, &x, x.high)
	if low == nil || high == nil {
		return nil, nil
	}
	both := func(one func(int) predicate.Limit) func(int) predicate.Limit {
		return func(page int) predicate.Limit { // the other may be NaN
			if !low(page).IsKnown() || !high(page).IsKnown() {
				return predicate.Limit{}
			}
			return one(page)
		}
	}
	pages.Low, pages.High = both(low), both(high)
	pages.Nulls = func(i int) int64 {
		switch {
		case x.allNull[i]:
			return c.RowsOf(places, i)
		case x.nulls != nil:
			return x.nulls[i]
		}
		return -1
	}
	return pages, nil
}

// contradicts reports whether a column index says of pages that they are null, contrary to the schema or to its own counts. Some
// writers do so for pages of which they know nothing.
func (x *columnIndex) contradicts(c *chunk.Chunk, places []chunk.Place) bool {
	for i, null := range x.allNull {
		rows := c.RowsOf(places, i)
		if null && rows > 0 && c.Column.MaxDefinitionLevel() == 0 {
			return true
		}
		if x.nulls != nil && (x.nulls[i] < 0 || x.nulls[i] > rows || null != (x.nulls[i] == rows) && rows > 0) {
			return true
		}
	}
	return false
}

// limits are the bounds of pages that have values. It is nil if they are no values of the column.
func (f *File) limits(l *leaf, x *columnIndex, plain [][]byte) func(page int) predicate.Limit {
	at := make([]int, len(plain)) // of the bound of a page among those of pages with values, -1 for none
	var given [][]byte
	for i, v := range plain {
		if at[i] = -1; !x.allNull[i] {
			at[i] = len(given)
			given = append(given, v)
		}
	}
	none := func(int) predicate.Limit { return predicate.Limit{} }
	if len(given) == 0 {
		return none
	}
	a := f.values(l, given)
	if a == nil {
		return nil
	}
	limits := limitsOf(a)
	return func(page int) predicate.Limit {
		if at[page] < 0 {
			return predicate.Limit{}
		}
		return limits(at[page])
	}
}
