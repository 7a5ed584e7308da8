package stripe

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
)

// Need appends the pieces that reading rows takes, as far as that is known
// beforehand: not the items of lists, which only offsets tell, nor a value
// dictionary.
func (c *Column) Need(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	w := c.borrow()
	defer workers.Put(w)
	c.reader.need(w, rows, func(p storage.ByteRange) { dst = append(dst, p) })
	return dst
}

// DataSize is how many bytes the blocks of the column take that Need tells of.
func (c *Column) DataSize() int64 {
	if c.rows == 0 {
		return 0
	}
	return storage.TotalSize(c.Need(nil, rowset.All(c.rows)))
}

// need gives the pieces of the blocks that hold rows. What is wrong with them is
// found when they are read.
func (br *blockReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	parts, err := br.parts(w, rows)
	if err != nil {
		return
	}
	for len(parts) > 0 {
		n, size := run(parts)
		add(storage.ByteRange{Reader: br.r, Offset: br.start + parts[0].Offset, Size: int64(size)})
		parts = parts[n:]
	}
}

// Parts says what of a column's buffers to read ahead of opening it.
type Parts uint8

// The parts.
const (
	ToOpen   Parts = iota // block maps and value dictionaries
	ToFilter              // these, and range indexes
	Whole                 // all but range indexes
)

// NeedToOpen appends the pieces of at most limit bytes that [OpenColumn] and the first
// reads of a column take beside descriptors, as far as these can be read.
func NeedToOpen(ctx context.Context, dst []storage.ByteRange, src Source, col arrowmap.Column, parts Parts, limit int64) ([]storage.ByteRange, error) {
	d, err := src.Descriptor(ctx, col.ID)
	if err != nil || d == nil {
		return dst, err
	}
	for _, b := range NativeEncoding(d).GetBuffers() {
		r := b.GetBuffer().GetRange()
		switch b.GetKind() {
		case shardpb.BufferKind_VALUE_DICTIONARY:
		case shardpb.BufferKind_RANGE_INDEX:
			if parts != ToFilter {
				continue
			}
		default:
			if parts != Whole {
				r = b.GetBlockMap().GetRange()
			}
		}
		at, err := src.Artifact(ctx, col.ID, b.GetBuffer()) // which checks its range
		if err != nil {
			return dst, err
		}
		size := int64(r.GetEnd() - r.GetStart())
		if 0 < size && size <= limit && r.GetEnd() <= b.GetBuffer().GetRange().GetEnd() {
			dst = append(dst, storage.ByteRange{Reader: at, Offset: int64(r.GetStart()), Size: size})
		}
	}
	for i := range col.Children {
		if dst, err = NeedToOpen(ctx, dst, src, col.Children[i], parts, limit); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Fetched holds bytes that were read at once for several columns, by one Fetch or
// more. It does not change, and may be used by many goroutines.
type Fetched []*regions

// regions are what one Fetch has read, by reader, then by offset.
type regions []region

type region struct {
	reader int // its number among the readers of the pieces
	r      storage.Reader
	offset int64
	bytes  []byte
}

// Size is how many bytes it holds.
func (f Fetched) Size() (n int64) {
	for _, regions := range f {
		for i := range *regions {
			n += int64(len((*regions)[i].bytes))
		}
	}
	return n
}

// Fetch reads pieces, but for those that it holds, and gives what it read. Any that
// fails is an error.
func (f Fetched) Fetch(ctx context.Context, pieces []storage.ByteRange, o storage.CoalesceOptions) (Fetched, error) {
	pieces = slices.DeleteFunc(pieces, func(p storage.ByteRange) bool { return f.bytes(p.Reader, p.Offset, int(p.Size)) != nil })
	if len(pieces) == 0 {
		return nil, nil
	}
	read := regions(join(pieces, o))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(o.Requests, 1))
	for i := range read {
		r := &read[i]
		fetch := func() error { return r.r.ReadAt(ctx, r.bytes, r.offset) }
		if o.Requests > 1 && len(read) > 1 {
			g.Go(fetch)
		} else if err := fetch(); err != nil {
			return nil, err
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return Fetched{&read}, nil
}

// join makes regions of pieces, which it sorts.
func join(pieces []storage.ByteRange, o storage.CoalesceOptions) (out []region) {
	number := map[storage.Reader]int{}
	for _, p := range pieces {
		if _, ok := number[p.Reader]; !ok {
			number[p.Reader] = len(number)
		}
	}
	slices.SortFunc(pieces, func(a, b storage.ByteRange) int {
		return cmp.Or(cmp.Compare(number[a.Reader], number[b.Reader]), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size))
	})
	for len(pieces) > 0 {
		first := pieces[0]
		end, n := first.Offset+first.Size, 1
		for _, p := range pieces[1:] {
			between := p.Offset - end
			full := p.Offset+p.Size-first.Offset > o.Limit && between > readGap // a column reads through less
			if p.Reader != first.Reader || between > max(o.Gap, readGap) || full {
				break
			}
			end = max(end, p.Offset+p.Size)
			n++
		}
		pieces = pieces[n:]
		out = append(out, region{number[first.Reader], first.Reader, first.Offset, make([]byte, end-first.Offset)})
	}
	return out
}

// bytes are those of a range, nil if they were not fetched.
func (f Fetched) bytes(r storage.Reader, offset int64, n int) []byte {
	for _, regions := range f {
		if b := regions.bytes(r, offset, n); b != nil {
			return b
		}
	}
	return nil
}

func (f regions) bytes(r storage.Reader, offset int64, n int) []byte {
	for i := 0; i < len(f); {
		if f[i].r != r { // the next reader
			i += sort.Search(len(f)-i, func(k int) bool { return f[i+k].reader > f[i].reader })
			continue
		}
		k := i + sort.Search(len(f)-i, func(k int) bool {
			g := &f[i+k]
			return g.reader != f[i].reader || g.offset+int64(len(g.bytes)) >= offset+int64(n)
		})
		if k == len(f) || f[k].r != r || f[k].offset > offset {
			return nil
		}
		from := offset - f[k].offset
		return f[k].bytes[from : from+int64(n) : from+int64(n)]
	}
	return nil
}

// read reads n bytes of a buffer, unless they were fetched. The result is the
// caller's alone.
func (f Fetched) read(ctx context.Context, r storage.Reader, offset, n int64) ([]byte, error) {
	if b := f.bytes(r, offset, int(n)); b != nil {
		return slices.Clone(b), nil // what lies around it need not stay in memory
	}
	b := make([]byte, n)
	return b, r.ReadAt(ctx, b, offset)
}
