package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/blockmap"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
)

// columnCheck checks one column of a stripe.
type columnCheck struct {
	v       *verifier
	stripe  *shardfile.Stripe
	element string
}

// at is the element of a node, or of something in it.
func (c *columnCheck) at(path string, more ...string) string {
	return strings.Join(append([]string{c.element, "column " + path}, more...), "/")
}

// buffers checks the descriptors and buffers of a node and those below it. ok says
// that their values can be looked at.
func (c *columnCheck) buffers(ctx context.Context, col *arrowmap.Column, path string) (ok bool, err error) {
	d, err := c.stripe.Descriptor(ctx, col.ID)
	if err != nil {
		return false, c.v.found(err)
	}
	ok = true
	if d == nil {
		c.v.note(fault.In(errors.New("no descriptor: all values are null, and the reference cannot read the column"), c.at(path), -1))
	} else if native := stripe.NativeEncoding(d); native == nil && len(d.Encodings) > 0 {
		c.v.unchecked(fault.In(errors.New("the values are in another format"), c.at(path), -1))
		return false, nil
	} else {
		for _, b := range native.GetBuffers() {
			good, err := c.buffer(ctx, col, path, b, d.Field)
			if err != nil {
				return false, err
			}
			ok = ok && good
		}
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

func childName(col *arrowmap.Column, i int) string {
	switch col.Stored.Type {
	case schema.List, schema.FixedSizeList:
		return "item"
	case schema.Map:
		return [...]string{"key", "value"}[i&1]
	}
	return col.Children[i].Stored.Name
}

// buffer checks one buffer as bytes.
func (c *columnCheck) buffer(ctx context.Context, col *arrowmap.Column, path string, b *shardpb.EncodedBuffer, field *shardpb.FieldDescriptor) (ok bool, err error) {
	element := c.at(path, b.Kind.String())
	c.v.count(func(r *Report) { r.Buffers++ })
	start := int64(b.GetBuffer().GetRange().GetStart())
	r, err := c.stripe.Artifact(ctx, col.ID, b.Buffer)
	if err != nil {
		return false, c.v.found(fault.In(err, element, -1))
	}
	if start%container.Alignment != 0 && !c.v.ours {
		c.v.note(fault.Of(fault.In(fmt.Errorf("buffer does not start at a multiple of %d: the reference cannot read it", container.Alignment), element, start), r.Name()))
	}
	if c.v.o.MetadataOnly {
		return true, nil
	}
	switch {
	case stripe.IsSingleBlock(b):
		return c.singleBlock(ctx, element, r, b, start)
	case stripe.HasBlocks(b):
		return c.blocks(ctx, element, r, b, start)
	case b.Kind == shardpb.BufferKind_VALUE_DICTIONARY:
		return c.dictionary(ctx, col, element, r, b.Buffer, field)
	case b.Kind == shardpb.BufferKind_RANGE_INDEX:
		return true, nil // with the values
	}
	c.v.unchecked(fault.In(fmt.Errorf("a buffer of kind %v without block map", b.Kind), element, -1))
	return true, nil
}

// blocks checks block map and checksums.
func (c *columnCheck) blocks(ctx context.Context, element string, r storage.Reader, b *shardpb.EncodedBuffer, start int64) (bool, error) {
	raw, mapStart := b.InlineBlockMap, int64(b.Buffer.GetRange().GetEnd())
	if b.BlockMap != nil {
		var err error
		mapStart = int64(b.BlockMap.GetRange().GetStart())
		if raw, err = readRange(ctx, r, b.BlockMap); err != nil {
			return false, c.v.found(fault.In(err, element+"/block map", -1))
		}
	}
	blocks, err := blockmap.Parse(raw, mapStart-start)
	if err == nil && b.BlockCount != nil && *b.BlockCount != uint64(blocks.Len()) {
		err = fault.Corruptf("block map has %d blocks, the descriptor says %d", blocks.Len(), *b.BlockCount)
	}
	if err != nil {
		return false, c.v.found(fault.Of(fault.In(err, element+"/block map", mapStart), r.Name()))
	}
	ok := true
	var entries []blockmap.Entry
	var buf []byte
	for i := 0; i < blocks.Len(); i += len(entries) {
		entries = blocks.Append(entries[:0], i, min(i+256, blocks.Len()))
		for k, e := range entries {
			if buf = resize(buf, e.Size); r.ReadAt(ctx, buf, start+e.Offset) != nil {
				return false, c.v.found(r.ReadAt(ctx, buf, start+e.Offset))
			}
			c.v.count(func(r *Report) { r.Blocks++ })
			good, err := c.block(ctx, fmt.Sprintf("%s/block %d", element, i+k), r.Name(), buf, start+e.Offset, b.BlockChecksums)
			if err != nil {
				return false, err
			}
			ok = ok && good
		}
	}
	return ok, nil
}

// singleBlock checks a buffer without block map.
func (c *columnCheck) singleBlock(ctx context.Context, element string, r storage.Reader, b *shardpb.EncodedBuffer, start int64) (bool, error) {
	raw, err := readRange(ctx, r, b.Buffer)
	if err != nil {
		return false, c.v.found(fault.In(err, element, -1))
	}
	c.v.count(func(r *Report) { r.Blocks++ })
	return c.block(ctx, element+"/block 0", r.Name(), raw, start, b.BlockChecksums)
}

// readRange reads what ref refers to in r, of which the file may have less.
func readRange(ctx context.Context, r storage.Reader, ref *commonpb.DataRef) ([]byte, error) {
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	start, n, err := container.Range(ref.GetRange().GetStart(), ref.GetRange().GetEnd(), size)
	if err != nil {
		return nil, fault.Of(err, r.Name())
	}
	b := make([]byte, n)
	return b, r.ReadAt(ctx, b, start)
}

func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func (c *columnCheck) block(ctx context.Context, element, artifact string, b []byte, offset int64, checksum bool) (bool, error) {
	_, err := block.Parse(b, checksum)
	if err == nil {
		return true, nil
	}
	f := Finding{Err: fault.Of(fault.In(err, element, offset), artifact)}
	if errors.Is(err, ErrChecksum) {
		if at, bit, ok := c.v.flips.checked(ctx, b); ok {
			f.Bit = &FlippedBit{artifact, offset + int64(at), bit}
		}
	}
	return false, c.v.problem(f)
}

// dictionary checks a value dictionary with the order of its ids.
func (c *columnCheck) dictionary(ctx context.Context, col *arrowmap.Column, element string, r storage.Reader, ref *commonpb.DataRef, field *shardpb.FieldDescriptor) (bool, error) {
	raw, err := readRange(ctx, r, ref)
	if err != nil {
		return false, c.v.found(fault.In(err, element, -1))
	}
	start := int64(ref.GetRange().GetStart())
	c.v.count(func(r *Report) { r.Dictionaries++ })
	d, err := dictionary.Parse(raw, byte(col.Stored.Type), col.Stored.FixedSize)
	if err == nil && field.DictionarySize != nil && *field.DictionarySize != uint64(d.Len()) {
		err = fault.Corruptf("dictionary has %d entries, the descriptor says %d", d.Len(), *field.DictionarySize)
	}
	if err == nil {
		_, err = d.SortedIDs()
	}
	if err == nil {
		return true, nil
	}
	f := Finding{Err: fault.Of(fault.In(err, element, start), r.Name())}
	if errors.Is(err, ErrChecksum) {
		if i, bit, ok := c.v.flips.dictionary(ctx, raw); ok {
			f.Bit = &FlippedBit{r.Name(), start + int64(i), bit}
		}
	}
	return false, c.v.problem(f)
}
