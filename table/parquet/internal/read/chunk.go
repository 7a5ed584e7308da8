package read

import (
	"context"
	"fmt"
	"sort"
	"sync"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// chunk is a column chunk of scalars that do not repeat: each row has one value or null.
type chunk struct {
	file        *File
	group, leaf int
	meta        *metadata.ColumnChunkMetaData
	column      *schema.Column
	from, end   int64 // bytes
	rows        int64

	mu       sync.Mutex
	pages    []pagePlace
	hasPages bool
	indexed  bool // by the offset index
}

// pagePlace is where the data page of some rows is.
type pagePlace struct {
	at    int64
	size  int64 // with its header
	first int64 // row
}

// chunkOf returns a column chunk.
func (f *File) chunkOf(group, leaf int) (*chunk, error) {
	meta, err := f.groups[group].meta.ColumnChunk(leaf)
	if err != nil {
		return nil, err
	}
	c := &chunk{file: f, group: group, leaf: leaf, meta: meta, column: f.meta().Schema.Column(leaf), rows: f.groups[group].rows}
	c.from, c.end = f.chunkRange(meta)
	return c, nil
}

// chunkRange is the bytes of a column chunk.
func (f *File) chunkRange(meta *metadata.ColumnChunkMetaData) (from, end int64) {
	from = meta.DataPageOffset()
	if d := meta.DictionaryPageOffset(); meta.HasDictionaryPage() && d > 0 && d < from {
		from = d
	}
	end = from + meta.TotalCompressedSize()
	if f.meta().WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		end += dictionaryHeaderBytes // which old writers did not count
	}
	return from, min(end, f.size)
}

const dictionaryHeaderBytes = 100

