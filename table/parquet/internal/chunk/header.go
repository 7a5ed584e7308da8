package chunk

import (
	"context"
	"errors"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/thrift"
)

// Numbers of page types and encodings.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3

	plain             = 0
	plainDictionary   = 2
	rle               = 3
	bitPacked         = 4
	rleDictionary     = 8
	maxPageHeader     = 16 << 20 // bytes: it may have statistics of long values
	commonPageHeader  = 256
	maxFlatPageValues = 1<<31 - 1
)

// pageHeader is the structure in front of each page.
type pageHeader struct {
	size      int // bytes of the structure
	kind      int64
	decoded   int64 // bytes of the page
	encoded   int64 // bytes behind the header
	values    int64
	encoding  int64
	levels    int64 // encoding of definition levels; version 1
	rows      int64 // of version 2, else -1
	defBytes  int64 // of version 2
	repBytes  int64 // of version 2
	isEncoded bool  // the values are compressed
}

// isData reports whether the page has values of rows.
func (h *pageHeader) isData() bool { return IsData(h.kind) }

// IsData reports whether pages of a type have values.
func IsData(kind int64) bool { return kind == pageData || kind == pageDataV2 }

func (h *pageHeader) IsCoded() bool {
	return h.encoding == plainDictionary || h.encoding == rleDictionary
}

// parsePageHeader parses a header at the beginning of b. The error is thrift.ErrShort if b is too short.
func parsePageHeader(b []byte) (h pageHeader, err error) {
	c := thrift.NewReader(b)
	h = pageHeader{kind: -1, values: -1, rows: -1, isEncoded: true, encoding: -1}
	sizes := c.Ints(nil, &h.kind, &h.decoded, &h.encoded)
	version1 := c.Ints(nil, &h.values, &h.encoding, &h.levels) // and dictionary pages, which have the first two
	version2 := c.Ints(nil, &h.values, nil, &h.rows, &h.encoding, &h.defBytes, &h.repBytes)
	c.Fields(func(id int16, kind thrift.Kind) bool {
		switch {
		case (id == 5 || id == 7) && kind == thrift.Struct:
			c.Fields(version1)
		case id == 8 && kind == thrift.Struct:
			c.Fields(func(id int16, kind thrift.Kind) bool {
				if id == 7 && kind == thrift.Bool {
					h.isEncoded = c.Bool()
					return true
				}
				return version2(id, kind)
			})
		default:
			return sizes(id, kind)
		}
		return true
	})
	if c.Err != nil {
		return h, c.Err
	}
	h.size = c.At()
	data := h.isData() || h.kind == pageDictionary
	if least, most := min(h.decoded, h.encoded, h.defBytes, h.repBytes), max(h.decoded, h.encoded, h.defBytes, h.repBytes); least < 0 || most > math.MaxInt32 ||
		data && (h.values < 0 || h.values > maxFlatPageValues) {
		return h, errors.New("a page header has impossible sizes")
	}
	return h, nil
}

// pageHeaderAt reads the header of a page that ends before end.
func (f *Source) pageHeaderAt(ctx context.Context, have storage.Prefetched, at, end int64) (pageHeader, error) {
	for n := int64(commonPageHeader); ; n *= 8 {
		size := min(n, end-at)
		if size <= 0 {
			return pageHeader{}, fault.Corruptf("no page at %d", at)
		}
		b, err := f.BytesAt(ctx, have, at, size)
		if err != nil {
			return pageHeader{}, err
		}
		h, err := parsePageHeader(b)
		switch {
		case err == nil && h.encoded > end-at-int64(h.size):
			return h, fault.Corruptf("the page at %d has %d bytes, of a column chunk that ends at %d", at, h.encoded, end)
		case err == nil:
			return h, nil
		case errors.Is(err, thrift.ErrShort) && size == n && n < maxPageHeader:
		default:
			return h, fault.Corruptf("the page header at %d: %v", at, err)
		}
	}
}

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
