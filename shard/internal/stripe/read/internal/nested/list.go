package nested

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// List reads a list or map node: offsets, presence, and the items of the requested lists.
type List struct {
	Type     arrow.DataType // List, LargeList, Map or FixedSizeList
	Offsets  *work.Offsets
	Presence *work.Bits
	Children []Node
	Stored   int64 // items in the stripe, or Unknown
}

// Need implements [Node].
func (r *List) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.Presence.Need(w, rows, add)
	r.Offsets.Need(w, rows, add)
}

// Read implements [Node].
func (r *List) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if rows.Len() > w.Limits.MaxArrayBytes/8 {
		return nil, fault.ErrBatchTooLarge
	}
	n := int(rows.Len())
	wanted, ends, err := r.Offsets.Items(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	var offsets *memory.Buffer
	if size, ok := fixedListSize(r.Type); ok {
		err = r.checkSizes(ends, size)
	} else {
		offsets, err = work.ArrowOffsets(w, ends, r.Type.ID() == arrow.LARGE_LIST)
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
	if _, ok := fixedListSize(r.Type); ok {
		buffers = buffers[:1]
	}
	return arrowutil.Make(r.Type, n, buffers, []arrow.ArrayData{items}, nulls), nil
}

func fixedListSize(dt arrow.DataType) (uint64, bool) {
	f, ok := dt.(*arrow.FixedSizeListType)
	if !ok {
		return 0, false
	}
	return uint64(f.Len()), true
}

// checkSizes checks that every list has size items, as they were written, null lists included.
func (r *List) checkSizes(ends []uint64, size uint64) error {
	for i := range len(ends) - 1 {
		if ends[i+1]-ends[i] != size {
			return fault.Corruptf("list of %d items in a column of fixed-size lists of %d", ends[i+1]-ends[i], size)
		}
	}
	return nil
}

func (r *List) readItems(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.ArrayData, error) {
	if last := rows.Bounds().To; r.Stored != Unknown && last > r.Stored {
		return nil, r.Offsets.Data.Wrap(fault.Corruptf("list offset %d, but there are %d items", last, r.Stored))
	}
	if err := w.Limits.CheckItems(rows.Len()); err != nil {
		return nil, err
	}
	children, err := ReadAll(ctx, w, rows, r.Children)
	if err != nil {
		return nil, err
	}
	defer arrowutil.ReleaseAll(children)
	m, ok := r.Type.(*arrow.MapType)
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

// Lengths are the numbers of items of rows, null where the lists are, as 64-bit integers.
func (r *List) Lengths(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	lengths, err := r.Offsets.Lengths(ctx, w, rows)
	if err != nil {
		build.Release(valid)
		return nil, err
	}
	return arrowutil.Make(arrow.PrimitiveTypes.Int64, int(rows.Len()), []*memory.Buffer{valid, lengths}, nil, nulls), nil
}

// Valid is a bit for each row, set if it is not null. It reads nothing below the node.
func (r *List) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return r.Presence.Valid(ctx, w, rows)
}