// isCoded reports whether all values are codes of the dictionary, by the footer.
func (c *chunk) isCoded() bool {
	if !c.meta.HasDictionaryPage() {
		return false
	}
	coded, stats := false, c.meta.EncodingStats()
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
	for _, e := range c.meta.Encodings() {
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

// place adds the column chunk to an error.
func (c *chunk) place(err error) error {
	return c.file.placeIn(err, c.group, c.column.Path())
}

func (f *File) placeIn(err error, group int, column string) error {
	if err == nil {
		return nil
	}
	if !fault.Is(err) && isData(err) {
		err = fault.Corruptf("%v", err)
	}
	return fault.Of(fault.In(fault.In(err, fmt.Sprintf("column %q", column), -1), fmt.Sprintf("row group %d", group), -1), f.reader.Name())
}

// layout finds the data pages, once: in the offset index, or else by going from header to header.
func (c *chunk) layout(ctx context.Context, have storage.Prefetched) ([]pagePlace, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasPages {
		return c.pages, nil
	}
	pages, err := c.offsetIndex(ctx, have)
	c.indexed = pages != nil
	if pages == nil && err == nil {
		pages, err = c.walk(ctx, have)
	}
	if err != nil {
		return nil, err
	}
	c.pages, c.hasPages = pages, true
	return pages, nil
}

// walk goes from page to page.
func (c *chunk) walk(ctx context.Context, have storage.Prefetched) (pages []pagePlace, err error) {
	row := int64(0)
	for at := c.from; row < c.rows; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := c.file.pageHeaderAt(ctx, have, at, c.end)
		if err != nil {
			return nil, fmt.Errorf("%w, after %d of %d rows", err, row, c.rows)
		}
		size := int64(h.size) + h.encoded
		if h.isData() && h.values > 0 {
			if err := checkRows(&h); err != nil {
				return nil, err
			}
			pages = append(pages, pagePlace{at, size, row})
			row += h.values
		}
		at += size
	}
	if row != c.rows {
		return nil, fault.Corruptf("the pages have %d rows, the row group has %d", row, c.rows)
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

// rowsOf is the number of rows of page i.
func (c *chunk) rowsOf(pages []pagePlace, i int) int64 {
	if i+1 < len(pages) {
		return pages[i+1].first - pages[i].first
	}
	return c.rows - pages[i].first
}

// pageOf is the page that has a row.
func pageOf(pages []pagePlace, row int64) int {
	return sort.Search(len(pages), func(i int) bool { return pages[i].first > row }) - 1
}

// page is the content of a data page: of values in order, without those of nulls.
type page struct {
	rows     int
	optional bool
	levels   hybrid // of one bit; if optional
	coded    bool
	values   hybrid // codes, or booleans
	data     []byte // plain values, followed by padding
	raw      []byte // the memory of the above
	mu       sync.Mutex
	starts   []uint32 // of plain byte strings, behind their lengths
}

// pageKey identifies a page.
type pageKey struct {
	group, leaf, page int
}

// page reads page i of a chunk, or returns it from the cache. share puts it there.
func (c *chunk) page(ctx context.Context, pages []pagePlace, i int, in input, share bool) (p *page, cached bool, err error) {
	key := pageKey{c.group, c.leaf, i}
	if p, ok := c.file.pages.Get(key); ok {
		in.counters.addPage(key, 0)
		return p, true, nil
	}
	p, err = c.readPage(ctx, pages, i, in)
	if err == nil && share {
		c.file.pages.Put(key, p, int64(cap(p.raw)+cap(p.data))+pageOverhead)
	}
	return p, share, err
}

// leave is called when a read has what it needs of a page. Without keep a page whose last row was read is not needed
// any more.
func (c *chunk) leave(p *page, i int, cached, last, keep bool) {
	switch {
	case keep || !last:
	case cached:
		c.file.pages.Remove(pageKey{c.group, c.leaf, i})
	default:
		buffers.Put(&p.raw)
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

func (c *chunk) readPage(ctx context.Context, pages []pagePlace, i int, in input) (*page, error) {
	at := pages[i]
	b := in.have.Bytes(c.file.reader, at.at, at.size)
	if b == nil {
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		var err error
		if b, err = storage.ReadInto(ctx, c.file.reader, *buf, at.at, at.size); err != nil {
			return nil, err
		}
		*buf = b
	}
	in.counters.addPage(pageKey{c.group, c.leaf, i}, at.size)
	h, err := parsePageHeader(b)
	if err != nil {
		return nil, fault.Corruptf("the page header at %d: %v", at.at, err)
	}
	if !h.isData() || int64(h.size)+h.encoded != at.size || h.values != c.rowsOf(pages, i) {
		return nil, fault.Corruptf("the page at %d has %d values in %d bytes; by the offset index it has %d rows in %d bytes",
			at.at, h.values, int64(h.size)+h.encoded, c.rowsOf(pages, i), at.size)
	}
	if err := checkRows(&h); err != nil {
		return nil, err
	}
	p, err := c.decodePage(&h, b[h.size:])
	if err != nil {
		return nil, fault.In(err, "page", at.at)
	}
	return p, nil
}

// decodePage takes a page apart.
func (c *chunk) decodePage(h *pageHeader, body []byte) (*page, error) {
	p := &page{rows: int(h.values), optional: c.column.MaxDefinitionLevel() > 0}
	b, err := c.decompress(h, body)
	if err != nil {
		return nil, err
	}
	p.raw = b
	values := b[:len(b)-padding]
	if p.optional {
		if p.levels, values, err = h.definitions(values, p.rows); err != nil {
			return nil, err
		}
	} else if h.kind == pageDataV2 {
		values = values[h.repBytes+h.defBytes:]
	}
	switch {
	case h.isCoded():
		p.coded = true
		width := uint(0)
		if len(values) > 0 {
			width, values = uint(values[0]), values[1:]
		}
		if width > 32 {
			return nil, fault.Corruptf("codes of %d bits", width)
		}
		p.values = newHybrid(values, width)
	case h.encoding == plain && c.column.PhysicalType() == pq.Types.Boolean:
		p.values = hybrid{b: values, width: 1, run: 8 * len(values), at: len(values)}
	case h.encoding == plain:
		p.data = values
	case h.encoding == rle && c.column.PhysicalType() == pq.Types.Boolean:
		if len(values) < 4 {
			return nil, fault.Corruptf("booleans of %d bytes", len(values))
		}
		p.values = newHybrid(values[4:], 1)
	default:
		if err := c.decodeOther(p, h, values); err != nil {
			return nil, err
		}
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
		size = uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
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
		v = v>>4 | v<<4
		v = v>>2&0x33 | v<<2&0xcc
		out[i] = v>>1&0x55 | v<<1&0xaa
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
func (c *chunk) decompress(h *pageHeader, body []byte) ([]byte, error) {
	levels := int64(0)
	if h.kind == pageDataV2 {
		levels = h.repBytes + h.defBytes
	}
	codec := c.meta.Compression()
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
