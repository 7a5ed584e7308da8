package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// openSlices opens byte strings whose offsets are in a buffer of their own.
func openSlices[O int32 | int64](ctx context.Context, n *openNode) (nodeReader, error) {
	if err := n.only(shardpb.BufferKind_DATA, shardpb.BufferKind_OFFSETS, shardpb.BufferKind_PRESENCE); err != nil {
		return nil, err
	}
	if n.field.DictionarySize != nil {
		return nil, fault.Unsupportedf("offsets beside a value dictionary")
	}
	offsets, err := n.blocks(ctx, shardpb.BufferKind_OFFSETS)
	if err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	return &slicesReader[O]{n.col.Plain, work.Offsets{Data: offsets, Of: data}, work.Octets{Data: data}}, nil
}

// slicesReader reads a node of byte strings as slices of the bytes in DATA, which end at OFFSETS.
type slicesReader[O int32 | int64] struct {
	dt      arrow.DataType
	offsets work.Offsets
	data    work.Octets
}

func (r *slicesReader[O]) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.offsets.Need(w, rows, add)
}

func (r *slicesReader[O]) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if rows.Len() > w.Limits.MaxArrayBytes/8 {
		return nil, fault.ErrBatchTooLarge
	}
	octets, ends, err := r.offsets.Items(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	offsets, err := work.ArrowOffsets(w, ends, build.MaxOffset[O]() > 1<<31)
	if err != nil {
		return nil, err
	}
	values, err := r.data.Read(ctx, w, octets)
	if err != nil {
		offsets.Release()
		return nil, err
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{nil, offsets, values}, nil, 0), nil
}

// Valid reads nothing: without a PRESENCE buffer, no value is null.
func (r *slicesReader[O]) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return (*work.Bits)(nil).Valid(ctx, w, rows)
}
