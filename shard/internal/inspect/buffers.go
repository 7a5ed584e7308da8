package inspect

import (
	"context"
	"sort"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
)

// Buffer describes an encoded buffer.
type Buffer struct {
	Kind      string  `json:"kind"`
	File      string  `json:"file"`
	Start     int64   `json:"start"`
	Bytes     int64   `json:"bytes"`
	MapBytes  int64   `json:"block_map_bytes,omitempty"`
	Blocks    uint64  `json:"blocks,omitempty"`
	Checksums bool    `json:"checksums"`
	Presence  bool    `json:"embedded_presence"`
	Encodings []Share `json:"encodings,omitempty"`
	List      []Block `json:"block_list,omitempty"` // from level 3 of detail
	Error     string  `json:"error,omitempty"`
}

// Share is the part of a buffer, or of a column, that uses one encoding.
type Share struct {
	Encoding string `json:"encoding"`
	Blocks   int    `json:"blocks"`
	Values   int64  `json:"values"`
	Bytes    int64  `json:"bytes"`
}

// Block describes a block of a buffer.
type Block struct {
	Index    int    `json:"index"`
	First    uint64 `json:"first"`
	Values   int    `json:"values"`
	Offset   int64  `json:"offset"` // in the file
	Bytes    int    `json:"bytes"`
	Presence int    `json:"presence_bytes,omitempty"`
	Tree     string `json:"tree"`
	Error    string `json:"error,omitempty"`
}

// buffer describes a buffer at the level of detail of the options. Damage inside it is part of the description,
// not an error.
func (in *inspector) buffer(ctx context.Context, st *shardfile.Stripe, n schema.Node, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) (Buffer, error) {
	r := b.GetBuffer().GetRange()
	info := Buffer{
		Kind: b.GetKind().String(), File: b.GetBuffer().GetUrl(), Start: int64(r.GetStart()), Bytes: int64(r.GetEnd() - r.GetStart()),
		Blocks: b.GetBlockCount(), Checksums: b.GetBlockChecksums(), Presence: b.GetEmbeddedPresence(),
	}
	m := b.GetBlockMap().GetRange()
	info.MapBytes = int64(m.GetEnd()-m.GetStart()) + int64(len(b.GetInlineBlockMap()))
	if in.flags.Detail < 2 || !stripe.HasBlocks(b) {
		return info, nil
	}
	v := blockVisitor{checksums: info.Checksums, kind: kindOf(n, e, b.GetKind())}
	err := v.visit(ctx, st, n, b, 0, -1, func(bi Block, _ []byte, _ encoding.Block, tree *encoding.Tree) error {
		root := "damaged"
		if tree != nil {
			root = tree.Code.String()
		}
		info.count(root, bi)
		if in.flags.Detail > 2 {
			info.List = append(info.List, bi)
		}
		return nil
	})
	if ctx.Err() != nil {
		return info, ctx.Err()
	}
	if err != nil {
		info.Error = text.OneLine(err.Error())
	}
	sort.SliceStable(info.Encodings, func(i, j int) bool { return info.Encodings[i].Bytes > info.Encodings[j].Bytes })
	return info, nil
}

func (b *Buffer) count(root string, bi Block) {
	for i := range b.Encodings {
		if b.Encodings[i].Encoding == root {
			b.Encodings[i].Blocks++
			b.Encodings[i].Values += int64(bi.Values)
			b.Encodings[i].Bytes += int64(bi.Bytes)
			return
		}
	}
	b.Encodings = append(b.Encodings, Share{root, 1, int64(bi.Values), int64(bi.Bytes)})
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
	for _, b := range e.GetBuffers() {
		if b.GetKind() == shardpb.BufferKind_VALUE_DICTIONARY {
			return blockKind{numbers: true, typ: numeric.U32} // codes
		}
	}
	switch n.Type() {
	case schema.Boolean:
		return blockKind{numbers: true, typ: numeric.U8} // bits
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		signed := map[schema.BasicType]numeric.Type{schema.Int8: numeric.I8, schema.Int16: numeric.I16, schema.Int32: numeric.I32, schema.Int64: numeric.I64}
		unsigned := map[schema.BasicType]numeric.Type{schema.Int8: numeric.U8, schema.Int16: numeric.U16, schema.Int32: numeric.U32, schema.Int64: numeric.U64}
		if n.Signed() {
			return blockKind{numbers: true, typ: signed[n.Type()]}
		}
		return blockKind{numbers: true, typ: unsigned[n.Type()]}
	case schema.DateTime:
		return blockKind{numbers: true, typ: numeric.U64}
	case schema.Float32:
		return blockKind{numbers: true, typ: numeric.F32}
	case schema.Float64:
		return blockKind{numbers: true, typ: numeric.F64}
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

func nodeOf(n schema.Node) blocks.Node {
	return blocks.Node{ID: n.ID(), Type: n.Type(), FixedSize: n.FixedSize()}
}

// blockVisitor reads the blocks of a buffer in order.
type blockVisitor struct {
	checksums bool
	kind      blockKind
	buf       []byte
}

// count is the number of blocks of a buffer.
func (v *blockVisitor) count(ctx context.Context, st *shardfile.Stripe, n schema.Node, b *shardpb.EncodedBuffer) (int, error) {
	r, err := blocks.Open(ctx, st, nodeOf(n), b, 0)
	if err != nil {
		return 0, err
	}
	return r.Map.Len(), nil
}

// visit calls back for each block from one to another, or to the last if this is negative, with its bytes, parts and description. The
// description is nil if the block is damaged.
func (v *blockVisitor) visit(ctx context.Context, st *shardfile.Stripe, n schema.Node, b *shardpb.EncodedBuffer, from, to int,
	each func(bi Block, raw []byte, blk encoding.Block, tree *encoding.Tree) error) error {
	r, err := blocks.Open(ctx, st, nodeOf(n), b, 0)
	if err != nil {
		return err
	}
	if to < 0 {
		to = r.Map.Len()
	}
	for i := from; i < min(to, r.Map.Len()); i++ {
		raw, at, err := r.ReadBlock(ctx, i, v.buf)
		if err != nil {
			return err
		}
		v.buf = raw
		first, count, _, size := r.Map.Block(i)
		bi := Block{Index: i, First: first, Values: count, Offset: at, Bytes: size}
		blk, tree := v.block(raw, &bi)
		if err := each(bi, raw, blk, tree); err != nil {
			return err
		}
	}
	return nil
}

// block describes a block in bi.
func (v *blockVisitor) block(raw []byte, bi *Block) (encoding.Block, *encoding.Tree) {
	blk, err := encoding.ParseBlock(raw, v.checksums)
	if err != nil {
		bi.Error, bi.Tree = err.Error(), "?"
		return blk, nil
	}
	bi.Presence = len(blk.Presence)
	tree := v.kind.describe(blk.Values, bi.Values)
	bi.Tree = tree.String()
	if err := tree.FirstErr(); err != nil {
		bi.Error = err.Error()
	}
	return blk, &tree
}
