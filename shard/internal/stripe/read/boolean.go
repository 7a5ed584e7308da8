package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

func (n *openNode) openBoolean(ctx context.Context) (nodeReader, error) {
	if n.field.GetPositionCount() == 0 {
		return work.Nulls(n.col.Plain), nil
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
		return &booleanReader{dt: n.col.Plain, presence: presence}, nil
	case arrowmap.Same:
		return &booleanReader{dt: n.col.Plain, data: &work.Bits{Data: data}, presence: presence}, nil
	case arrowmap.Null:
		return nil, fault.Corruptf("a column of type null holds values")
	}
	return nil, rules.NoConversion(n.col)
}

// booleanReader reads a node of booleans, or of a type without content: nothing but nulls.
type booleanReader struct {
	dt       arrow.DataType
	data     *work.Bits // nil without content
	presence *work.Bits
}

func (r *booleanReader) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.presence.Need(w, rows, add)
	r.data.Need(w, rows, add)
}

func (r *booleanReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	valid, nulls, err := r.presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	if r.data == nil {
		return rules.Empty(r.dt, int(rows.Len()), valid, nulls), nil
	}
	values := arrowutil.NewZeroBuffer(arrowutil.Reusable(w.Limits.Allocator), int(rows.Len()+7)/8)
	if err := r.data.Read(ctx, w, rows, values.Bytes()); err != nil {
		build.Release(valid, values)
		return nil, err
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{valid, values}, nil, nulls), nil
}
