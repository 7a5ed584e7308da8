package buffers

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// bufferWriter collects the blocks of one encoded buffer (docs/format.md §6.1):
//
//	block 0 | block 1 | ... | zero pad to 16 | block map
//
// In edition 2026 most end with the last block: their maps are in the descriptors.
type bufferWriter struct {
	spool  *storage.Spool
	blocks encoding.BlockMapBuilder
	count  uint64
	sums   []byte // checksums of the blocks
	mapped bool   // nothing but a block map tells the number of values
}

// add appends one block of n logical values.
func (b *bufferWriter) add(c *Context, block []byte, n int) error {
	if b.spool == nil {
		b.spool = storage.NewSpool(c.Budget, c.TempDir)
	}
	if _, err := b.spool.Write(block); err != nil {
		return err
	}
	b.blocks.Add(n, len(block))
	b.sums = append(b.sums, block[len(block)-encoding.BlockChecksumLen:]...)
	b.count++
	return nil
}

// addSegment appends the blocks of a segment.
func (b *bufferWriter) addSegment(c *Context, p *segment) error {
	start := 0
	for _, blk := range p.blocks {
		if err := b.add(c, p.bytes[start:blk.end], blk.values); err != nil {
			return err
		}
		start = blk.end
	}
	return nil
}

// mostInline is the largest block map that is put into a descriptor, some 700 blocks:
// descriptors are also read for statistics alone.
const mostInline = 4 << 10

// finish closes the buffer and appends it; desc gets the number of blocks, and the block map unless that
// is large, or the edition wants it in the buffer. A single block has none.
func (b *bufferWriter) finish(c *Context, all []stripe.Buffer, desc *shardpb.EncodedBuffer) ([]stripe.Buffer, error) {
	if b.spool == nil {
		b.spool = storage.NewSpool(c.Budget, c.TempDir)
	}
	desc.BlockCount = &b.count
	desc.BlockChecksums, desc.Checksums = true, b.sums
	out := stripe.Buffer{Desc: desc, Data: b.spool, MapOffset: -1}
	if b.count == 1 && !b.mapped && c.Encoding.Features.Has(edition.SingleBlocks) {
		c.Features.Add(edition.SingleBlocks)
	} else if m := b.blocks.Append(nil); b.count > 0 && len(m) <= mostInline && c.Encoding.Features.Has(edition.InlineMaps) {
		c.Features.Add(edition.InlineMaps)
		desc.InlineBlockMap = m
	} else if err := b.appendMap(m, &out); err != nil {
		return all, err
	}
	b.spool = nil
	return append(all, out), nil
}

// appendMap appends a block map to the buffer out.
func (b *bufferWriter) appendMap(m []byte, out *stripe.Buffer) error {
	var zero [16]byte
	if pad := -b.spool.Size() & 15; pad > 0 {
		if _, err := b.spool.Write(zero[:pad]); err != nil {
			return err
		}
	}
	out.MapOffset = b.spool.Size()
	_, err := b.spool.Write(m)
	return err
}

// Release drops the collected blocks.
func (b *bufferWriter) Release() {
	if b.spool != nil {
		b.spool.Close()
		*b = bufferWriter{}
	}
}

// AppendWhole stages a buffer that is not made of blocks, and appends it. After an error what was there is still the caller's.
func AppendWhole(c *Context, all []stripe.Buffer, desc *shardpb.EncodedBuffer, content []byte) ([]stripe.Buffer, error) {
	spool := storage.NewSpool(c.Budget, c.TempDir)
	if _, err := spool.Write(content); err != nil {
		spool.Close()
		return all, err
	}
	desc.Checksums = binary.LittleEndian.AppendUint32(nil, encoding.BlockChecksum(content))
	return append(all, stripe.Buffer{Desc: desc, Data: spool, MapOffset: -1}), nil
}

// OneBlock is the number of values that one block holds, at least. Where a column has no more, reading them costs hardly
// more than asking a filter or an index about them.
const OneBlock = 8192

// AppendRangeIndex appends the RANGE_INDEX buffer of a node, unless there is nothing to index, or it says no more than the
// column's range: with one block of positions it does not. In edition reference these are the blocks of the index, else those
// of the data.
func AppendRangeIndex[T any](c *Context, out []stripe.Buffer, f *shardpb.FieldDescriptor, index *numrange.Builder[T]) ([]stripe.Buffer, error) {
	least := uint64(numrange.BlockLen)
	if c.Encoding.Features != 0 {
		least = OneBlock
	}
	if index == nil || f.GetPositionCount() <= least {
		return out, nil
	}
	content, trees := index.Append(nil, c.Encoding)
	if len(content) == 0 {
		return out, nil
	}
	for i := range trees {
		c.Features.addTree(&trees[i])
	}
	// the reference sets these three to 0 in the descriptor
	var blocks uint64
	var buffer, group uint32
	return AppendWhole(c, out, &shardpb.EncodedBuffer{
		Kind: shardpb.BufferKind_RANGE_INDEX, BlockCount: &blocks, BufferId: &buffer, PackedGroupIndex: &group,
	}, content)
}
