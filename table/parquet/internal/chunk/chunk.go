package chunk

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"
	"sync"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/storage"
)

// Chunk is a column chunk of scalars that do not repeat: each row has one value or null.
type Chunk struct {
	Source      *Source
	Group, Leaf int
	Meta        *metadata.ColumnChunkMetaData
	Column      *schema.Column
	From, End   int64 // bytes
	Rows        int64

	pages parallel.Once[layout]
}

// layout is the data pages.
type layout struct {
	places  []Place
	indexed bool // by the offset index
}

// Place is where the data page of some rows is.
type Place struct {
	At    int64
	Size  int64 // with its header
	First int64 // row
}

// HasCodes reports whether all values are codes of the dictionary, or probably most of those of byte strings, by the footer.
func (c *Chunk) HasCodes() bool {
	const most = 16 // bytes of a row
	return c.IsCoded() || c.Meta.HasDictionaryPage() && c.Column.PhysicalType() == pq.Types.ByteArray && c.Meta.TotalUncompressedSize() < most*c.Rows
}

// IsSmall reports whether pages are probably still in the cache when their values are read again.
func (c *Chunk) IsSmall() bool { return c.Meta.TotalUncompressedSize() <= cachedBytes/2 }

// IsCoded reports whether all values are codes of the dictionary, by the footer.
func (c *Chunk) IsCoded() bool {
	if !c.Meta.HasDictionaryPage() {
		return false
	}
	coded, stats := false, c.Meta.EncodingStats()
	for _, s := range stats {
		if s.PageType != pageData && s.PageType != pageDataV2 {
			continue
		}
		if e := pq.Encoding(s.Encoding); e != pq.Encodings.PlainDict && e != pq.Encodings.RLEDict {
			return false
		}
		coded = true
	}
	if len(stats) > 0 {
		return coded
	}
	for _, e := range c.Meta.Encodings() {
		switch e {
		case pq.Encodings.PlainDict:
			coded = true
		case pq.Encodings.RLE, pq.Encodings.BitPacked: // levels
		default:
			return false
		}
	}
	return coded
}

// Place adds the column chunk to an error.
func (c *Chunk) Place(err error) error {
	return c.Source.PlaceIn(err, c.Group, c.Column.Path())
}

// Layout finds the data pages, once: in the offset index, or else by going from header to header.
func (c *Chunk) Layout(ctx context.Context, have storage.Prefetched) ([]Place, error) {
	l, err := c.pages.Get(ctx, func() (l layout, err error) {
		l.places, err = c.offsetIndex(ctx, have)
		if l.indexed = l.places != nil; !l.indexed && err == nil {
			l.places, err = c.walk(ctx, have)
		}
		return l, err
	})
	return l.places, err
}

// IsIndexed reports whether the offset index has the layout, which was found.
func (c *Chunk) IsIndexed() bool {
	l, _ := c.pages.Known()
	return l.indexed
}

// walk goes from page to page.
func (c *Chunk) walk(ctx context.Context, have storage.Prefetched) (pages []Place, err error) {
	row := int64(0)
	for at := c.From; row < c.Rows; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := c.Source.pageHeaderAt(ctx, have, at, c.End)
		if err != nil {
			return nil, fmt.Errorf("%w, after %d of %d rows", err, row, c.Rows)
		}
		size := int64(h.size) + h.encoded
		if h.isData() && h.values > 0 {
			if err := checkRows(&h); err != nil {
				return nil, err
			}
			pages = append(pages, Place{at, size, row})
			row += h.values
		}
		at += size
	}
	if row != c.Rows {
		return nil, fault.Corruptf("the pages have %d rows, the row group has %d", row, c.Rows)
	}
	return pages, nil
}

// checkRows checks the number of rows in the header of a page of values that do not repeat.
func checkRows(h *pageHeader) error {
	if h.rows >= 0 && h.rows != h.values {
		return fault.Corruptf("a page has %d values and %d rows", h.values, h.rows)
	}
	return nil
}

// RowsOf is the number of rows of page i.
func (c *Chunk) RowsOf(pages []Place, i int) int64 {
	if i+1 < len(pages) {
		return pages[i+1].First - pages[i].First
	}
	return c.Rows - pages[i].First
}

// pageOf is the page that has a row.
func pageOf(pages []Place, row int64) int {
	return sort.Search(len(pages), func(i int) bool { return pages[i].First > row }) - 1
}

