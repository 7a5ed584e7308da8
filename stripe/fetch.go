package stripe

import (
	"context"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
)

// Need appends the byte ranges that reading rows takes, as far as that is known
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

// need gives the byte ranges of the blocks that hold rows. What is wrong with them is
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

// NeedToOpen appends the byte ranges of at most limit bytes that [OpenColumn] and the first
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
