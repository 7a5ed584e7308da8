package verify

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/pageindex"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/shard/internal/stripe/valuedict"
	"github.com/amudai/amudai-go/storage"
)

// columnCheck checks one column of a stripe.
type columnCheck struct {
	v      *verifier
	stripe *shardfile.Stripe
	left   []sequence // whose values are yet to be checked
}

// in adds the column and path of a node to err.
func (c *columnCheck) in(err error, path string) error {
	return fault.InStripe(fault.InColumn(err, path), c.stripe.Index())
}

// buffers checks the descriptors and buffers of a node and of the nodes below it. ok reports whether their values
// can be checked.
func (c *columnCheck) buffers(ctx context.Context, col *arrowmap.Column, path string) (ok bool, err error) {
	d, err := c.stripe.Descriptor(ctx, col.ID)
	if err != nil {
		return false, c.v.found(err)
	}
	ok = true
	if d == nil {
		c.v.Note(c.in(errors.New("no descriptor: all values are null, and the reference cannot read the column"), path))
	} else if len(d.Encodings) > 0 && stripe.NativeEncoding(d) == nil {
		return false, c.v.found(c.in(fault.Unsupportedf("the values are in another format"), path))
	}
	for _, native := range stripe.NativeEncodings(d) {
		for _, b := range native.GetBuffers() {
			if stripe.IsGroup(native, b) {
				continue
			}
			good, err := c.buffer(ctx, col, path, b, d.Field, native.GetBuffers())
			if err != nil {
				return false, err
			}
			ok = ok && good
		}
	}
	if stripe.GroupEncoding(d) != nil && !c.v.Options.MetadataOnly {
		good, err := c.group(ctx, col, path)
		if err != nil {
			return false, err
		}
		ok = ok && good
	}
	for i := range col.Children {
		good, err := c.buffers(ctx, &col.Children[i], schema.JoinPath(path, childName(col, i)))
		if err != nil {
			return false, err
		}
		ok = ok && good
	}
	return ok, nil
}

// group checks the super-blocks of the packed group of a node. Their members check the blocks inside.
func (c *columnCheck) group(ctx context.Context, col *arrowmap.Column, path string) (ok bool, err error) {
	c.v.Count("buffer", 1)
	in := func(err error) error {
		return c.in(fault.In(err, "packed group", -1), path)
	}
	r, err := blocks.OpenGroup(ctx, c.stripe, col.ID, nil)
	if err != nil {
		return false, c.v.found(in(err))
	}
	if err := c.v.budget.spend(ctx, r.Artifact(), r.Map.DataSize()); err != nil {
		return false, c.v.enough(in(err))
	}
	if !r.Bound() {
		c.v.unbound.Add(1)
	}
	var raw []byte
	members := -1
	for i := range r.Map.Len() {
		if raw, _, err = r.ReadBlock(ctx, i, raw); err != nil {
			return false, c.v.found(in(err))
		}
		if n := blocks.Members(raw); members >= 0 && n != members {
			return false, c.v.problem(in(r.Wrap(fault.Corruptf("super-block %d has blocks of %d members, those before %d", i, n, members))))
		}
		members = blocks.Members(raw)
	}
	return true, nil
}

func childName(col *arrowmap.Column, i int) string {
	switch col.Stored.Type {
	case schema.List, schema.FixedSizeList:
		return "item"
	case schema.Map:
		return [...]string{"key", "value"}[i&1]
	}
	return col.Children[i].Stored.Name
}

// bufferCheck checks one buffer of a node.
type bufferCheck struct {
	*columnCheck
	path   string
	stored *shardpb.EncodedBuffer
	node   blocks.Node
	r      storage.Reader // the artifact of the buffer
	start  int64          // offset of the buffer in it
}

// in adds the buffer and an offset to err.
func (b *bufferCheck) in(err error, offset int64) error {
	if err = fault.InBuffer(err, b.stored.Kind.String(), offset); b.r != nil {
		err = fault.Of(err, b.r.Name())
	}
	return b.columnCheck.in(err, b.path)
}

