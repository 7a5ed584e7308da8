package blocks

import (
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Blocks of a packed group are super-blocks (docs/format.md §6.5), each with a block of every member:
//
//	u32 members | u32 size of each block | block of member 0 | block of member 1 | ...

// LargestGroup is the most bytes of a super-block.
const LargestGroup = 64 << 20

// MostMembers is the most members of a packed group.
const MostMembers = 1 << 10

// GroupHeaderLen is the number of bytes in front of the blocks of a super-block.
func GroupHeaderLen(members int) int { return 4 + 4*members }

// OpenGroup opens the packed group of a node. Its blocks are super-blocks.
func OpenGroup(ctx context.Context, src stripe.Source, id uint32, f storage.Prefetched) (*Reader, error) {
	b, rows, err := groupOf(ctx, src, id)
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, src, id, b, rows, f)
	if err != nil {
		return nil, err
	}
	r.group, r.member = true, -1
	if r.Map.Values() != rows {
		return nil, r.Wrap(fault.Corruptf("block map of a packed group holds %d rows, expected %d", r.Map.Values(), rows))
	}
	return r, nil
}

// groupOf is the buffer of the packed group of a node, and the number of its rows.
func groupOf(ctx context.Context, src stripe.Source, id uint32) (b *shardpb.EncodedBuffer, rows uint64, err error) {
	d, err := src.Descriptor(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	b = stripe.FindBuffer(stripe.GroupEncoding(d).GetBuffers(), shardpb.BufferKind_DATA)
	if b == nil || stripe.IsMember(b) {
		return nil, 0, fault.Corruptf("no packed group in the node of schema id %d", id)
	}
	return b, d.GetField().GetPositionCount(), nil
}

// Owner is the schema id of the node that has the packed group of a member.
func (n Node) Owner(b *shardpb.EncodedBuffer) uint32 {
	if b.BufferId != nil {
		return *b.BufferId
	}
	return n.Parent
}

// openMember opens a buffer whose blocks lie in those of a packed group. positions are those of its node.
func openMember(ctx context.Context, src stripe.Source, node Node, b *shardpb.EncodedBuffer, positions, values uint64, f storage.Prefetched) (*Reader, error) {
	r, err := OpenGroup(ctx, src, node.Owner(b), f)
	if err != nil {
		return nil, err
	}
	if k := b.GetPackedGroupIndex(); k >= MostMembers {
		return nil, r.Wrap(fault.Corruptf("member %d of a packed group", k))
	}
	if r.Map.Values() != positions {
		return nil, r.Wrap(fault.Corruptf("packed group of %d rows, its member has %d", r.Map.Values(), positions))
	}
	r.member, r.Options.Checksums, r.name = int(b.GetPackedGroupIndex()), b.GetBlockChecksums(), b.GetKind().String()
	if values != positions { // bits, of which a value is eight
		if r.Map, err = mapOfBits(r.Map); err != nil {
			return nil, r.Wrap(err)
		}
	}
	return r, nil
}

// mapOfBits is the map of blocks of bytes with a bit for each row.
func mapOfBits(rows *encoding.BlockMap) (*encoding.BlockMap, error) {
	var b encoding.BlockMapBuilder
	for i := range rows.Len() {
		_, n, _, size := rows.Block(i)
		if n%8 != 0 && i < rows.Len()-1 {
			return nil, fault.Corruptf("bits of %d rows in super-block %d", n, i)
		}
		b.Add((n+7)/8, size)
	}
	return encoding.ParseBlockMap(b.Append(nil), rows.DataSize())
}

// CutGroup calls f for the block of each member of a super-block, and for its offset there, until f returns false.
func CutGroup(raw []byte, f func(k, offset int, block []byte) bool) error {
	if len(raw) < 4 {
		return fault.Corruptf("super-block of %d bytes", len(raw))
	}
	members := binary.LittleEndian.Uint32(raw)
	if members > MostMembers || GroupHeaderLen(int(members)) > len(raw) {
		return fault.Corruptf("super-block of %d members in %d bytes", members, len(raw))
	}
	sizes, end := raw[4:GroupHeaderLen(int(members))], uint64(GroupHeaderLen(int(members)))
	for i := 0; i < len(sizes); i += 4 {
		end += uint64(binary.LittleEndian.Uint32(sizes[i:]))
	}
	if end != uint64(len(raw)) {
		return fault.Corruptf("super-block of %d bytes, whose blocks end at %d", len(raw), end)
	}
	at := GroupHeaderLen(int(members))
	for k := range int(members) {
		next := at + int(binary.LittleEndian.Uint32(sizes[4*k:]))
		if !f(k, at, raw[at:next:next]) {
			break
		}
		at = next
	}
	return nil
}

// GroupSum is the checksum of a super-block for its descriptor: that of its header and of the checksums of its blocks.
func GroupSum(raw []byte) []byte {
	var sums []byte
	_ = CutGroup(raw, func(k, offset int, block []byte) bool { // checked by the caller
		if k == 0 {
			sums = append(sums, raw[:offset]...)
		}
		sums = append(sums, block[max(len(block)-encoding.BlockChecksumLen, 0):]...)
		return true
	})
	return binary.LittleEndian.AppendUint32(nil, encoding.BlockChecksum(sums))
}
