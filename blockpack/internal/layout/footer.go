package layout

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Footer is the end of a file. There is no magic number in it.
//
//	┃ version u16 = 3 ┃ header offset u64 ┃ compact offset u64 ┃ compact length u32 ┃
type Footer struct {
	HeaderOffset  int64
	CompactOffset int64 // 0 without a compact index
	CompactLength int64 // 0: no compact index
}

// otherFooters are those of other versions. Their number stands at the start, or behind the magic number.
var otherFooters = []struct {
	size, version int
	magic         bool
}{
	{18, 7, true},
	{18, 8, true},
	{34, 4, false},
	{46, 5, false},
	{58, 6, false},
	{10, 2, false},
}

// ParseFooter parses the footer at the end of tail, the last bytes of a file of size bytes: at least 58, or all.
func ParseFooter(tail []byte, size int64) (Footer, error) {
	f, err := parseFooter(tail, size, nil)
	if err == nil {
		return f, nil
	}
	if len(tail) < FooterSize || binary.LittleEndian.Uint16(tail[len(tail)-FooterSize:]) != FooterVersion {
		if other := otherFooter(tail, size); other != nil {
			return Footer{}, other
		}
	}
	return Footer{}, fault.In(err, "footer", max(size-FooterSize, 0))
}

func parseFooter(tail []byte, size int64, p *fields.Parts) (Footer, error) {
	if len(tail) < FooterSize || size < FooterSize {
		return Footer{}, fault.Corruptf("%d bytes, a file has at least %d", size, FooterSize)
	}
	end := size - FooterSize
	c := cursor{fields.Cursor{Data: tail[len(tail)-FooterSize:], Base: end, Parts: p}}
	if v := c.U16("version"); v != FooterVersion {
		c.Refuse(2, "version", fault.Corruptf("%d where %d is expected", v, FooterVersion))
	}
	header := c.U64("header offset")
	if header > uint64(max(end-HeaderSize, 0)) {
		c.Refuse(8, "header offset", fault.Corruptf("%d in a file of %d bytes", header, size))
	}
	compact := c.U64("compact offset")
	length := c.U32("compact length")
	if length == 0 {
		compact = 0
	} else if compact > uint64(end) || uint64(length) > uint64(end)-compact {
		c.Refuse(12, "compact offset", fault.Corruptf("%d bytes at %d in a file of %d bytes", length, compact, size))
	}
	return Footer{int64(header), int64(compact), int64(length)}, c.Err
}

// otherFooter finds out whether the end of the file is the footer of another version, whose first offset is in the file.
func otherFooter(tail []byte, size int64) error {
	for _, o := range otherFooters {
		if len(tail) < o.size || size < int64(o.size) {
			continue
		}
		b := tail[len(tail)-o.size:]
		if o.magic {
			if binary.LittleEndian.Uint32(b) != Magic {
				continue
			}
			b = b[4:]
		}
		if int(binary.LittleEndian.Uint16(b)) == o.version && binary.LittleEndian.Uint64(b[2:]) <= uint64(size-int64(o.size)) {
			return &UnsupportedError{Footer: o.version}
		}
	}
	return nil
}

// AppendFooter appends a footer of version 3.
func AppendFooter(dst []byte, f Footer) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, FooterVersion)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.HeaderOffset))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.CompactOffset))
	return binary.LittleEndian.AppendUint32(dst, uint32(f.CompactLength))
}

// Header is the file header. It says where the metadata are.
//
//	┃ magic u32 ┃ version u8 ┃ metadata offset u64 ┃ metadata length u64 ┃
type Header struct {
	Version        uint8 // 10 or 11
	MetadataOffset int64
	MetadataLength int64
}

// parseHeader parses the header that is at an offset of a file of size bytes.
func parseHeader(data []byte, offset, size int64, p *fields.Parts) (Header, error) {
	c := cursor{fields.Cursor{Data: data, Base: offset, Parts: p}}
	c.Magic(Magic)
	v := c.U8("version")
	if c.Err == nil && v != Version10 && v != Version11 {
		if v > Version11 {
			return Header{}, &UnsupportedError{Version: int(v), Footer: FooterVersion}
		}
		c.Refuse(1, "version", fault.Unsupportedf("it is %d, but this program knows only %d and %d", v, Version10, Version11))
	}
	at, n := c.Extent("metadata", size-FooterSize)
	return Header{v, at, n}, fault.In(c.Err, "header", offset)
}

// AppendHeader appends a header.
func AppendHeader(dst []byte, h Header) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, Magic)
	dst = append(dst, h.Version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.MetadataOffset))
	return binary.LittleEndian.AppendUint64(dst, uint64(h.MetadataLength))
}
