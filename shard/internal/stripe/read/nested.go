package read

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
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
	numbers := *n // which are never null, unlike the union
	numbers.col = &arrowmap.Column{Plain: arrow.PrimitiveTypes.Uint8, ID: n.col.ID, Stored: schema.Field{Type: schema.Int8}}
	numbers.field = &shardpb.FieldDescriptor{PositionCount: n.field.GetPositionCount(), NullCount: new(uint64)}
	chosen, err := openNumbers[uint8](ctx, &numbers)
	if err != nil {
		return nil, err
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
