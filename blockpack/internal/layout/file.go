package layout

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// DefaultTail is the number of bytes that [Open] reads.
const DefaultTail = 64 << 10

// File is an open file. Its methods may be called concurrently.
type File struct {
	Footer   Footer
	Header   Header
	Metadata *Metadata
	Size     int64

	r    storage.Reader
	tail chunk // the end of the file
}

// chunk is bytes of the file that were read.
type chunk struct {
	offset int64
	data   []byte
}

// Open reads the end of a file, of so many bytes or by 0 of [DefaultTail], and, unless they are there, the header and the metadata, in one read if they
// follow each other.
// The reader stays open for as long as the file is used.
func Open(ctx context.Context, r storage.Reader, tailBytes int) (*File, error) {
	n := cmp.Or(tailBytes, DefaultTail)
	tail, size, err := r.ReadSuffix(ctx, max(n, 64))
	if err != nil {
		return nil, err
	}
	f := &File{Size: size, r: r, tail: chunk{size - int64(len(tail)), tail}}
	if f.Footer, err = ParseFooter(tail, size); err == nil {
		err = f.readHeader(ctx)
	}
	if err != nil {
		return nil, fault.Of(err, r.Name())
	}
	return f, nil
}

// read gives bytes of the file, from chunks that have them if it can.
func (f *File) read(ctx context.Context, offset, n int64, chunks ...chunk) ([]byte, error) {
	for _, c := range append(chunks, f.tail) {
		if offset >= c.offset && offset-c.offset <= int64(len(c.data)) && n <= int64(len(c.data))-(offset-c.offset) {
			from := offset - c.offset
			return c.data[from : from+n : from+n], nil
		}
	}
	return storage.ReadRange(ctx, f.r, offset, n)
}

// readHeader reads the header with all that lies behind it up to the next structure: metadata, in files as specified.
func (f *File) readHeader(ctx context.Context) error {
	end := f.Size - FooterSize
	if f.Footer.CompactOffset > f.Footer.HeaderOffset {
		end = f.Footer.CompactOffset
	}
	n := end - f.Footer.HeaderOffset
	if n < HeaderSize || n > MaxMetadata+HeaderSize {
		n = HeaderSize
	}
	b, err := f.read(ctx, f.Footer.HeaderOffset, n)
	if err != nil {
		return err
	}
	if f.Header, err = parseHeader(b, f.Footer.HeaderOffset, f.Size, nil); err != nil {
		return err
	}
	f.Metadata, err = f.readMetadata(ctx, f.Header, chunk{f.Footer.HeaderOffset, b})
	return err
}

func (f *File) readMetadata(ctx context.Context, h Header, near chunk) (*Metadata, error) {
	if h.MetadataLength > MaxMetadata {
		return nil, fault.In(fault.Limitf("%d bytes, the limit is %d", h.MetadataLength, MaxMetadata), "metadata", h.MetadataOffset)
	}
	b, err := f.read(ctx, h.MetadataOffset, h.MetadataLength, near)
	if err != nil {
		return nil, err
	}
	all, err := parseVariants(b, h, f.dataEnd(h))
	if err != nil {
		return nil, err
	}
	// Where bytes can be read in two ways, blocks tell the right one.
	if len(all) > 1 {
		for _, m := range all {
			ok, err := f.haveMagic(ctx, m.Blocks)
			if err != nil {
				return nil, err
			}
			if ok {
				return m, nil
			}
		}
	}
	return all[0], nil
}

// dataEnd is the end of the blocks.
func (f *File) dataEnd(h Header) int64 { return min(f.Footer.HeaderOffset, h.MetadataOffset) }

// haveMagic tells whether the first and the last block begin as blocks do.
func (f *File) haveMagic(ctx context.Context, blocks []Block) (bool, error) {
	for _, b := range []Block{blocks[0], blocks[len(blocks)-1]} {
		if b.Length < 4 {
			return false, nil
		}
		p, err := f.read(ctx, b.Offset, 4)
		if err != nil {
			return false, err
		}
		if binary.LittleEndian.Uint32(p) != Magic {
			return false, nil
		}
	}
	return true, nil
}

// Compact reads the compact index; nil if the file has none.
func (f *File) Compact(ctx context.Context) (*CompactIndex, error) {
	at, n := f.Footer.CompactOffset, f.Footer.CompactLength
	if n == 0 {
		return nil, nil
	}
	if n > MaxCompactBytes {
		return nil, fault.Of(fault.In(fault.Limitf("%d bytes, the limit is %d", n, MaxCompactBytes), "compact index", at), f.r.Name())
	}
	b, err := f.read(ctx, at, n)
	if err != nil {
		return nil, err
	}
	x, err := ParseCompact(b, at, f.Size)
	return x, fault.Of(err, f.r.Name())
}
