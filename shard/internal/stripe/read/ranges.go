package read

import (
	"context"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// ByteRanges appends the byte ranges that reading rows takes, as far as they are known
// beforehand: not those of the items of lists, which only offsets tell, nor of a value
// dictionary.
func (c *Column) ByteRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	w := getWorker(&c.options)
	defer w.put()
	c.reader.need(w, rows, func(p storage.ByteRange) { dst = append(dst, p) })
	return dst
}

// DataSize is the bytes of all ranges of [Column.ByteRanges].
func (c *Column) DataSize() int64 {
	if c.rows == 0 {
		return 0
	}
	return storage.TotalSize(c.ByteRanges(nil, rowset.All(c.rows)))
}

// Parts says which parts of a column's buffers to read before it is opened.
type Parts uint8

// The parts.
const (
	ToOpen   Parts = iota // block maps and value dictionaries
	ToFilter              // these, and range indexes
	Whole                 // all but range indexes
)

// RangesToOpen appends the byte ranges of at most limit bytes that [OpenColumn] and the first
// reads of a column take beside descriptors, as far as these can be read.
func RangesToOpen(ctx context.Context, dst []storage.ByteRange, src stripe.Source, col arrowmap.Column, parts Parts, limit int64) ([]storage.ByteRange, error) {
	d, err := src.Descriptor(ctx, col.ID)
	if err != nil || d == nil {
		return dst, err
	}
	for _, b := range stripe.NativeEncoding(d).GetBuffers() {
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
		if dst, err = RangesToOpen(ctx, dst, src, col.Children[i], parts, limit); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