// buffer checks the bytes of a buffer, one of all those of a node.
func (c *columnCheck) buffer(ctx context.Context, col *arrowmap.Column, path string, stored *shardpb.EncodedBuffer, field *shardpb.FieldDescriptor, all []*shardpb.EncodedBuffer) (ok bool, err error) {
	c.v.Count("buffer", 1)
	b := &bufferCheck{
		columnCheck: c, path: path, stored: stored, start: int64(stored.GetBuffer().GetRange().GetStart()),
		node: blocks.Node{ID: col.ID, Parent: col.Parent, Type: col.Stored.Type, Signed: col.Stored.Signed, FixedSize: col.Stored.FixedSize, OffsetsApart: stripe.OffsetsApart(col.Stored.Type, all)},
	}
	if b.r, err = c.stripe.Artifact(ctx, col.ID, stored.Buffer); err != nil {
		b.r = nil
		return false, c.v.found(b.in(err, -1))
	}
	if b.start%container.Alignment != 0 && !c.v.ours {
		c.v.Note(b.in(fmt.Errorf("buffer does not start at a multiple of %d: the reference cannot read it", container.Alignment), b.start))
	}
	b.flags(col, field, stripe.FindBuffer(all, shardpb.BufferKind_PRESENCE) != nil)
	if c.v.Options.MetadataOnly {
		return true, nil
	}
	if at := stored.GetBuffer().GetRange(); at.GetStart() < at.GetEnd() {
		if err := c.v.budget.spend(ctx, b.r, int64(at.GetEnd()-at.GetStart())); err != nil {
			return false, c.v.enough(b.in(err, -1))
		}
	}
	if n := stored.GetBlockCount(); n > 0 && !stripe.HasBlocks(stored) {
		return false, c.v.found(b.in(fault.Corruptf("the descriptor counts %d blocks in a buffer without blocks", n), b.start))
	}
	if len(stored.Checksums) == 0 && stored.Buffer != nil {
		c.v.unbound.Add(1)
	}
	switch {
	case stored.GetBuffer().GetRange().GetStart() == stored.GetBuffer().GetRange().GetEnd() && field.GetPositionCount() == 0:
		return true, nil // no values, no bytes
	case stripe.HasBlocks(stored):
		return b.blocks(ctx)
	case stored.Kind == shardpb.BufferKind_VALUE_DICTIONARY:
		return b.dictionary(ctx, field)
	case stored.Kind == shardpb.BufferKind_OPAQUE_DICTIONARY:
		return b.shared(ctx)
	case stored.Kind == shardpb.BufferKind_RANGE_INDEX && c.v.Options.Quick:
		raw, err := pageindex.Read(ctx, c.stripe, col.ID, stored, field.GetPositionCount(), nil)
		return true, c.v.found(b.in(cmp.Or(err, blocks.CheckWhole(raw, stored.GetChecksums())), b.start))
	case stored.Kind == shardpb.BufferKind_RANGE_INDEX:
		return true, nil // checked with the values
	}
	return true, c.v.found(b.in(fault.Unsupportedf("a buffer without block map"), -1))
}

// flags notes false statements of the descriptor about blocks. Readers ignore them and use the types.
// nullsApart reports whether the node has its nulls in another buffer.
func (b *bufferCheck) flags(col *arrowmap.Column, field *shardpb.FieldDescriptor, nullsApart bool) {
	values := b.stored.Kind == shardpb.BufferKind_DATA && field.DictionarySize == nil && len(col.Children) == 0 && col.Stored.Type != schema.Boolean
	texts := values && !b.node.OffsetsApart && (field.GetStringStats() != nil || field.GetBinaryStats() != nil || field.GetDecimalStats() != nil)
	if b.stored.EmbeddedPresence != values && !(values && (nullsApart || b.node.OffsetsApart)) {
		b.v.Note(b.in(fmt.Errorf("embedded_presence is %v", b.stored.EmbeddedPresence), b.start))
	}
	if b.stored.EmbeddedOffsets != texts {
		b.v.Note(b.in(fmt.Errorf("embedded_offsets is %v", b.stored.EmbeddedOffsets), b.start))
	}
}

