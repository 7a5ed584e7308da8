// Package strrange is the range index of columns of strings: bounds of the values of every few rows, so that a reader skips rows that cannot match
// (docs/format.md §15.7). It is what package numrange is for numbers, but in an artifact of its own.
//
// The rows of a column, a field, are divided into pages of as many rows each. A bound has as many bytes as it takes to tell the bounds of its page
// apart, and 4 more, at most 64. What is cut off makes a lower bound less; an upper one becomes the next greater text of its length.
//
//	payload | footer
//
// The payload has for each field, one behind the other,
//
//	P u8  flags: 1 the page has values, 2 it has nulls, 4 it has no upper bound
//	P u8  bytes that the lower bound shares with that of the page before, 0 for the first page
//	P u8  its other bytes
//	P u8  bytes that the upper bound shares with the lower one
//	P u8  its other bytes
//	      the other bytes of all lower bounds, then those of all upper bounds
//
// A page without values has no bounds: all its sizes are 0. The footer has 40 bytes:
//
//	 0  u64  rows of the table
//	 8  u32  rows of a page; the last one may have fewer
//	12  u16  number of fields
//	14  u16  0
//	16  u32  size of the payload as stored
//	20  u32  size of the payload unpacked: if it is the same, it is as it is, else compressed with Zstandard
//	24  u64  XXH3 of the payload as stored and the 24 bytes before this
//	32       "amrang" and u16 1, the version
package strrange

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

const (
	footerLen = 40
	magic     = "amrang\x01\x00"

	maxBound = 64 // bytes of a bound
	apart    = 4  // bytes of a bound behind those that both of a page have
	perPage  = 5  // bytes of a page besides its bounds

	// maxPayload bounds the memory for an index: about two million pages.
	maxPayload = 16 << 20
	// MaxPageRows bounds the rows of a page.
	MaxPageRows = 1 << 20
)

// Flags of a page.
const (
	hasValues = 1 << iota
	hasNulls
	unbounded // above
	allFlags  = hasValues | hasNulls | unbounded
)

// Index is an open index, which is in memory. Its methods may be called concurrently.
type Index struct {
	Options
	Hash uint64 // of all bytes

	fields []fieldIndex
}

// fieldIndex is the pages of a field.
type fieldIndex struct {
	flags  []byte
	ends   [2][]uint32 // of the lower and of the upper bounds in bounds
	bounds [2][]byte
}

// Page is what is known of the rows of a page.
type Page struct {
	Lo, Hi    []byte // no value is less than Lo or greater than Hi; not to be changed
	Values    bool   // a row has a value
	Nulls     bool   // a row is null
	Unbounded bool   // there is no Hi
}

// NumPages is the number of pages of each field.
func (x *Index) NumPages() int64 { return x.pages() }

// Page returns page k of a field.
func (x *Index) Page(field int, k int64) Page {
	f := &x.fields[field]
	flags := f.flags[k]
	return Page{Lo: f.bound(0, k), Hi: f.bound(1, k), Values: flags&hasValues != 0, Nulls: flags&hasNulls != 0, Unbounded: flags&unbounded != 0}
}

func (f *fieldIndex) bound(half int, k int64) []byte {
	from := uint32(0)
	if k > 0 {
		from = f.ends[half][k-1]
	}
	return f.bounds[half][from:f.ends[half][k]]
}

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
		return nil, fault.Corruptf("the end of the file is not that of a range index")
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
	x.fields = make([]fieldIndex, x.Fields)
	for i := range x.fields {
		if len(b)/perPage < n {
			return fault.Corruptf("field %d of a range index: %d pages in %d bytes", i, n, len(b))
		}
		if b, err = x.fields[i].parse(b, n); err != nil {
			return err
		}
	}
	if len(b) > 0 {
		return fault.Corruptf("%d bytes behind a range index", len(b))
	}
	return nil
}

// parse parses the n pages of a field, and returns what is behind them.
func (f *fieldIndex) parse(b []byte, n int) (rest []byte, err error) {
	column := func(k int) []byte { return b[k*n : (k+1)*n] }
	f.flags = column(0)
	size, last := [2]int{}, 0 // of all bounds, and of the lower bound before
	for i, flags := range f.flags {
		k, lo, m, hi := int(column(1)[i]), int(column(2)[i]), int(column(3)[i]), int(column(4)[i])
		none := flags&hasValues == 0 && k+lo+m+hi > 0 || flags&unbounded != 0 && m+hi > 0
		if flags > allFlags || none || k > last || k+lo > maxBound || m > k+lo || m+hi > maxBound {
			return nil, fault.Corruptf("page %d of a range index: flags %d, bounds of %d and %d bytes, %d and %d of them shared", i, flags, k+lo, m+hi, k, m)
		}
		size[0], size[1] = size[0]+k+lo, size[1]+m+hi
		last = k + lo
	}
	rest = b[perPage*n:]
	for half := range 2 {
		ends, room := make([]uint32, n), make([]byte, 0, size[half])
		for i := range ends {
			k, more := int(column(1 + 2*half)[i]), int(column(2 + 2*half)[i])
			if more > len(rest) {
				return nil, fault.Corruptf("a range index ends in page %d", i)
			}
			var before []byte // which the bound shares bytes with
			switch {
			case half == 1:
				before = f.bound(0, int64(i))
			case i > 0:
				before = room[len(room)-int(column(1)[i-1])-int(column(2)[i-1]):]
			}
			room = append(append(room, before[:k]...), rest[:more]...)
			rest, ends[i] = rest[more:], uint32(len(room))
		}
		f.ends[half], f.bounds[half] = ends, room
	}
	return rest, nil
}

// Compare calls found with each difference to another index of the same options.
func (x *Index) Compare(other *Index, found func(error) error) error {
	if x.PageRows != other.PageRows || x.Rows != other.Rows || x.Fields != other.Fields {
		return found(fault.Corruptf("range index of %d fields of %d rows in pages of %d instead of %d, %d, %d", x.Fields, x.Rows, x.PageRows, other.Fields, other.Rows, other.PageRows))
	}
	for f := range x.fields {
		for k := range x.pages() {
			if x.Page(f, k).equal(other.Page(f, k)) {
				continue
			}
			if err := found(fault.Corruptf("rows from %d on of field %d have other bounds than the data", k*x.PageRows, f)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p Page) equal(o Page) bool {
	return p.Values == o.Values && p.Nulls == o.Nulls && p.Unbounded == o.Unbounded && bytes.Equal(p.Lo, o.Lo) && bytes.Equal(p.Hi, o.Hi)
}
