package rootfile

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// wideVersion: keys, directory records and free segments of higher versions have offsets
// of 64 bits.
const wideVersion = 1000

// Key is the header of a record, which stands in front of the record's payload, and again
// in a key list if the record is an object of a directory.
//
//	 0  i32        bytes of the record: header and payload
//	 4  u16        version; above 1000 the offsets below have 64 bits
//	 6  u32        bytes of the payload, unpacked; means nothing for RBlob
//	10  u32        time
//	14  u16        bytes of this header
//	16  u16        cycle: of several keys of a name the highest is current
//	18  i32 / i64  offset of the record
//	22  i32 / i64  offset of the record of its directory, or anything
//	26 / 34        class, name, title: strings of a length byte and up to 254 bytes;
//	               a length byte of 255 is followed by an i32 length
//
// Example, version 1004:
//
//	00 00 01 68 | 03 ec | 00 00 03 e4 | 7c a0 c0 6e | 00 2a | 00 01 | 00 … 00 f0 | 00 … 00 64 | 05 "RBlob" | 00 | 00
type Key struct {
	Size       int64 // bytes of the record
	Version    uint16
	ObjectSize int64 // bytes of the payload, unpacked
	Time       Datime
	HeaderSize int64
	Cycle      uint16
	Offset     int64 // of the record in the file
	Directory  int64 // offset of the directory's record; no reader needs it
	Class      string
	Name       string
	Title      string
}

// Payload is where the payload begins, which is how others refer to it.
func (k Key) Payload() int64 { return k.Offset + k.HeaderSize }

func (k Key) isDirectory() bool { return strings.HasPrefix(k.Class, classDirectory) }

// code describes a key's header.
func (k *Key) code(c *coder) {
	c.i32("bytes of the record", &k.Size)
	c.U16("version", &k.Version)
	wide := k.Version > wideVersion
	c.u32("bytes of the object", &k.ObjectSize)
	c.U32("time", (*uint32)(&k.Time))
	c.u16("bytes of this header", &k.HeaderSize)
	c.U16("cycle", &k.Cycle)
	c.seek("offset of the record", wide, &k.Offset)
	c.seek("offset of the directory", wide, &k.Directory)
	c.text("class", &k.Class)
	c.text("name", &k.Name)
	c.text("title", &k.Title)
}

// parse reads a key's header.
func (k *Key) parse(c *coder) {
	from := c.Pos
	k.code(c)
	if used := int64(c.Pos - from); c.Err == nil && (k.HeaderSize < used || k.Size < k.HeaderSize) {
		c.Err = fault.Corruptf("key %q of %d bytes, header of %d, of which %d are needed", k.Name, k.Size, k.HeaderSize, used)
	}
}

// parseKey parses the header at the start of a record that lies at an offset.
func parseKey(record []byte, offset int64) (k Key, err error) {
	c := newReader(record, offset)
	k.parse(c)
	return k, c.Err
}

// append appends the header.
func (k Key) append(b []byte) []byte {
	c := newAppender(b)
	k.code(c)
	return c.Buf
}

// headerSize is the number of bytes that the header needs.
func (k Key) headerSize() int64 { return int64(len(k.append(nil))) }

// Record is what a walk through a file meets: a key, or free space.
type Record struct {
	Key  Key
	Free int64 // bytes of free space; 0 for a key
}

// Records walks through the records of the file, for tools that show its bytes: a file
// may be valid although the walk ends with an error, because freed space need not be
// marked.
func (f *File) Records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for at := f.header.Begin; at < f.header.End; {
			r, err := f.recordAt(ctx, at)
			if err != nil {
				yield(Record{}, fault.Of(fault.In(err, "record", at), f.Name()))
				return
			}
			if !yield(r, nil) {
				return
			}
			at += r.Key.Size + r.Free
		}
	}
}

// recordAt parses the header of the record at an offset.
func (f *File) recordAt(ctx context.Context, at int64) (r Record, err error) {
	// A header has up to 64 KiB; nearly all are short.
	for n := int64(256); ; n = 1 << 16 {
		n = min(n, f.size-at)
		b, err := f.read(ctx, at, n)
		if err != nil {
			return r, err
		}
		c, size := newReader(b, at), int64(0)
		if c.i32("", &size); size < 0 {
			r.Free = -size
		} else if r.Key, err = parseKey(b, at); err != nil && n < min(1<<16, f.size-at) {
			continue
		}
		switch {
		case c.Err != nil:
			return r, c.Err
		case err != nil:
			return r, err
		case r.Free == 0 && (r.Key.Offset != at || r.Key.Size == 0):
			return r, fault.Corruptf("no record: a key of %d bytes at %d", r.Key.Size, r.Key.Offset)
		case r.Free+r.Key.Size > f.header.End-at:
			return r, fault.Corruptf("a record of %d bytes leaves the file", r.Free+r.Key.Size)
		}
		return r, nil
	}
}

// String names the object as ROOT does.
func (k Key) String() string { return fmt.Sprintf("%s %s;%d", k.Class, k.Name, k.Cycle) }

// ParseBasket parses the record of a basket of a tree, which was read from an offset: its key, the bytes of the key behind its strings, and what it
// holds, unpacked.
func ParseBasket(record []byte, offset int64) (k Key, extra, payload []byte, err error) {
	if k, payload, err = unpackRecord(record, offset); err == nil {
		extra = record[k.headerSize():k.HeaderSize]
	}
	return k, extra, payload, err
}
