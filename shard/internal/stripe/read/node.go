package read

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/nested"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

type nodeReader = nested.Node

// opener makes the readers of one column.
type opener struct {
	src     stripe.Source
	options Options
	size    *atomic.Int64 // estimated memory of the readers, which grows by the dictionaries that they read
	blocks  int64
}

// readerSize is the approximate memory of the reader of a node, possibly with a decoded block.
const readerSize = 64 << 10

// open returns the reader of a node. count is the required number of positions of the node, or nested.Unknown.
func (op *opener) open(ctx context.Context, col *arrowmap.Column, count int64) (nodeReader, error) {
	d, err := op.src.Descriptor(ctx, col.ID)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return work.Nulls(col.Arrow.Type), nil
	}
	if d.GetField() == nil {
		return nil, wrapColumn(fault.Corruptf("stripe descriptor without a field descriptor"), col)
	}
	r, err := op.openNode(ctx, col, d, count)
	if err != nil {
		return nil, wrapColumn(err, col)
	}
	return &namedReader{r, col}, nil
}

// namedReader adds the node to errors.
type namedReader struct {
	nodeReader
	col *arrowmap.Column
}

func (r *namedReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	arr, err := r.nodeReader.Read(ctx, w, rows)
	if err != nil {
		return nil, wrapColumn(err, r.col)
	}
	return arr, nil
}

func wrapColumn(err error, col *arrowmap.Column) error {
	return fault.InColumn(err, schema.Escape(cmp.Or(col.Arrow.Name, col.Stored.Name, fmt.Sprintf("(schema id %d)", col.ID))))
}

func (op *opener) openNode(ctx context.Context, col *arrowmap.Column, d *shardpb.StripeFieldDescriptor, count int64) (nodeReader, error) {
	op.size.Add(readerSize)
	n := &openNode{opener: op, col: col, field: d.GetField()}
	if got := n.field.GetPositionCount(); count != nested.Unknown && got != uint64(count) {
		return nil, fault.Corruptf("descriptor counts %d positions, expected %d", got, count)
	}
	if nulls := n.field.NullCount; nulls != nil && *nulls > n.field.GetPositionCount() {
		return nil, fault.Corruptf("descriptor counts %d nulls among %d positions", *nulls, n.field.GetPositionCount())
	}
	natives := stripe.NativeEncodings(d)
	switch {
	case len(natives) > 1:
		return n.openAlternatives(ctx, natives)
	case len(natives) == 1:
		return n.openNative(ctx, natives[0])
	case len(d.GetEncodings()) > 0:
		return nil, fault.Unsupportedf("column data outside of the shard")
	}
	return n.openNative(ctx, nil)
}

func (n *openNode) openNative(ctx context.Context, native *shardpb.NativeDataEncoding) (nodeReader, error) {
	if native.GetPackedGroup() && n.col.Stored.Type != schema.Struct {
		return nil, fault.Unsupportedf("a packed group as the data of a %v column", n.col.Stored.Type)
	}
	n.buffers = native.GetBuffers()
	if r, err := n.constant(); r != nil || err != nil {
		return r, err
	}
	return n.open(ctx)
}

// openNode is a node whose reader is being made from its descriptor.
type openNode struct {
	*opener
	col     *arrowmap.Column
	field   *shardpb.FieldDescriptor
	buffers []*shardpb.EncodedBuffer
}

// only refuses buffers other than those of some kinds and indexes, because the meaning of the values may depend on them.
func (n *openNode) only(kinds ...shardpb.BufferKind) error {
	for _, b := range n.buffers {
		if k := b.GetKind(); k != shardpb.BufferKind_RANGE_INDEX && !slices.Contains(kinds, k) {
			return fault.Unsupportedf("%s buffer of a %v column", k, n.col.Stored.Type)
		}
	}
	return nil
}

// data opens the DATA buffer, and refuses others than that and those of kinds.
func (n *openNode) data(ctx context.Context, kinds ...shardpb.BufferKind) (*blocks.Reader, error) {
	if err := n.only(append(kinds, shardpb.BufferKind_DATA)...); err != nil {
		return nil, err
	}
	return n.blocks(ctx, shardpb.BufferKind_DATA)
}

// nullable reports whether the node may hold nulls.
func (n *openNode) nullable() bool {
	return n.field.NullCount == nil || n.field.GetNullCount() > 0
}

// node is the node for the readers of buffers.
func (n *openNode) node() blocks.Node {
	return blocks.Node{ID: n.col.ID, Parent: n.col.Parent, Type: n.col.Stored.Type, Signed: n.col.Stored.Signed, FixedSize: n.col.Stored.FixedSize, OffsetsApart: n.offsetsApart()}
}

func (n *openNode) offsetsApart() bool {
	return stripe.OffsetsApart(n.col.Stored.Type, n.buffers)
}

