package read

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/storage"
)

// offsetIndex returns the places of the pages by the offset index, nil if there is none.
//
//	1 list of { 1 i64 offset, 2 i32 bytes with the header, 3 i64 first row }
//
// Each page is checked against its own header when it is read.
func (c *chunk) offsetIndex(ctx context.Context, have storage.Prefetched) ([]pagePlace, error) {
	at := c.meta.GetOffsetIndexLocation()
	if at == nil || at.Length <= 0 || c.rows == 0 {
		return nil, nil
	}
	b, err := c.file.bytesAt(ctx, have, at.Offset, int64(at.Length))
	if err != nil {
		return nil, fault.In(err, "offset index", at.Offset)
	}
	var pages []pagePlace
	t := compact{b: b}
	t.fields(0, func(id int64, kind byte) bool {
		if id != 1 || kind != kindList || pages != nil {
			return false
		}
		item, n := t.list()
		if item != kindStruct {
			t.fail(errThrift)
		}
		for range n {
			var p pagePlace
			t.fields(1, func(id int64, kind byte) bool {
				switch {
				case id == 1 && kind == kindI64:
					p.at = t.int()
				case id == 2 && kind == kindI32:
					p.size = t.int()
				case id == 3 && kind == kindI64:
					p.first = t.int()
				default:
					return false
				}
				return true
			})
			pages = append(pages, p)
		}
		return true
	})
	if t.err != nil {
		return nil, fault.In(fault.Corruptf("%v", t.err), "offset index", at.Offset)
	}
	return pages, fault.In(c.checkPages(pages), "offset index", at.Offset)
}

// checkPages checks that pages are in order, within the column chunk, and have all rows.
func (c *chunk) checkPages(pages []pagePlace) error {
	if len(pages) == 0 || pages[0].first != 0 {
		return fault.Corruptf("no page has row 0")
	}
	for i, p := range pages {
		if p.at < 0 || p.size <= 0 || p.at > c.file.size || p.size > c.file.size-p.at {
			return fault.Corruptf("page %d of %d bytes at %d lies outside the file", i, p.size, p.at)
		}
		if n := c.rowsOf(pages, i); n <= 0 && (i+1 < len(pages) || n < 0) {
			return fault.Corruptf("page %d has %d rows", i, n)
		}
	}
	return nil
}

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
	t := compact{b: b}
	t.fields(0, func(id int64, kind byte) bool {
		if kind != kindList {
			return false
		}
		item, n := t.list()
		for range n {
			switch {
			case t.err != nil:
				return true
			case id == 1 && (item == kindTrue || item == kindFalse):
				x.allNull = append(x.allNull, t.byte() == 1)
			case id == 2 && item == kindBinary:
				x.low = append(x.low, t.binary())
			case id == 3 && item == kindBinary:
				x.high = append(x.high, t.binary())
			case id == 5 && item == kindI64:
				x.nulls = append(x.nulls, t.int())
			default:
				t.skipItem(0, item)
			}
		}
		return true
	})
	return x, t.err
}

// bounds returns the bounds of the pages of a chunk, nil if there are none. Pages that the offset index does not
// describe are a fault.
func (c *chunk) bounds(ctx context.Context, l *leaf, have storage.Prefetched) (*source.Pages, error) {
	at := c.meta.GetColumnIndexLocation()
	if at == nil || at.Length <= 0 || !c.file.orderOf(c.leaf).current || c.rows == 0 {
		return nil, nil
	}
	places, err := c.layout(ctx, have)
	if err != nil || !c.indexed || len(places) < 2 {
		return nil, err
	}
	b, err := c.file.bytesAt(ctx, have, at.Offset, int64(at.Length))
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
	if c.contradicts(places, &x) {
		return nil, nil
	}
	pages := &source.Pages{N: n, Starts: make([]int64, n+1)}
	for i, p := range places {
		pages.Starts[i] = p.first
	}
	pages.Starts[n] = c.rows
	low, high := c.limits(l, &x, x.low), c.limits(l, &x, x.high)
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
			return c.rowsOf(places, i)
		case x.nulls != nil:
			return x.nulls[i]
		}
		return -1
	}
	return pages, nil
}

// contradicts reports whether a column index says of pages that they are null, contrary to the schema or to its own counts. Some
// writers do so for pages of which they know nothing.
func (c *chunk) contradicts(places []pagePlace, x *columnIndex) bool {
	for i, null := range x.allNull {
		rows := c.rowsOf(places, i)
		if null && rows > 0 && c.column.MaxDefinitionLevel() == 0 {
			return true
		}
		if x.nulls != nil && (x.nulls[i] < 0 || x.nulls[i] > rows || null != (x.nulls[i] == rows) && rows > 0) {
			return true
		}
	}
	return false
}

// limits are the bounds of pages that have values. It is nil if they are no values of the column.
func (c *chunk) limits(l *leaf, x *columnIndex, plain [][]byte) func(page int) predicate.Limit {
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
	a := c.file.values(l, given)
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
