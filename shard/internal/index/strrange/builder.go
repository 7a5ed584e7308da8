package strrange

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/frontcode"
)

// Options are the properties of an index.
type Options struct {
	Rows     int64 // of the table
	PageRows int64
	Fields   int
}

// pages is the number of pages.
func (o *Options) pages() int64 { return (o.Rows + o.PageRows - 1) / o.PageRows }

func (o *Options) check() error {
	if o.PageRows < 1 || o.PageRows > MaxPageRows || o.Rows < 0 || o.Fields < 1 || o.Fields > 1<<16-1 {
		return fault.Limitf("range index of %d rows in pages of %d, with %d fields", o.Rows, o.PageRows, o.Fields)
	}
	if o.Rows/o.PageRows >= maxPayload/perPage/int64(o.Fields) {
		return fault.Limitf("range index of %d rows in pages of %d, with %d fields: pages are to be longer", o.Rows, o.PageRows, o.Fields)
	}
	return nil
}

// Builder collects the bounds of consecutive rows. It belongs to one goroutine, but several may collect different rows.
type Builder struct {
	pageRows int64
	fields   []field
}

// field is the pages of a field from the first one with a row of the builder on.
type field struct {
	first int64 // number of the first page
	pages []page
}

// page is the bounds of a page.
type page struct {
	flags  byte
	longer bool   // some value goes on behind hi, which has maxBound bytes then
	lo, hi []byte // of at most maxBound bytes
}

// NewBuilder returns an empty builder.
func NewBuilder(fields int, pageRows int64) *Builder {
	return &Builder{pageRows: pageRows, fields: make([]field, fields)}
}

// page returns the page of a row, which is in the last one or behind it.
func (b *Builder) page(of int, row int64) *page {
	f, k := &b.fields[of], row/b.pageRows
	if len(f.pages) == 0 {
		f.first = k
	}
	for f.first+int64(len(f.pages)) <= k {
		f.pages = append(f.pages, page{})
	}
	return &f.pages[k-f.first]
}

// Add adds the value of a field in a row. Rows of a field come in ascending order.
func (b *Builder) Add(field int, row int64, value []byte) {
	p := b.page(field, row)
	p.add(value[:min(len(value), maxBound)], len(value) > maxBound)
}

// AddNull adds a null.
func (b *Builder) AddNull(field int, row int64) { b.page(field, row).flags |= hasNulls }

// add adds a value of up to maxBound bytes, or the beginning of one.
func (p *page) add(value []byte, longer bool) {
	first := p.flags&hasValues == 0
	p.flags |= hasValues
	if first || bytes.Compare(value, p.lo) < 0 {
		p.lo = append(p.lo[:0], value...)
	}
	switch order := bytes.Compare(value, p.hi); {
	case first || order > 0:
		p.hi, p.longer = append(p.hi[:0], value...), longer
	case order == 0:
		p.longer = p.longer || longer
	}
}

// join adds the rows of another page.
func (p *page) join(o *page) {
	p.flags |= o.flags & hasNulls
	if o.flags&hasValues != 0 {
		p.add(o.lo, false)
		p.add(o.hi, o.longer)
	}
}

// cut shortens the bounds.
func (p *page) cut() {
	size := min(frontcode.CommonPrefix(p.lo, p.hi)+apart, maxBound)
	p.lo = p.lo[:min(len(p.lo), size)]
	if len(p.hi) <= size && !p.longer {
		return
	}
	p.hi = p.hi[:min(len(p.hi), size)]
	for len(p.hi) > 0 && p.hi[len(p.hi)-1] == 0xff {
		p.hi = p.hi[:len(p.hi)-1]
	}
	if len(p.hi) == 0 {
		p.flags |= unbounded
		return
	}
	p.hi[len(p.hi)-1]++
}

// Write writes an index of what builders have collected: each has the rows that follow those of the one before. They can be used no more.
func Write(out io.Writer, o Options, builders ...*Builder) error {
	return writePages(out, o, func(of int) []page {
		pages := make([]page, o.pages())
		for _, b := range builders {
			f := &b.fields[of]
			for i := range f.pages {
				pages[f.first+int64(i)].join(&f.pages[i])
			}
		}
		for i := range pages {
			pages[i].cut()
		}
		return pages
	})
}

// Join writes the index of all rows of others, one after the other, as [Write] makes it. All but the last are of whole pages.
func Join(out io.Writer, o Options, parts ...*Index) error {
	rows := int64(0)
	for i, x := range parts {
		if x.PageRows != o.PageRows || x.Fields != o.Fields || rows%o.PageRows != 0 {
			return fault.Unsupportedf("part %d of a range index, of rows from %d on: %d fields in pages of %d rows instead of %d, %d", i, rows, x.Fields, x.PageRows, o.Fields, o.PageRows)
		}
		rows += x.Rows
	}
	if rows != o.Rows {
		return fault.Unsupportedf("range index of %d rows of parts that have %d", o.Rows, rows)
	}
	return writePages(out, o, func(of int) []page {
		pages := make([]page, 0, o.pages())
		for _, x := range parts {
			for k := range x.pages() {
				p := x.Page(of, k)
				pages = append(pages, page{flags: x.fields[of].flags[k], lo: p.Lo, hi: p.Hi})
			}
		}
		return pages
	})
}

// writePages writes an index of the pages of fields.
func writePages(out io.Writer, o Options, pages func(field int) []page) error {
	if err := o.check(); err != nil {
		return err
	}
	var payload []byte
	for f := range o.Fields {
		payload = appendField(payload, pages(f))
		if len(payload) > maxPayload {
			return fault.Limitf("range index of %d bytes: pages are to be longer", len(payload))
		}
	}
	stored, err := pack(payload)
	if err != nil {
		return err
	}
	f := make([]byte, 0, footerLen)
	f = binary.LittleEndian.AppendUint64(f, uint64(o.Rows))
	f = binary.LittleEndian.AppendUint32(f, uint32(o.PageRows))
	f = binary.LittleEndian.AppendUint32(f, uint32(o.Fields)) // and a u16 0
	f = binary.LittleEndian.AppendUint32(f, uint32(len(stored)))
	f = binary.LittleEndian.AppendUint32(f, uint32(len(payload)))
	f = binary.LittleEndian.AppendUint64(f, hash(stored, f))
	f = append(f, magic...)
	if _, err := out.Write(stored); err != nil {
		return err
	}
	_, err = out.Write(f)
	return err
}

// appendField appends the pages of a field, whose bounds are cut.
func appendField(dst []byte, pages []page) []byte {
	n := len(pages)
	sizes := make([]byte, perPage*n)
	var lo, hi, last []byte
	for i := range pages {
		p := &pages[i]
		k, m := frontcode.CommonPrefix(last, p.lo), frontcode.CommonPrefix(p.lo, p.hi)
		for at, v := range []int{int(p.flags), k, len(p.lo) - k, m, len(p.hi) - m} {
			sizes[at*n+i] = byte(v)
		}
		lo, hi, last = append(lo, p.lo[k:]...), append(hi, p.hi[m:]...), p.lo
	}
	return append(append(append(dst, sizes...), lo...), hi...)
}

// pack compresses a payload, if that makes it smaller.
func pack(b []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	if packed := z.EncodeAll(b, nil); len(packed) < len(b) {
		return packed, nil
	}
	return b, nil
}

func hash(payload, footer []byte) uint64 {
	h := xxh3.New()
	_, _ = h.Write(payload) // never fails
	_, _ = h.Write(footer)
	return h.Sum64()
}
