package strrange

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Index is an open index, which is in memory. Its methods may be called concurrently.
type Index struct {
	Options
	Hash uint64 // of all bytes

	fields [][]Page
}

// Page is what is known of the rows of a page.
type Page struct {
	Lo, Hi    []byte // no value is less than Lo or greater than Hi; not to be changed
	Values    bool   // a row has a value
	Nulls     bool   // a row is null
	Unbounded bool   // there is no Hi
}

// Pages are the pages of a field in the order of their rows.
func (x *Index) Pages(field int) []Page { return x.fields[field] }

// Open opens the index in a range of bytes, of a table with so many rows. It reads all of it.
func Open(ctx context.Context, file storage.ByteRange, rows int64) (*Index, error) {
	if file.Size < footerLen || file.Size > footerLen+maxPayload {
		return nil, fault.Corruptf("range index of %d bytes", file.Size)
	}
	b, err := storage.ReadRange(ctx, file.Reader, file.Offset, file.Size)
	if err != nil {
		return nil, err
	}
	b, f := b[:len(b)-footerLen], b[len(b)-footerLen:]
	x := &Index{Options: Options{Rows: int64(binary.LittleEndian.Uint64(f)), PageRows: int64(binary.LittleEndian.Uint32(f[8:])), Fields: int(binary.LittleEndian.Uint32(f[12:]))}}
	stored, size := int64(binary.LittleEndian.Uint32(f[16:])), int64(binary.LittleEndian.Uint32(f[20:]))
	switch {
	case string(f[32:38]) != magic[:6]:
		return nil, fault.Corruptf("no range index ends here")
	case string(f[38:]) != magic[6:]:
		return nil, fault.Unsupportedf("range index of version %d", binary.LittleEndian.Uint16(f[38:]))
	case hash(b, f[:24]) != binary.LittleEndian.Uint64(f[24:]):
		return nil, fault.Checksumf("checksum of the range index")
	case x.Rows != rows:
		return nil, fault.Corruptf("range index of %d rows, for a table of %d", x.Rows, rows)
	case stored != int64(len(b)) || size > maxPayload:
		return nil, fault.Corruptf("range index of %d bytes, %d unpacked, in %d", stored, size, len(b))
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.Hash = binary.LittleEndian.Uint64(f[24:])
	if size != stored {
		unpacked := make([]byte, size)
		if err := new(decompress.Zstd).Decode(unpacked, b); err != nil {
			return nil, err
		}
		b = unpacked
	}
	return x, x.parse(b)
}

// parse parses the payload.
func (x *Index) parse(b []byte) (err error) {
	n := int(x.pages())
	for field := range x.Fields {
		if len(b)/perPage < n {
			return fault.Corruptf("field %d of a range index: %d pages in %d bytes", field, n, len(b))
		}
		pages := make([]Page, n)
		if b, err = parseField(pages, b); err != nil {
			return err
		}
		x.fields = append(x.fields, pages)
	}
	if len(b) > 0 {
		return fault.Corruptf("%d bytes behind a range index", len(b))
	}
	return nil
}

// parseField parses the pages of a field, and returns what is behind them.
func parseField(pages []Page, b []byte) (rest []byte, err error) {
	n := len(pages)
	column := func(k int) []byte { return b[k*n : (k+1)*n] }
	size, last := 0, 0 // of all bounds, and of the lower bound before
	for i, flags := range column(0) {
		k, lo, m, hi := int(column(1)[i]), int(column(2)[i]), int(column(3)[i]), int(column(4)[i])
		none := flags&hasValues == 0 && k+lo+m+hi > 0 || flags&unbounded != 0 && m+hi > 0
		if flags > allFlags || none || k > last || k+lo > maxBound || m > k+lo || m+hi > maxBound {
			return nil, fault.Corruptf("page %d of a range index: flags %d, bounds of %d and %d bytes, %d and %d of them shared", i, flags, k+lo, m+hi, k, m)
		}
		pages[i].Values, pages[i].Nulls, pages[i].Unbounded = flags&hasValues != 0, flags&hasNulls != 0, flags&unbounded != 0
		size += k + lo + m + hi
		last = k + lo
	}
	room := make([]byte, 0, size)
	rest = b[perPage*n:]
	for half := range 2 {
		var before []byte
		for i := range pages {
			p := &pages[i]
			k, more := int(column(1 + 2*half)[i]), int(column(2 + 2*half)[i])
			if more > len(rest) {
				return nil, fault.Corruptf("a range index ends in page %d", i)
			}
			if half == 1 {
				before = p.Lo
			}
			from := len(room)
			room = append(append(room, before[:k]...), rest[:more]...)
			rest = rest[more:]
			if bound := room[from:len(room):len(room)]; half == 0 {
				p.Lo, before = bound, bound
			} else {
				p.Hi = bound
			}
		}
	}
	return rest, nil
}

// Compare calls found with each difference to another index of the same options.
func (x *Index) Compare(other *Index, found func(error) error) error {
	if x.PageRows != other.PageRows || x.Rows != other.Rows || x.Fields != other.Fields {
		return found(fault.Corruptf("range index of %d fields of %d rows in pages of %d instead of %d, %d, %d", x.Fields, x.Rows, x.PageRows, other.Fields, other.Rows, other.PageRows))
	}
	for f, pages := range x.fields {
		for i, p := range pages {
			o := &other.fields[f][i]
			if p.Values == o.Values && p.Nulls == o.Nulls && p.Unbounded == o.Unbounded && bytes.Equal(p.Lo, o.Lo) && bytes.Equal(p.Hi, o.Hi) {
				continue
			}
			if err := found(fault.Corruptf("rows from %d on of field %d have other bounds than the data", int64(i)*x.PageRows, f)); err != nil {
				return err
			}
		}
	}
	return nil
}