// page is the content of a data page: of values in order, without those of nulls.
type page struct {
	rows     int
	optional bool
	coded    bool
	texts    bool   // plain byte strings
	data     []byte // plain values, followed by padding
	raw      []byte // the memory of the above
	start    state

	mu           sync.Mutex
	began, ended state // of the last read: the next one begins there, not at the start
}

// page reads page i of a chunk, or returns it from the cache. share puts it there.
func (c *Chunk) page(ctx context.Context, pages []Place, i int, in input, share bool) (p *page, cached bool, err error) {
	key := pageKey{c.Group, c.Leaf, i}
	if p, ok := c.Source.pages.Get(key); ok {
		in.counters.AddBlock(key, 0)
		return p, true, nil
	}
	p, err = c.readPage(ctx, pages, i, in)
	if err == nil && share {
		c.Source.pages.Put(key, p, int64(cap(p.raw)+cap(p.data))+pageOverhead)
	}
	return p, share, err
}

// leave is called when a read has what it needs of a page. Without keep a page whose last row was read is not needed
// any more.
func (c *Chunk) leave(cur *cursor, i int, cached, last, keep bool) {
	switch {
	case keep || !last:
		cur.page.mu.Lock()
		defer cur.page.mu.Unlock()
		cur.ended = cur.state
	case cached:
		c.Source.pages.Remove(pageKey{c.Group, c.Leaf, i})
	default:
		buffers.Put(&cur.raw)
	}
}

// buffers has the memory of pages that are not in use.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// buffer returns n bytes of any content.
func buffer(n int64) []byte {
	b := buffers.Get().(*[]byte)
	if int64(cap(*b)) < n || int64(cap(*b)) > 8*n+minBuffer {
		return make([]byte, n)
	}
	return (*b)[:n]
}

const minBuffer = 64 << 10

const pageOverhead = 256

func (c *Chunk) readPage(ctx context.Context, pages []Place, i int, in input) (*page, error) {
	at := pages[i]
	b := in.have.Bytes(c.Source.Reader, at.At, at.Size)
	if b == nil {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		var err error
		if b, err = storage.ReadInto(ctx, c.Source.Reader, *buf, at.At, at.Size); err != nil {
			return nil, err
		}
		*buf = b
	}
	in.counters.AddBlock(pageKey{c.Group, c.Leaf, i}, at.Size)
	h, err := parsePageHeader(b)
	if err != nil {
		return nil, fault.Corruptf("the page header at %d: %v", at.At, err)
	}
	if !h.isData() || int64(h.size)+h.encoded != at.Size || h.values != c.RowsOf(pages, i) {
		return nil, fault.Corruptf("the page at %d has %d values in %d bytes; by the offset index it has %d rows in %d bytes",
			at.At, h.values, int64(h.size)+h.encoded, c.RowsOf(pages, i), at.Size)
	}
	if err := checkRows(&h); err != nil {
		return nil, err
	}
	p, err := c.decodePage(&h, b[h.size:])
	if err != nil {
		return nil, fault.In(err, "page", at.At)
	}
	return p, nil
}

// decodePage takes a page apart.
func (c *Chunk) decodePage(h *pageHeader, body []byte) (*page, error) {
	p := &page{rows: int(h.values), optional: c.Column.MaxDefinitionLevel() > 0}
	defer func() { p.began, p.ended = p.start, p.start }()
	b, err := c.decompress(h, body)
	if err != nil {
		return nil, err
	}
	p.raw = b
	values := b[:len(b)-padding]
	if p.optional {
		if p.start.levels, values, err = h.definitions(values, p.rows); err != nil {
			return nil, err
		}
	} else if h.kind == pageDataV2 {
		values = values[h.repBytes+h.defBytes:]
	}
	switch {
	case h.IsCoded():
		p.coded = true
		width := uint(0)
		if len(values) > 0 {
			width, values = uint(values[0]), values[1:]
		}
		if width > 32 {
			return nil, fault.Corruptf("codes of %d bits", width)
		}
		p.start.values = newHybrid(values, width)
	case h.encoding == plain && c.Column.PhysicalType() == pq.Types.Boolean:
		p.start.values = hybrid{b: values, width: 1, run: 8 * len(values), at: len(values)}
	case h.encoding == plain:
		p.data, p.texts = values, c.Column.PhysicalType() == pq.Types.ByteArray
	case h.encoding == rle && c.Column.PhysicalType() == pq.Types.Boolean:
		if len(values) < 4 {
			return nil, fault.Corruptf("booleans of %d bytes", len(values))
		}
		p.start.values = newHybrid(values[4:], 1)
	default:
		if err := c.decodeOther(p, h, values); err != nil {
			return nil, err
		}
		p.texts = c.Column.PhysicalType() == pq.Types.ByteArray
	}
	return p, nil
}

