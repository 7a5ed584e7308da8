package rootfile

import (
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/wire"
)

// A coder reads or writes structures of the container.
type coder struct{ wire.Coder }

// newReader reads bytes that lie at an offset.
func newReader(b []byte, offset int64) *coder {
	return &coder{wire.Coder{Buf: b, Base: offset, End: len(b), BigEndian: true}}
}

// newAppender appends to b.
func newAppender(b []byte) *coder {
	return &coder{wire.Coder{Buf: b, Writing: true, BigEndian: true}}
}

func (c *coder) u16(label string, v *int64) {
	n := uint16(*v)
	c.U16(label, &n)
	*v = int64(n)
}

func (c *coder) u32(label string, v *int64) {
	n := uint32(*v)
	c.U32(label, &n)
	*v = int64(n)
}

func (c *coder) i32(label string, v *int64) {
	c.u32(label, v)
	*v = int64(int32(*v))
}

// seek is an offset in the file, of 32 or 64 bits.
func (c *coder) seek(label string, wide bool, v *int64) {
	if !wide {
		c.u32(label, v)
		return
	}
	n := uint64(*v)
	c.U64(label, &n)
	if *v = int64(n); *v < 0 {
		c.Fail(fault.Corruptf("offset %d", *v))
	}
}

// text is a string: its length in a byte, or 255 and the length in four.
func (c *coder) text(label string, v *string) {
	if c.Writing {
		c.Buf = appendText(c.Buf, *v)
		return
	}
	from := c.Pos
	head := c.Take(1)
	if head == nil {
		return
	}
	n := int64(head[0])
	if n == 255 {
		long := uint32(0)
		c.Quiet32(&long)
		n = int64(int32(long))
	}
	if b := c.Take(int(n)); b != nil {
		*v = string(b)
		c.Note(c.Pos-from, "%s %q", label, *v)
	}
}

func appendText(b []byte, s string) []byte {
	if len(s) < 255 {
		return append(append(b, byte(len(s))), s...)
	}
	return append(binary.BigEndian.AppendUint32(append(b, 255), uint32(len(s))), s...)
}

func (c *coder) uuid(version *uint16, uuid *[16]byte) {
	c.U16("version of the UUID", version)
	c.Bytes("UUID", uuid[:])
}

// Lister lists the parts of bytes of the container.
func Lister(b []byte) *wire.Coder {
	return &wire.Coder{Buf: b, End: len(b), BigEndian: true, Parts: &wire.Parts{}}
}

// ListHeader lists the parts of a file header.
func ListHeader(b *wire.Coder) { list(b, func(c *coder) { new(Header).code(c) }) }

// ListKey lists the parts of a key.
func ListKey(b *wire.Coder) { list(b, listKey) }

func list(b *wire.Coder, parts func(c *coder)) {
	c := &coder{*b}
	parts(c)
	*b = c.Coder
}

func listKey(c *coder) {
	var k Key
	from := c.Pos
	k.code(c)
	if n := from + int(k.HeaderSize) - c.Pos; n > 0 && n <= c.Left() {
		c.Skip("not used", n)
	}
}

// ListRecord lists the parts of a record: its key, and its payload if that belongs to the container.
func (f *File) ListRecord(b *wire.Coder, k Key) {
	list(b, func(c *coder) {
		listKey(c)
		isList := func(d Directory) bool { return d.SeekKeys == k.Offset }
		switch h := f.header; {
		case k.Offset == h.SeekFree:
			for c.Err == nil && c.Left() > 0 {
				new(Segment).code(c, false)
			}
		case k.Offset == h.SeekInfo:
			c.Skip("streamer info", c.Left())
		case slices.ContainsFunc(f.directories, isList):
			n := int64(0)
			c.u32("keys", &n)
			c.Parts.Depth++
			for ; n > 0 && c.Err == nil; n-- {
				listKey(c)
			}
			c.Parts.Depth--
		case k.Offset == h.Begin || k.isDirectory():
			if k.Offset == h.Begin {
				c.text("name", new(string))
				c.text("title", new(string))
			}
			new(Directory).code(c)
			c.uuid(new(uint16), new([16]byte))
		}
	})
}
