package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
)

// buffer is an encoded buffer of a column.
type buffer struct {
	kind      string
	bytes     int64
	mapBytes  int64
	stored    *shardpb.EncodedBuffer
	encodings []share
	file      string  // its name, if the shard has several
	list      []block // from level 3 of detail
	err       string  // why the blocks cannot be read
}

// share is the part of a buffer, or of a column, that uses one encoding.
type share struct {
	encoding string
	blocks   int
	values   int64
	bytes    int64
}

// addShare adds up the parts of each encoding. The largest is the first.
func addShare(list []share, x share) []share {
	i := slices.IndexFunc(list, func(s share) bool { return s.encoding == x.encoding })
	if i < 0 {
		i = len(list)
		list = append(list, share{encoding: x.encoding})
	}
	s := &list[i]
	s.blocks, s.values, s.bytes = s.blocks+x.blocks, s.values+x.values, s.bytes+x.bytes
	return list
}

func sortShares(list []share) {
	slices.SortStableFunc(list, func(a, b share) int { return cmp.Compare(b.bytes, a.bytes) })
}

// block is a block of a buffer.
type block struct {
	index    int
	first    uint64
	values   int
	offset   int64 // in the file
	bytes    int
	presence int
	tree     string
	err      string
}

// blockFacts are the names of the facts of a block, which cells has.
var blockFacts = []string{"first", "values", "offset", "bytes", "presence", "tree", "error"}

func (b *block) cells() []any {
	return []any{b.first, b.values, b.offset, b.bytes, b.presence, b.tree, b.err}
}

// bufferFacts are the names of the facts of a buffer, which cells has.
var bufferFacts = []string{"offset", "bytes", "map bytes", "blocks", "checksums", "file", "error"}

func (b *buffer) cells() []any {
	x := b.stored
	return []any{int64(x.GetBuffer().GetRange().GetStart()), b.bytes, b.mapBytes, x.GetBlockCount(), x.GetBlockChecksums(), b.file, b.err}
}

// buffer describes a buffer at the level of detail of the options. Damage inside it is part of the description,
// not an error.
func (in *inspector) buffer(ctx context.Context, c *column, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) (buffer, error) {
	r, m := b.GetBuffer().GetRange(), b.GetBlockMap().GetRange()
	info := buffer{kind: b.GetKind().String(), stored: b, bytes: int64(r.GetEnd() - r.GetStart())}
	if in.names != nil {
		url, err := c.stripe.URL(ctx, c.node.ID(), b.GetBuffer())
		if err != nil {
			return info, err
		}
		info.file = cmp.Or(in.names[url], url)
	}
	info.mapBytes = int64(m.GetEnd()-m.GetStart()) + int64(len(b.GetInlineBlockMap()))
	if stripe.IsGroup(e, b) {
		info.kind = "packed group"
		return info, nil // its members have the blocks
	}
	if stripe.IsMember(b) {
		info.kind = fmt.Sprintf("%s, member %d of a packed group", info.kind, b.GetPackedGroupIndex())
	}
	if number := slices.Index(stripe.NativeEncodings(c.stored), e); number > 0 {
		info.kind = fmt.Sprintf("%s, encoding %d", info.kind, number+1)
	}
	if in.o.Detail < 2 && !in.o.Stats || !stripe.HasBlocks(b) {
		return info, nil
	}
	v, err := blocksOf(ctx, c, e, b)
	if err == nil {
		err = v.visit(ctx, 0, v.Map.Len(), func(bi block, _ []byte, _ encoding.Block, tree *encoding.Tree) error {
			root := "damaged"
			if tree != nil {
				root = tree.Code.String()
			}
			info.encodings = addShare(info.encodings, share{root, 1, int64(bi.values), int64(bi.bytes)})
			if in.o.Detail > 2 {
				info.list = append(info.list, bi)
			}
			return nil
		})
	}
	if ctx.Err() != nil {
		return info, ctx.Err()
	}
	if err != nil {
		info.err = text.OneLine(err.Error())
	}
	sortShares(info.encodings)
	return info, nil
}

