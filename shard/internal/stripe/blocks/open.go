package blocks

import (
	"context"
	"slices"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Largest is the most bytes that a block may decode to.
const Largest = 1 << 30

// Open opens a buffer of blocks of a node. Blocks too large to decode to maxBlockBytes, or to [Largest] if that is 0, are not read.
func Open(ctx context.Context, src stripe.Source, node Node, b *shardpb.EncodedBuffer, maxBlockBytes int64) (*Reader, error) {
	d, err := src.Descriptor(ctx, node.ID)
	if err != nil {
		return nil, err
	}
	field := d.GetField()
	if field == nil {
		field = &shardpb.FieldDescriptor{}
	}
	return OpenField(ctx, src, node, field, b, maxBlockBytes, nil)
}

// OpenField is [Open] for a node whose descriptor was read. f may have bytes of the block map.
func OpenField(ctx context.Context, src stripe.Source, node Node, field *shardpb.FieldDescriptor, b *shardpb.EncodedBuffer, maxBlockBytes int64, f storage.Prefetched) (*Reader, error) {
	var r *Reader
	var err error
	if values := stripe.BufferValues(node.Type, b.GetKind(), field, node.OffsetsApart); stripe.IsMember(b) {
		r, err = openMember(ctx, src, node, b, field.GetPositionCount(), values, f)
	} else {
		r, err = open(ctx, src, node.ID, b, values, f)
	}
	if err == nil {
		r.maxBytes = node.maxBlock(field, b.GetKind(), maxBlockBytes)
	}
	return r, err
}

// maxBlock returns a function for the maximum size of the blocks of a buffer. Byte strings of any length may need as
// much memory as decoded blocks may take by maxBlockBytes.
func (n Node) maxBlock(field *shardpb.FieldDescriptor, kind shardpb.BufferKind, maxBlockBytes int64) func(values int) int64 {
	const frame, perValue = 4 << 10, 16 // twice the widest number
	size := int64(0)
	switch n.Type {
	case schema.String, schema.Binary, schema.Guid, schema.FixedSizeBinary:
		size = int64(n.FixedSize)
		if kind == shardpb.BufferKind_DATA && field.DictionarySize == nil && size == 0 && !n.OffsetsApart {
			most := int64(Largest)
			if maxBlockBytes > 0 {
				most = 2*min(maxBlockBytes, Largest) + frame
			}
			return func(values int) int64 { return most + perValue*int64(values) }
		}
	}
	return func(values int) int64 { return frame + (perValue+2*size)*int64(values) }
}

// Parts says which parts of a column's buffers to read before it is opened.
type Parts uint8

// The parts.
const (
	ToOpen   Parts = iota // block maps and dictionaries
	ToFilter              // these, and range indexes
	Whole                 // all but range indexes
	All                   // these, too
	OnlyRangeIndexes
)

// RangesToOpen appends the byte ranges of at most limit bytes that opening and the first
// reads of a column take beside descriptors, as far as these can be read.
func RangesToOpen(ctx context.Context, dst []storage.ByteRange, src stripe.Source, col arrowmap.Column, parts Parts, limit int64) ([]storage.ByteRange, error) {
	d, err := src.Descriptor(ctx, col.ID)
	if err != nil || d == nil {
		return dst, err
	}
	for _, b := range stripe.NativeEncoding(d).GetBuffers() {
		id, member := col.ID, stripe.IsMember(b)
		if member {
			id = Node{Parent: col.Parent}.Owner(b)
			if b, _, err = groupOf(ctx, src, id); err != nil {
				return dst, err
			}
		}
		r := b.GetBuffer().GetRange()
		switch kind := b.GetKind(); {
		case kind == shardpb.BufferKind_RANGE_INDEX && (parts == ToOpen || parts == Whole), kind != shardpb.BufferKind_RANGE_INDEX && parts == OnlyRangeIndexes:
			continue
		case kind == shardpb.BufferKind_RANGE_INDEX, kind == shardpb.BufferKind_VALUE_DICTIONARY, kind == shardpb.BufferKind_OPAQUE_DICTIONARY, parts >= Whole:
		default:
			r = b.GetBlockMap().GetRange()
		}
		at, err := src.Artifact(ctx, id, b.GetBuffer()) // which checks its range
		if err != nil {
			return dst, err
		}
		size := int64(r.GetEnd() - r.GetStart())
		need := storage.ByteRange{Reader: at, Offset: int64(r.GetStart()), Size: size}
		if 0 < size && size <= limit && r.GetEnd() <= b.GetBuffer().GetRange().GetEnd() && !(member && slices.Contains(dst, need)) {
			dst = append(dst, need)
		}
	}
	for i := range col.Children {
		if dst, err = RangesToOpen(ctx, dst, src, col.Children[i], parts, limit); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
