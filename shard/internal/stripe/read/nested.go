package read

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/nested"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

func (n *openNode) openList(ctx context.Context) (nodeReader, error) {
	presence, err := n.presence(ctx)
	if err != nil {
		return nil, err
	}
	offsets, err := n.blocks(ctx, shardpb.BufferKind_OFFSETS)
	if err != nil {
		return nil, err
	}
	r := &nested.List{Type: n.col.Plain, Offsets: &work.Offsets{Data: offsets}, Presence: presence}
	if r.Children, err = n.openChildren(ctx, nested.Unknown); err != nil {
		return nil, err
	}
	if r.Stored, err = n.positions(ctx, n.col.Children[0].ID); err != nil {
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
		r := &nested.FixedList{Type: n.col.Plain, Presence: presence, Size: int64(size)}
		children, err := n.openChildren(ctx, nested.Unknown)
		if err != nil {
			return nil, err
		}
		r.Items = children[0]
		r.Stored, err = n.positions(ctx, n.col.Children[0].ID)
		r.Stored = max(r.Stored, 0)
		return r, err
	}
	children, err := n.openChildren(ctx, int64(count))
	if err != nil {
		return nil, err
	}
	r := &nested.Struct{Type: n.col.Plain, Presence: presence, Children: children}
	switch n.col.Rule {
	case arrowmap.Same:
		return r, nil
	case arrowmap.DayTime, arrowmap.MonthDayNano:
		return &intervalReader{r}, nil
	}
	return nil, rules.NoConversion(n.col)
}

// openUnion opens a union. As a struct it has some of the alternatives, and which one is chosen does not matter.
func (n *openNode) openUnion(ctx context.Context) (nodeReader, error) {
	if n.field.DictionarySize != nil {
		return nil, fault.Unsupportedf("value dictionary of a union")
	}
	if err := n.only(shardpb.BufferKind_DATA, shardpb.BufferKind_OFFSETS); err != nil {
		return nil, err
	}
	chosen, err := openPlain[uint8](ctx, n, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	if stripe.Addressed(n.col.Stored.Type, n.buffers) {
		return n.openAddressed(ctx, chosen)
	}
	children, err := n.openChildren(ctx, int64(n.field.GetPositionCount()))
	if err != nil {
		return nil, err
	}
	alternatives := nested.Struct{Type: n.col.Plain, Children: children}
	if _, ok := n.col.Plain.(arrow.UnionType); ok {
		return &nested.Union{Alternatives: alternatives, Chosen: chosen}, nil
	}
	return &alternatives, nil
}

func (n *openNode) openAddressed(ctx context.Context, chosen nodeReader) (nodeReader, error) {
	offsets, err := openPlain[uint64](ctx, n, shardpb.BufferKind_OFFSETS)
	if err != nil {
		return nil, err
	}
	children, err := n.openChildren(ctx, nested.Unknown)
	if err != nil {
		return nil, err
	}
	r := &nested.Addressed{Type: n.col.Plain, Chosen: chosen, Offsets: offsets, Data: offsets.data}
	for i := range n.col.Children {
		c := &n.col.Children[i]
		stored, err := n.positions(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		if stored == nested.Unknown {
			stored = math.MaxInt64
		}
		r.Alternatives = append(r.Alternatives, nested.Alternative{Node: children[i], Number: uint8(c.Ordinal), Stored: uint64(stored)})
	}
	return r, nil
}

// openPlain opens a buffer of numbers that are never null.
func openPlain[T numeric.Value](ctx context.Context, n *openNode, kind shardpb.BufferKind) (*primitiveReader[T], error) {
	data, err := n.blocks(ctx, kind)
	return &primitiveReader[T]{dt: arrow.GetDataType[T](), data: data, store: rules.Storer[T]{Width: numeric.Of[T]().Size()}}, err
}

// intervalReader joins the parts again.
type intervalReader struct{ *nested.Struct }

func (r *intervalReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	parts, err := nested.ReadAll(ctx, w, rows, r.Children)
	if err != nil {
		return nil, err
	}
	defer arrowutil.ReleaseAll(parts)
	n := int(rows.Len())
	for _, p := range parts {
		if p.NullN() > 0 {
			return nil, fault.Corruptf("null part of an interval")
		}
	}
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	values := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), n*rules.Width(r.Type))
	if len(parts) == 2 {
		dst, days, ms := arrowutil.As[arrow.DayTimeInterval](values.Bytes()), arrowutil.Values[int32](parts[0]), arrowutil.Values[int32](parts[1])
		for i := range dst {
			dst[i] = arrow.DayTimeInterval{Days: days[i], Milliseconds: ms[i]}
		}
	} else {
		dst, months, days := arrowutil.As[arrow.MonthDayNanoInterval](values.Bytes()), arrowutil.Values[int32](parts[0]), arrowutil.Values[int32](parts[1])
		nanos := arrowutil.Values[int64](parts[2])
		for i := range dst {
			dst[i] = arrow.MonthDayNanoInterval{Months: months[i], Days: days[i], Nanoseconds: nanos[i]}
		}
	}
	return arrowutil.Make(r.Type, n, []*memory.Buffer{valid, values}, nil, nulls), nil
}
