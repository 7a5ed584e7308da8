package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

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
	alternatives := structReader{dt: n.col.Plain, children: children}
	if _, ok := n.col.Plain.(arrow.UnionType); ok {
		return &unionReader{alternatives, chosen}, nil
	}
	return &alternatives, nil
}

// unionReader reads a union node, whose alternatives have its positions.
type unionReader struct {
	structReader
	chosen nodeReader // the number of the alternative
}

func (r *unionReader) need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.structReader.need(w, rows, add)
	r.chosen.need(w, rows, add)
}

func (r *unionReader) read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	chosen, err := r.chosen.read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer chosen.Release()
	dt := r.dt.(arrow.UnionType)
	codes, all := arrowutil.NewBuffer(w.Limits.Allocator, chosen.Len()), dt.TypeCodes()
	for i, k := range arrowutil.Values[uint8](chosen) {
		if int(k) >= len(all) {
			codes.Release()
			return nil, fault.Corruptf("alternative %d of a union of %d at row %d of those asked for", k, len(all), i)
		}
		codes.Bytes()[i] = byte(all[k])
	}
	children, err := readAll(ctx, w, rows, r.children)
	if err != nil {
		codes.Release()
		return nil, err
	}
	defer arrowutil.ReleaseAll(children)
	return arrowutil.Union(w.Limits.Allocator, dt, codes, children), nil
}
