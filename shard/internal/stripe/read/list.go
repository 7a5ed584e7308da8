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
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
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
	r := &listReader{dt: n.col.Plain, offsets: &work.Offsets{Data: offsets}, presence: presence}
	if r.children, err = n.openChildren(ctx, unknownCount); err != nil {
		return nil, err
	}
	if r.stored, err = n.positions(ctx, n.col.Children[0].ID); err != nil {
		return nil, err
	}
	return r, nil
}

// listReader reads a list or map node: offsets, presence, and the items of the requested lists.
type listReader struct {
	dt       arrow.DataType // List, LargeList, Map or FixedSizeList
	offsets  *work.Offsets
	presence *work.Bits
	children []nodeReader
	stored   int64 // items in the stripe, or unknownCount
}

func (r *listReader) need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.presence.Need(w, rows, add)
	r.offsets.Need(w, rows, add)
}

func (r *listReader) read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if rows.Len() > w.Limits.MaxArrayBytes/8 {
		return nil, fault.ErrBatchTooLarge
	}
	n := int(rows.Len())
	wanted, ends, err := r.offsets.Items(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	valid, nulls, err := r.presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	var offsets *memory.Buffer
	if size, ok := fixedListSize(r.dt); ok {
		err = r.checkSizes(ends, size)
	} else {
		offsets, err = r.makeOffsets(w, ends)
	}
	var items arrow.ArrayData
	if err == nil {
		items, err = r.readItems(ctx, w, wanted)
	}
	if err != nil {
		build.Release(valid, offsets)
		return nil, err
	}
	buffers := []*memory.Buffer{valid, offsets}
	if _, ok := fixedListSize(r.dt); ok {
		buffers = buffers[:1]
	}
	return arrowutil.Make(r.dt, n, buffers, []arrow.ArrayData{items}, nulls), nil
}

// makeOffsets returns the Arrow offsets buffer, which starts at 0.
func (r *listReader) makeOffsets(w *work.Worker, ends []uint64) (*memory.Buffer, error) {
	if r.dt.ID() == arrow.LARGE_LIST {
		return offsetsBuffer[int64](w, ends), nil
	}
	if ends[len(ends)-1] > math.MaxInt32 {
		return nil, fault.ErrBatchTooLarge
	}
	return offsetsBuffer[int32](w, ends), nil
}

func offsetsBuffer[O int32 | int64](w *work.Worker, ends []uint64) *memory.Buffer {
	b := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), numeric.Of[O]().Size()*len(ends))
	for i, dst := 0, arrowutil.As[O](b.Bytes()); i < len(dst); i++ {
		dst[i] = O(ends[i])
	}
	return b
}

func fixedListSize(dt arrow.DataType) (uint64, bool) {
	f, ok := dt.(*arrow.FixedSizeListType)
	if !ok {
		return 0, false
	}
	return uint64(f.Len()), true
}

// checkSizes checks that every list has size items, as they were written, null lists included.
func (r *listReader) checkSizes(ends []uint64, size uint64) error {
	for i := range len(ends) - 1 {
		if ends[i+1]-ends[i] != size {
			return fault.Corruptf("list of %d items in a column of fixed-size lists of %d", ends[i+1]-ends[i], size)
		}
	}
	return nil
}

func (r *listReader) readItems(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.ArrayData, error) {
	if last := rows.Bounds().To; r.stored != unknownCount && last > r.stored {
		return nil, r.offsets.Data.Wrap(fault.Corruptf("list offset %d, but there are %d items", last, r.stored))
	}
	if err := w.Limits.CheckItems(rows.Len()); err != nil {
		return nil, err
	}
	children, err := readAll(ctx, w, rows, r.children)
	if err != nil {
		return nil, err
	}
	defer arrowutil.ReleaseAll(children)
	m, ok := r.dt.(*arrow.MapType)
	if !ok {
		return arrowutil.DataOf(children)[0], nil
	}
	if nulls := children[0].NullN(); nulls > 0 {
		return nil, fault.Corruptf("%d null keys of a map", nulls)
	}
	entries := arrowutil.Make(m.Elem(), int(rows.Len()), []*memory.Buffer{nil}, arrowutil.DataOf(children), 0)
	defer entries.Release()
	return arrowutil.DataOf([]arrow.Array{entries})[0], nil
}
