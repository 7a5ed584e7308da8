package blocks

import (
	"context"
	"encoding/binary"
	"iter"
	"math"
	"sync"

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

// group is a packed group that is open.
type group struct {
	Reader
	bits func() (*encoding.BlockMap, error) // of members of bits
}

// keeper is a source that keeps open groups.
type keeper interface {
	Group(id uint32, open func() (group any, size int64, err error)) (any, error)
}

// OpenGroup opens the packed group of a node. Its blocks are super-blocks.
func OpenGroup(ctx context.Context, src stripe.Source, id uint32, f storage.Prefetched) (*Reader, error) {
	g, err := openGroup(ctx, src, id, f)
	if err != nil {
		return nil, err
	}
	r := g.Reader
	return &r, nil
}

// openGroup opens the packed group of a node, unless the source has kept it.
func openGroup(ctx context.Context, src stripe.Source, id uint32, f storage.Prefetched) (*group, error) {
	open := func() (any, int64, error) {
		b, rows, err := groupOf(ctx, src, id)
		if err != nil {
			return nil, 0, err
		}
		r, err := open(ctx, src, id, b, rows, f)
		if err != nil {
			return nil, 0, err
		}
		r.group, r.member = true, -1
		if r.Map.Values() != rows {
			return nil, 0, r.Wrap(fault.Corruptf("block map of a packed group holds %d rows, expected %d", r.Map.Values(), rows))
		}
		return &group{*r, sync.OnceValues(func() (*encoding.BlockMap, error) { return mapOfBits(r.Map) })}, 4*r.MapSize() + 512, nil
	}
	if k, ok := src.(keeper); ok {
		g, err := k.Group(id, open)
		if err != nil {
			return nil, err
		}
		return g.(*group), nil
	}
	g, _, err := open()
	if err != nil {
		return nil, err
	}
	return g.(*group), nil
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
	g, err := openGroup(ctx, src, node.Owner(b), f)
	if err != nil {
		return nil, err
	}
	own := g.Reader
	r := &own
	r.mapSize = 0 // the group has it
	if k := b.GetPackedGroupIndex(); k >= MostMembers {
		return nil, r.Wrap(fault.Corruptf("member %d of a packed group", k))
	}
	if r.Map.Values() != positions {
		return nil, r.Wrap(fault.Corruptf("packed group of %d rows, its member has %d", r.Map.Values(), positions))
	}
	r.member, r.Options.Checksums, r.name = int(b.GetPackedGroupIndex()), b.GetBlockChecksums(), b.GetKind().String()
	if values != positions { // bits, of which a value is eight
		if r.Map, err = g.bits(); err != nil {
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

// checkGroup checks that the blocks of a super-block fill it.
func checkGroup(raw []byte) error {
	if len(raw) < 4 {
		return fault.Corruptf("super-block of %d bytes", len(raw))
	}
	members := Members(raw)
	if members > MostMembers || GroupHeaderLen(members) > len(raw) {
		return fault.Corruptf("super-block of %d members in %d bytes", members, len(raw))
	}
	end := uint64(GroupHeaderLen(members))
	for k := range members {
		end += uint64(sizeOf(raw, k))
	}
	if end != uint64(len(raw)) {
		return fault.Corruptf("super-block of %d bytes, whose blocks end at %d", len(raw), end)
	}
	return nil
}

// Members is the number of members with blocks in a super-block.
func Members(raw []byte) int { return int(binary.LittleEndian.Uint32(raw)) }

func sizeOf(raw []byte, k int) uint32 { return binary.LittleEndian.Uint32(raw[4+4*k:]) }

// memberOf is the block of member k of a super-block that was checked, and its offset there; nil if there is none.
func memberOf(raw []byte, k int) (block []byte, offset int) {
	members := Members(raw)
	if k >= members {
		return nil, 0
	}
	offset = GroupHeaderLen(members)
	sizes := raw[4:][:4*k]
	for ; len(sizes) >= 8; sizes = sizes[8:] {
		two := binary.LittleEndian.Uint64(sizes)
		offset += int(two&math.MaxUint32 + two>>32)
	}
	if len(sizes) > 0 {
		offset += int(binary.LittleEndian.Uint32(sizes))
	}
	end := offset + int(sizeOf(raw, k))
	return raw[offset:end:end], offset
}

// membersOf yields the blocks in a super-block that was checked.
func membersOf(raw []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		at := GroupHeaderLen(Members(raw))
		for k := range Members(raw) {
			next := at + int(sizeOf(raw, k))
			if !yield(k, raw[at:next:next]) {
				return
			}
			at = next
		}
	}
}

// GroupSum is the checksum of a super-block for its descriptor: that of its header and of the checksums of its blocks.
func GroupSum(raw []byte) []byte {
	header := GroupHeaderLen(Members(raw))
	sums := append(make([]byte, 0, 2*header), raw[:header]...)
	for _, block := range membersOf(raw) {
		sums = append(sums, block[max(len(block)-encoding.BlockChecksumLen, 0):]...)
	}
	return binary.LittleEndian.AppendUint32(nil, encoding.BlockChecksum(sums))
}
