package stripe

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
)

func (n *openNode) openBoolean(ctx context.Context) (nodeReader, error) {
	if n.field.GetPositionCount() == 0 {
		return newNullReader(n.col.Plain), nil
	}
	presence, err := n.presence(ctx)
	if err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	switch n.col.Rule {
	case arrowmap.Empty:
		return &emptyReader{dt: n.col.Plain, presence: presence}, nil
	case arrowmap.Same:
		return &booleanReader{dt: n.col.Plain, data: data, presence: presence}, nil
	case arrowmap.Null:
		return nil, fault.Corruptf("a column of type null holds values")
	}
	return nil, errRule(n.col)
}

func (n *openNode) openPrimitive(ctx context.Context) (nodeReader, error) {
	signed := n.col.Stored.Signed
	switch n.col.Stored.Type {
	case schema.Int8:
		if signed {
			return openNumbers[int8](ctx, n)
		}
		return openNumbers[uint8](ctx, n)
	case schema.Int16:
		if signed {
			return openNumbers[int16](ctx, n)
		}
		return openNumbers[uint16](ctx, n)
	case schema.Int32:
		if signed {
			return openNumbers[int32](ctx, n)
		}
		return openNumbers[uint32](ctx, n)
	case schema.Int64:
		if signed {
			return openNumbers[int64](ctx, n)
		}
		return openNumbers[uint64](ctx, n)
	case schema.Float32:
		return openNumbers[float32](ctx, n)
	case schema.Float64:
		return openNumbers[float64](ctx, n)
	}
	return openNumbers[uint64](ctx, n) // DateTime
}

func openNumbers[T numeric.Value](ctx context.Context, n *openNode) (nodeReader, error) {
	store, err := storerOf[T](n.col)
	if err != nil {
		return nil, err
	}
	if n.field.DictionarySize != nil {
		return nil, fault.Unsupportedf("value dictionary of numbers")
	}
	if err := n.only(shardpb.BufferKind_DATA); err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	return &primitiveReader[T]{dt: n.col.Plain, data: data, nulls: n.nullable(), store: store, stored: storedOf[T](n.col.Rule, n.col.Unit)}, nil
}

func (n *openNode) openBytes(ctx context.Context) (nodeReader, error) {
	if n.col.Rule != arrowmap.Same && n.col.Rule != arrowmap.Text {
		return nil, errRule(n.col)
	}
	if n.col.Stored.FixedSize > math.MaxInt32 {
		return nil, fault.Limitf("values of %d bytes", n.col.Stored.FixedSize)
	}
	switch n.col.Plain.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return openByteStrings[int64](ctx, n, n.col.Plain)
	}
	return openByteStrings[int32](ctx, n, n.col.Plain)
}

// openByteStrings opens the plain form or the one with a value dictionary,
// which the descriptor's dictionary size tells apart.
func openByteStrings[O int32 | int64](ctx context.Context, n *openNode, dt arrow.DataType) (nodeReader, error) {
	if err := n.only(shardpb.BufferKind_DATA, shardpb.BufferKind_VALUE_DICTIONARY); err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	r := bytesReader[O]{
		dt: dt, data: data, fixed: int(n.col.Stored.FixedSize), nulls: n.nullable(),
		text: isText(n.col.Plain), mean: n.meanLength(data),
	}
	if n.field.DictionarySize == nil {
		return &r, nil
	}
	dict, err := n.dictionary(ctx)
	if err != nil {
		return nil, err
	}
	return &codesReader[O]{bytesReader: &r, dict: dict}, nil
}

// meanLength is the expected length of a value, to size buffers by. What the
// descriptor says is taken for true as far as the encoded bytes make it likely.
func (n *openNode) meanLength(data *blockReader) int {
	if n.col.Stored.FixedSize > 0 {
		return int(n.col.Stored.FixedSize)
	}
	count := n.field.GetPositionCount()
	if count == 0 {
		return 0
	}
	const most = 64 // times the encoded size
	encoded := uint64(data.blocks.DataSize())/count + 1
	return int(min(n.field.GetRawDataSize()/count+1, most*encoded, 1<<20))
}

func (n *openNode) openList(ctx context.Context) (nodeReader, error) {
	presence, err := n.presence(ctx)
	if err != nil {
		return nil, err
	}
	offsets, err := n.blocks(ctx, shardpb.BufferKind_OFFSETS)
	if err != nil {
		return nil, err
	}
	r := &listReader{dt: n.col.Plain, offsets: offsets, presence: presence}
	if r.children, err = n.openChildren(ctx, unknownCount); err != nil {
		return nil, err
	}
	if r.stored, err = n.positions(ctx, n.col.Children[0].ID); err != nil {
		return nil, err
	}
	return r, nil
}

func (n *openNode) openStruct(ctx context.Context) (nodeReader, error) {
	presence, err := n.presence(ctx)
	if err != nil {
		return nil, err
	}
	count, size := n.field.GetPositionCount(), uint64(1)
	if n.col.Stored.Type == schema.FixedSizeList {
		if size = uint64(n.col.Stored.FixedSize); size > math.MaxInt32 {
			return nil, fault.Limitf("lists of %d items", size)
		}
		r := &fixedListReader{dt: n.col.Plain, presence: presence, size: int64(size)}
		children, err := n.openChildren(ctx, unknownCount)
		if err != nil {
			return nil, err
		}
		r.items = children[0]
		r.stored, err = n.positions(ctx, n.col.Children[0].ID)
		r.stored = max(r.stored, 0)
		return r, err
	}
	children, err := n.openChildren(ctx, int64(count))
	if err != nil {
		return nil, err
	}
	r := &structReader{dt: n.col.Plain, presence: presence, children: children}
	switch n.col.Rule {
	case arrowmap.Same:
		return r, nil
	case arrowmap.DayTime, arrowmap.MonthDayNano:
		return &intervalReader{parts: r, dt: n.col.Plain}, nil
	}
	return nil, errRule(n.col)
}

// positions is how many slots the stripe holds of a node, unknownCount if it
// lacks the node.
func (n *openNode) positions(ctx context.Context, id uint32) (int64, error) {
	d, err := n.src.Descriptor(ctx, id)
	if err != nil || d == nil {
		return unknownCount, err
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

// emptyReader reads a type without content: nothing but nulls.
type emptyReader struct {
	dt       arrow.DataType
	presence *presenceReader
}

func (r *emptyReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.presence.need(w, rows, add)
}

func (r *emptyReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	valid, nulls, err := r.presence.read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return emptyArray(r.dt, int(rows.Len()), valid, nulls), nil
}