// blockKind is the content of the blocks of a buffer: numbers of a type, or byte strings.
type blockKind struct {
	numbers bool
	typ     numeric.Type
	fixed   int
}

// kindOf returns the content of the blocks of a buffer (docs/format.md §5.1).
func kindOf(n schema.Node, e *shardpb.NativeDataEncoding, kind shardpb.BufferKind) blockKind {
	switch kind {
	case shardpb.BufferKind_PRESENCE:
		return blockKind{numbers: true, typ: numeric.U8} // bits
	case shardpb.BufferKind_OFFSETS:
		return blockKind{numbers: true, typ: numeric.U64}
	}
	if stripe.FindBuffer(e.GetBuffers(), shardpb.BufferKind_VALUE_DICTIONARY) != nil {
		return blockKind{numbers: true, typ: numeric.U32} // codes
	}
	if t, ok := stripe.NumberType(n.Type(), n.Signed()); ok {
		return blockKind{numbers: true, typ: t}
	}
	switch n.Type() {
	case schema.Boolean, schema.Union:
		return blockKind{numbers: true, typ: numeric.U8} // bits, or alternatives
	case schema.String, schema.Binary:
		if stripe.OffsetsApart(n.Type(), e.GetBuffers()) {
			return blockKind{numbers: true, typ: numeric.U8} // bytes
		}
	case schema.FixedSizeBinary, schema.Guid:
		return blockKind{fixed: int(n.FixedSize())}
	}
	return blockKind{}
}

// describeTree describes the values section of a block of n values.
func (k blockKind) describe(tree []byte, n int) encoding.Tree {
	if k.numbers {
		return numeric.Describe(tree, k.typ, n)
	}
	return bytestring.Describe(tree, n, k.fixed)
}

func nodeOf(n schema.Node, e *shardpb.NativeDataEncoding) blocks.Node {
	return blocks.Node{ID: n.ID(), Parent: n.ParentID(), Type: n.Type(), Signed: n.Signed(), FixedSize: n.FixedSize(), OffsetsApart: stripe.OffsetsApart(n.Type(), e.GetBuffers())}
}

// blockVisitor reads the blocks of a buffer in order.
type blockVisitor struct {
	*blocks.Reader
	checksums bool
	kind      blockKind
	buf       []byte
}

// blocksOf opens the blocks of a buffer of a column.
func blocksOf(ctx context.Context, c *column, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) (*blockVisitor, error) {
	r, err := blocks.Open(ctx, c.stripe, nodeOf(c.node, e), b, 0)
	return &blockVisitor{Reader: r, checksums: b.GetBlockChecksums(), kind: kindOf(c.node, e, b.GetKind())}, err
}

// visit calls back for each block from one to another, with its bytes, parts and description. The description is nil if the block is
// damaged.
func (v *blockVisitor) visit(ctx context.Context, from, to int, each func(bi block, raw []byte, blk encoding.Block, tree *encoding.Tree) error) error {
	for i := from; i < min(to, v.Map.Len()); i++ {
		raw, at, err := v.ReadBlock(ctx, i, v.buf)
		if err != nil {
			return err
		}
		v.buf = raw
		first, count, _, _ := v.Map.Block(i)
		bi := block{index: i, first: first, values: count, offset: at, bytes: len(raw)}
		blk, tree := v.parse(raw, &bi)
		if err := each(bi, raw, blk, tree); err != nil {
			return err
		}
	}
	return nil
}

// parse describes a block in bi.
func (v *blockVisitor) parse(raw []byte, bi *block) (encoding.Block, *encoding.Tree) {
	blk, err := encoding.ParseBlock(raw, v.checksums)
	if err != nil {
		bi.err, bi.tree = err.Error(), "?"
		return blk, nil
	}
	bi.presence = len(blk.Presence)
	tree := v.kind.describe(blk.Values, bi.values)
	bi.tree = tree.String()
	if err := tree.FirstErr(); err != nil {
		bi.err = err.Error()
	}
	return blk, &tree
}