// definitions splits off the definition levels, which tell nulls from values.
func (h *pageHeader) definitions(b []byte, n int) (levels hybrid, values []byte, err error) {
	if h.kind == pageDataV2 {
		if h.repBytes+h.defBytes > int64(len(b)) {
			return levels, nil, fault.Corruptf("%d bytes of levels in a page of %d bytes", h.repBytes+h.defBytes, len(b))
		}
		return newHybrid(b[h.repBytes:h.repBytes+h.defBytes], 1), b[h.repBytes+h.defBytes:], nil
	}
	if h.levels == bitPacked {
		size := (n + 7) / 8
		if size > len(b) {
			return levels, nil, fault.Corruptf("%d bytes of levels in a page of %d bytes", size, len(b))
		}
		return fromHighestBit(b[:size]), b[size:], nil
	}
	if h.levels != rle {
		return levels, nil, fault.Unsupportedf("levels of encoding %d", h.levels)
	}
	size := uint64(0)
	if len(b) >= 4 {
		size = uint64(binary.LittleEndian.Uint32(b))
	}
	if len(b) < 4 || size > uint64(len(b)-4) {
		return levels, nil, fault.Corruptf("%d bytes of levels in a page of %d bytes", size, len(b))
	}
	return newHybrid(b[4:4+size], 1), b[4+size:], nil
}

// fromHighestBit are bits of which the highest of each byte is the first.
func fromHighestBit(b []byte) hybrid {
	out := make([]byte, len(b), len(b)+padding)
	for i, v := range b {
		out[i] = bits.Reverse8(v)
	}
	return hybrid{b: out, width: 1, run: 8 * len(b), at: len(b)}
}

// maxPageBytes is that of arrow-go.
const maxPageBytes = 256 << 20

// expansion is how many times as long as the input the output of a codec may be.
var expansion = map[compress.Compression]int64{
	compress.Codecs.Snappy: 64, compress.Codecs.Gzip: 1100, compress.Codecs.Lz4: 300, compress.Codecs.Lz4Raw: 300,
	compress.Codecs.Zstd: 1 << 16, compress.Codecs.Brotli: 1 << 24,
}

// decompress returns the bytes of a page, followed by padding. The levels of version 2 are not compressed.
func (c *Chunk) decompress(h *pageHeader, body []byte) ([]byte, error) {
	levels := int64(0)
	if h.kind == pageDataV2 {
		levels = h.repBytes + h.defBytes
	}
	codec := c.Meta.Compression()
	if levels > h.encoded || levels > h.decoded {
		return nil, fault.Corruptf("%d bytes of levels in a page of %d bytes", levels, min(h.encoded, h.decoded))
	}
	if h.decoded > maxPageBytes {
		return nil, fault.Limitf("a page of %d bytes exceeds configured limit %d", h.decoded, maxPageBytes)
	}
	if codec == compress.Codecs.Uncompressed || !h.isEncoded {
		if h.encoded != h.decoded {
			return nil, fault.Corruptf("a page of %d bytes is stored in %d, without compression", h.decoded, h.encoded)
		}
		out := buffer(int64(len(body) + padding))
		copy(out, body)
		return out, nil
	}
	if most, ok := expansion[codec]; ok && h.decoded > 1024+levels+most*(h.encoded-levels) {
		return nil, fault.Corruptf("a page of %d bytes in %d bytes of %v", h.decoded, h.encoded, codec)
	}
	with, err := compress.GetCodec(codec)
	if err != nil {
		return nil, fault.Unsupportedf("%v", err)
	}
	out := buffer(h.decoded + padding)
	copy(out, body[:levels])
	if h.decoded == levels {
		return out, nil
	}
	got, err := compress.Decode(with, out[levels:h.decoded:h.decoded], body[levels:])
	if err != nil {
		return nil, fault.Corruptf("%v", err)
	}
	if int64(len(got)) != h.decoded-levels {
		return nil, fault.Corruptf("a page of %d bytes decompresses to %d", h.decoded-levels, len(got))
	}
	if len(got) > 0 && &got[0] != &out[levels] {
		copy(out[levels:], got)
	}
	return out, nil
}
