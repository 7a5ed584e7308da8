package layout

import (
	"cmp"
	"context"
	"encoding/binary"

	"golang.org/x/sync/semaphore"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// DefaultTail is the number of bytes that [Open] reads.
const DefaultTail = 64 << 10

// File is an open file. Its methods may be called concurrently. The bytes that were read at its end, and those of
// the structures that were asked for, are kept.
type File struct {
	Footer Footer
	Size   int64

	r       storage.Reader
	o       Options
	lock    *semaphore.Weighted // as a mutex, but a cancelled call does not wait for it
	cached  []cachedRange
	header  *Header
	meta    *Metadata
	compact *CompactIndex
}

type cachedRange struct {
	offset int64
	data   []byte
}

// Open reads the end of a file, and checks the footer. Nothing else is read before it is asked for. The reader stays
// open for as long as the file is used.
func Open(ctx context.Context, r storage.Reader, o Options) (*File, error) {
	n := cmp.Or(o.Tail, DefaultTail)
	tail, size, err := r.ReadSuffix(ctx, max(n, 64))
	if err != nil {
		return nil, err
	}
	footer, err := ParseFooter(tail, size)
	if err != nil {
		return nil, fault.Of(err, r.Name())
	}
	f := &File{Footer: footer, Size: size, r: r, o: o, lock: semaphore.NewWeighted(1)}
	f.cached = []cachedRange{{size - int64(len(tail)), tail}}
	return f, nil
}

// read gives bytes of the file, from those that are there if it can.
func (f *File) read(ctx context.Context, offset, n int64) ([]byte, error) {
	for _, c := range f.cached {
		if offset >= c.offset && offset-c.offset <= int64(len(c.data)) && n <= int64(len(c.data))-(offset-c.offset) {
			from := offset - c.offset
			return c.data[from : from+n : from+n], nil
		}
	}
	return storage.ReadRange(ctx, f.r, offset, n)
}

// Header gives the header, read once.
func (f *File) Header(ctx context.Context) (Header, error) {
	if err := f.lock.Acquire(ctx, 1); err != nil {
		return Header{}, err
	}
	defer f.lock.Release(1)
	return f.readHeader(ctx)
}

// readHeader reads all that lies behind the header up to the next structure, too: metadata, in files as specified.
func (f *File) readHeader(ctx context.Context) (Header, error) {
	if f.header != nil {
		return *f.header, nil
	}
	end := f.Size - FooterSize
	if f.Footer.CompactOffset > f.Footer.HeaderOffset {
		end = f.Footer.CompactOffset
	}
	n := end - f.Footer.HeaderOffset
	if n < HeaderSize || n > f.o.maxMetadata()+HeaderSize {
		n = HeaderSize
	}
	b, err := f.read(ctx, f.Footer.HeaderOffset, n)
	if err != nil {
		return Header{}, err
	}
	h, err := parseHeader(b, f.Footer.HeaderOffset, f.Size, nil)
	if err != nil {
		return Header{}, fault.Of(err, f.r.Name())
	}
	f.header = &h
	if n > HeaderSize {
		f.cached = append(f.cached, cachedRange{f.Footer.HeaderOffset, b})
	}
	return h, nil
}

// Metadata gives the metadata, read once.
func (f *File) Metadata(ctx context.Context) (*Metadata, error) {
	if err := f.lock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer f.lock.Release(1)
	if f.meta != nil {
		return f.meta, nil
	}
	h, err := f.readHeader(ctx)
	if err != nil {
		return nil, err
	}
	m, err := f.readMetadata(ctx, h)
	if err != nil {
		return nil, fault.Of(err, f.r.Name())
	}
	f.meta, f.cached = m, f.cached[:1]
	return m, nil
}

func (f *File) readMetadata(ctx context.Context, h Header) (*Metadata, error) {
	if h.MetadataLength > f.o.maxMetadata() {
		return nil, fault.In(fault.Limitf("%d bytes, the limit is %d", h.MetadataLength, f.o.maxMetadata()), "metadata", h.MetadataOffset)
	}
	b, err := f.read(ctx, h.MetadataOffset, h.MetadataLength)
	if err != nil {
		return nil, err
	}
	all, err := parseVariants(b, h, f.dataEnd(h), f.o)
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

// Compact gives the compact index, read once; nil if the file has none.
func (f *File) Compact(ctx context.Context) (*CompactIndex, error) {
	if f.Footer.CompactLength == 0 {
		return nil, nil
	}
	if err := f.lock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer f.lock.Release(1)
	if f.compact != nil {
		return f.compact, nil
	}
	at, n := f.Footer.CompactOffset, f.Footer.CompactLength
	if limit := max(MaxCompactBytes, f.o.MaxMetadata); n > limit {
		return nil, fault.Of(fault.In(fault.Limitf("%d bytes, the limit is %d", n, limit), "compact index", at), f.r.Name())
	}
	b, err := f.read(ctx, at, n)
	if err != nil {
		return nil, err
	}
	if f.compact, err = ParseCompact(b, at, f.Size); err != nil {
		return nil, fault.Of(err, f.r.Name())
	}
	return f.compact, nil
}