// blocks opens the buffer of a kind.
func (n *openNode) blocks(ctx context.Context, kind shardpb.BufferKind) (*blocks.Reader, error) {
	b := stripe.FindBuffer(n.buffers, kind)
	if b == nil {
		return nil, fault.Corruptf("no %s buffer", kind)
	}
	br, err := blocks.OpenField(ctx, n.src, n.node(), n.field, b, n.options.MaxBlockBytes, n.options.Prefetched)
	if err != nil {
		return nil, err
	}
	n.size.Add(br.MapSize())
	n.opener.blocks += int64(br.Map.Len())
	if want := stripe.BufferValues(n.col.Stored.Type, kind, n.field, n.offsetsApart()); br.Map.Values() != want && want != stripe.AnyValues {
		return nil, br.Wrap(fault.Corruptf("block map holds %d values, expected %d", br.Map.Values(), want))
	}
	return br, nil
}

// presence opens the PRESENCE buffer. It returns nil if there are no nulls.
func (n *openNode) presence(ctx context.Context) (*work.Bits, error) {
	if stripe.FindBuffer(n.buffers, shardpb.BufferKind_PRESENCE) == nil {
		return nil, nil
	}
	br, err := n.blocks(ctx, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return nil, err
	}
	return &work.Bits{Data: br}, nil
}

// open returns the reader of a node that is neither constant nor absent.
func (n *openNode) open(ctx context.Context) (nodeReader, error) {
	if open, ok := openers.Of(n.col.Stored.Type, n.col.Stored.Signed); ok {
		return open(ctx, n)
	}
	switch n.col.Stored.Type {
	case schema.Boolean:
		return n.openBoolean(ctx)
	case schema.String, schema.Binary, schema.Guid, schema.FixedSizeBinary:
		open := n.openBytes
		if n.col.Stored.IsDecimal() {
			open = n.openDecimal
		}
		r, err := open(ctx)
		if err != nil || stripe.FindBuffer(n.buffers, shardpb.BufferKind_PRESENCE) == nil {
			return r, err
		}
		return n.present(ctx, r)
	case schema.List, schema.Map:
		return n.openList(ctx)
	case schema.Struct, schema.FixedSizeList:
		return n.openStruct(ctx)
	case schema.Union:
		return n.openUnion(ctx)
	case schema.Unit:
		return work.Nulls(n.col.Plain), nil
	}
	return nil, fault.Unsupportedf("stored type %v", n.col.Stored.Type)
}

// positions is the number of positions of a node in the stripe, or nested.Unknown if the stripe lacks the node.
func (n *openNode) positions(ctx context.Context, id uint32) (int64, error) {
	d, err := n.src.Descriptor(ctx, id)
	if err != nil || d == nil {
		return nested.Unknown, err
	}
	return int64(min(d.GetField().GetPositionCount(), math.MaxInt64)), nil
}

func (n *openNode) openChildren(ctx context.Context, count int64) ([]nodeReader, error) {
	out := make([]nodeReader, len(n.col.Children))
	for i := range out {
		var err error
		if out[i], err = n.opener.open(ctx, &n.col.Children[i], count); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkNulls refuses nulls in a column that has none.
func checkNulls(nulls int, nullable bool) error {
	if nulls > 0 && !nullable {
		return fault.Corruptf("%d nulls in a column whose descriptor counts none", nulls)
	}
	return nil
}

// constant gives the reader of a node whose values are all equal or all null
// (docs/format.md §10.2), nil if the node is not constant.
func (n *openNode) constant() (nodeReader, error) {
	switch n.col.Stored.Type {
	case schema.List, schema.Map, schema.Struct, schema.FixedSizeList, schema.Union:
		return nil, nil
	}
	f := n.field
	if f.DictionarySize != nil {
		return nil, nil
	}
	allNull := f.NullCount != nil && f.GetNullCount() == f.GetPositionCount()
	if _, isNull := f.GetConstantValue().GetKind().(*commonpb.AnyValue_NullValue); isNull || f.ConstantValue == nil {
		if isNull && f.NullCount != nil && !allNull {
			return nil, fault.Corruptf("constant null, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
		}
		if isNull || allNull {
			return work.Nulls(n.col.Plain), nil
		}
		return nil, nil
	}
	if f.GetNullCount() > 0 {
		return nil, fault.Corruptf("constant value, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
	}
	one, err := rules.Constant(n.col, f.GetConstantValue())
	if err != nil {
		return nil, err
	}
	return work.Constant(one), nil
}

// ValueOf is an array of one value out of statistics, of the column's physical type
// (see [stripe.Physical]): the bound of a range, or a constant.
func ValueOf(col arrowmap.Column, v *commonpb.AnyValue) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	physical, _ := stripe.Physical(col)
	return rules.Constant(&physical, v)
}