// blocks checks block map and checksums.
func (b *bufferCheck) blocks(ctx context.Context) (bool, error) {
	r, err := blocks.Open(ctx, b.stripe, b.node, b.stored, b.v.o.MaxBlockBytes)
	if err != nil {
		return false, b.v.found(b.in(err, -1))
	}
	b.r = r.Artifact() // of a member, that of its group
	ok := true
	var buf []byte
	for i := range r.Map.Len() {
		raw, at, err := r.ReadBlock(ctx, i, buf)
		if err != nil {
			return false, b.v.found(b.in(err, -1))
		}
		good, err := b.block(ctx, i, raw, at)
		if err != nil {
			return false, err
		}
		buf, ok = raw, ok && good
	}
	return ok, nil
}

// limits returns the limits for readers.
func (v *verifier) limits() read.Options {
	return read.Options{MaxBlockBytes: v.o.MaxBlockBytes, MaxDictionaryBytes: v.o.MaxDictionaryBytes}
}

// block checks the bytes of a block.
func (b *bufferCheck) block(ctx context.Context, ordinal int, raw []byte, offset int64) (bool, error) {
	b.v.Count("block", 1)
	_, err := encoding.ParseBlock(raw, b.stored.BlockChecksums)
	if n := len(raw) - 4; err == nil && !b.stored.BlockChecksums && n >= 0 && container.Checksum(raw[:n]) == binary.LittleEndian.Uint32(raw[n:]) {
		err = fault.Corruptf("block has a checksum, but the descriptor says that blocks have none")
	}
	if err == nil {
		return true, nil
	}
	damage := b.in(fault.InBlock(err, ordinal, offset), -1)
	if errors.Is(err, fault.ErrChecksum) {
		if at, bit, ok := b.v.flips.Checked(ctx, raw); ok {
			damage = &FlippedBit{b.r.Name(), offset + int64(at), bit, damage}
		}
	}
	return false, b.v.problem(damage)
}

// shared checks a dictionary that blocks share.
func (b *bufferCheck) shared(ctx context.Context) (bool, error) {
	d, err := valuedict.OpenShared(ctx, b.stripe, b.node, b.stored, nil)
	if err == nil {
		b.v.Count("dictionary", 1)
		_, err = d.Load(ctx)
	}
	return err == nil, b.v.found(b.in(err, b.start))
}

// dictionary checks a value dictionary, and the order of its ids.
func (b *bufferCheck) dictionary(ctx context.Context, field *shardpb.FieldDescriptor) (bool, error) {
	stored, err := valuedict.Open(ctx, b.stripe, b.node, b.stored, field.GetPositionCount(), b.v.limits().MaxDictionaryBytes)
	if err != nil {
		return false, b.v.found(b.in(err, -1))
	}
	raw, d, err := stored.Read(ctx, nil)
	if raw == nil {
		return false, b.v.found(b.in(err, -1))
	}
	b.v.Count("dictionary", 1)
	if err == nil && field.DictionarySize != nil && *field.DictionarySize != uint64(d.Len()) {
		err = fault.Corruptf("dictionary has %d entries, the descriptor has %d", d.Len(), *field.DictionarySize)
	}
	if err == nil {
		_, err = d.SortedIDs()
	}
	if err == nil {
		return true, nil
	}
	damage := b.in(err, b.start)
	if errors.Is(err, fault.ErrChecksum) {
		if i, bit, ok := b.v.flips.Dictionary(ctx, raw); ok {
			damage = &FlippedBit{b.r.Name(), b.start + int64(i), bit, damage}
		}
	}
	return false, b.v.problem(damage)
}
