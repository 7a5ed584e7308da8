package chunk

import (
	"context"
	"errors"

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
func (h *pageHeader) isData() bool { return h.kind == pageData || h.kind == pageDataV2 }

func (h *pageHeader) IsCoded() bool {
	return h.encoding == plainDictionary || h.encoding == rleDictionary
}

// parsePageHeader parses a header at the beginning of b. The error is thrift.ErrShort if b is too short.
func parsePageHeader(b []byte) (h pageHeader, err error) {
	c := thrift.NewReader(b)
	h = pageHeader{kind: -1, values: -1, rows: -1, isEncoded: true, encoding: -1}
	c.Fields(0, func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thrift.I32:
			h.kind = c.Int()
		case id == 2 && kind == thrift.I32:
			h.decoded = c.Int()
		case id == 3 && kind == thrift.I32:
			h.encoded = c.Int()
		case (id == 5 || id == 7) && kind == thrift.Struct:
			c.Fields(1, h.version1(c))
		case id == 8 && kind == thrift.Struct:
			c.Fields(1, h.version2(c))
		default:
			return false
		}
		return true
	})
	if c.Err != nil {
		return h, c.Err
	}
	h.size = c.At
	data := h.isData() || h.kind == pageDictionary
	if h.decoded < 0 || h.encoded < 0 || data && (h.values < 0 || h.values > maxFlatPageValues) || h.defBytes < 0 || h.repBytes < 0 {
		return h, errors.New("a page header has impossible sizes")
	}
	return h, nil
}

// version1 reads the fields of data pages of version 1, and of dictionary pages, which have the first two.
func (h *pageHeader) version1(c *thrift.Reader) func(int64, byte) bool {
	return func(id int64, kind byte) bool {
		if kind != thrift.I32 || id > 3 {
			return false
		}
		switch id {
		case 1:
			h.values = c.Int()
		case 2:
			h.encoding = c.Int()
		case 3:
			h.levels = c.Int()
		}
		return true
	}
}

func (h *pageHeader) version2(c *thrift.Reader) func(int64, byte) bool {
	return func(id int64, kind byte) bool {
		if id == 7 && (kind == thrift.True || kind == thrift.False) {
			h.isEncoded = kind == thrift.True
			return true
		}
		if kind != thrift.I32 || id > 6 {
			return false
		}
		switch v := c.Int(); id {
		case 1:
			h.values = v
		case 3:
			h.rows = v
		case 4:
			h.encoding = v
		case 5:
			h.defBytes = v
		case 6:
			h.repBytes = v
		}
		return true
	}
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
