package buffers

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// Members of a packed group have blocks of as many rows as a super-block, a power of two.
const (
	leastCut = 64
	mostCut  = 8192
	// groupRaw is how many bytes the rows of a super-block are to have before they are encoded, by the widths of their types.
	groupRaw = 1 << 20
	// textWidth is the width of a byte string, which only the values tell.
	textWidth = 16
	// mostMember is the size of the values of a block above which their node is not a member.
	mostMember = 1 << 20
)

// Packs reports whether a column can be a member of a packed group.
func Packs(col *arrowmap.Column) bool {
	return len(col.Children) == 0 && !slices.Contains([]schema.BasicType{schema.Unit, schema.Struct, schema.Union}, col.Stored.Type)
}

// Packed is the context of the members of a packed group.
func (c *Context) Packed(members []*arrowmap.Column) *Context {
	width := 0
	for _, m := range members {
		w := textWidth
		if t, ok := m.Plain.(arrow.FixedWidthDataType); ok {
			w = (t.BitWidth() + 7) / 8
		}
		width += w
	}
	rows := uint(groupRaw / max(width, 1))
	packed := *c
	packed.OffsetsApart = false // a buffer of bytes has no rows
	packed.Cut = min(max(1<<(bits.Len(rows|1)-1), leastCut), mostCut, c.Stage.Values)
	return &packed
}

// Of is the context of a child of a node: only flat children are members of packed groups.
func (c *Context) Of(child *arrowmap.Column) *Context {
	if c.Cut == 0 || Packs(child) {
		return c
	}
	free := *c
	free.Cut = 0
	return &free
}

// Pack moves the blocks of DATA buffers of the same rows to super-blocks (docs/format.md §6.5). It leaves out those that have other blocks than the others,
// and the largest ones if a super-block would be too large. group has no Data if there is no group then.
func Pack(c *Context, rows uint64, members []*stripe.Buffer) (group stripe.Buffer, err error) {
	var maps []*encoding.BlockMap
	var packed []*stripe.Buffer
	for _, b := range members {
		m, err := c.mapOf(b, rows)
		if err != nil {
			return group, err
		}
		if m != nil {
			maps, packed = append(maps, m), append(packed, b)
		}
	}
	maps, packed = fitting(maps, packed)
	if len(packed) < 2 {
		return group, nil
	}
	var out bufferWriter
	defer out.Release() // after an error
	var raw []byte
	for i := range maps[0].Len() {
		raw = binary.LittleEndian.AppendUint32(raw[:0], uint32(len(maps)))
		for _, m := range maps {
			_, _, _, size := m.Block(i)
			raw = binary.LittleEndian.AppendUint32(raw, uint32(size))
		}
		for k, m := range maps {
			_, _, offset, size := m.Block(i)
			at := len(raw)
			raw = slices.Grow(raw, size)[:at+size]
			if _, err := packed[k].Data.ReadAt(raw[at:], offset); err != nil {
				return group, err
			}
		}
		if err := out.addSuper(c, raw, int(min(rows-uint64(i*c.Cut), uint64(c.Cut)))); err != nil {
			return group, err
		}
	}
	all, err := out.finish(c, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA})
	if err != nil {
		return group, err
	}
	all[0].Desc.BlockChecksums = false
	for k, b := range packed {
		index := uint32(k)
		b.Desc.PackedGroupIndex, b.Desc.BlockCount, b.Desc.InlineBlockMap, b.Desc.Checksums = &index, nil, nil, nil
		b.Data.Close()
		b.Data, b.MapOffset = storage.NewSpool(c.Budget, c.TempDir), -1
	}
	c.Features.Add(edition.PackedGroups)
	return all[0], nil
}

// addSuper appends a super-block.
func (b *bufferWriter) addSuper(c *Context, raw []byte, rows int) error {
	if err := b.add(c, raw, rows); err != nil {
		return err
	}
	b.sums = append(b.sums[:len(b.sums)-encoding.BlockChecksumLen], blocks.GroupSum(raw)...)
	return nil
}

// mapOf is the block map of a buffer whose blocks have as many rows as super-blocks, else nil.
func (c *Context) mapOf(b *stripe.Buffer, rows uint64) (m *encoding.BlockMap, err error) {
	size := b.Data.Size()
	switch raw := b.Desc.GetInlineBlockMap(); {
	case rows == 0:
		return nil, nil
	case len(raw) > 0:
		m, err = encoding.ParseBlockMap(raw, size)
	case b.MapOffset < 0:
		m, err = encoding.SingleBlockMap(min(rows, uint64(c.Cut)), size)
	default:
		raw = make([]byte, size-b.MapOffset)
		if _, err = b.Data.ReadAt(raw, b.MapOffset); err == nil {
			m, err = encoding.ParseBlockMap(raw, b.MapOffset)
		}
	}
	if err != nil || uint64(m.Len()) != (rows+uint64(c.Cut)-1)/uint64(c.Cut) {
		return nil, err
	}
	for i := range m.Len() - 1 {
		if _, n, _, _ := m.Block(i); n != c.Cut && 8*n != c.Cut {
			return nil, nil
		}
	}
	return m, nil
}

// fitting leaves out the largest members as long as a super-block may be too large.
func fitting(maps []*encoding.BlockMap, members []*stripe.Buffer) ([]*encoding.BlockMap, []*stripe.Buffer) {
	largest := make([]int, len(maps))
	total := blocks.GroupHeaderLen(len(maps))
	for k, m := range maps {
		for i := range m.Len() {
			_, _, _, size := m.Block(i)
			largest[k] = max(largest[k], size)
		}
		total += largest[k]
	}
	for total > blocks.LargestGroup || len(maps) > blocks.MostMembers {
		k := slices.Index(largest, slices.Max(largest))
		total -= largest[k]
		maps, members, largest = slices.Delete(maps, k, k+1), slices.Delete(members, k, k+1), slices.Delete(largest, k, k+1)
	}
	return maps, members
}
