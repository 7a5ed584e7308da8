package nested

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// Struct reads a struct node.
type Struct struct {
	Type     arrow.DataType
	Presence *work.Bits
	Children []Node
}

// Need implements [Node].
func (r *Struct) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	for _, c := range r.Children {
		c.Need(w, rows, add)
	}
	r.Presence.Need(w, rows, add)
}

// Read implements [Node].
func (r *Struct) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	children, err := ReadAll(ctx, w, rows, r.Children)
	if err != nil {
		return nil, err
	}
	defer arrowutil.ReleaseAll(children)
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return arrowutil.Make(r.Type, int(rows.Len()), []*memory.Buffer{valid}, arrowutil.DataOf(children), nulls), nil
}

// FixedList reads a FixedSizeList node: position i has the items
// Size*i up to Size*(i+1).
type FixedList struct {
	Type     arrow.DataType
	Presence *work.Bits
	Items    Node
	Size     int64
	Stored   int64 // items in the stripe: the reference leaves out those of null lists at its end
}

// Need implements [Node].
func (r *FixedList) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	if r.Size > 0 && rows.Bounds().To > math.MaxInt64/r.Size {
		return
	}
	r.Items.Need(w, work.Scaled(rows, r.Size).Clip(0, r.Stored), add)
	r.Presence.Need(w, rows, add)
}

// Read implements [Node].
func (r *FixedList) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if last := rows.Bounds().To; r.Size > 0 && last > math.MaxInt64/r.Size {
		return nil, fault.Corruptf("row %d of lists of %d items", last, r.Size)
	}
	wanted := work.Scaled(rows, r.Size)
	if err := w.Limits.CheckItems(wanted.Len()); err != nil {
		return nil, err
	}
	stored := wanted.Clip(0, r.Stored)
	items, err := r.Items.Read(ctx, w, stored)
	if err != nil {
		return nil, err
	}
	if missing := wanted.Len() - stored.Len(); missing > 0 {
		if err := w.Limits.CheckFree(missing, build.NullBytes(items.DataType())); err != nil {
			items.Release()
			return nil, err
		}
		short, rest := items, arrowutil.Nulls(w.Limits.Allocator, items.DataType(), int(missing))
		items, err = arrowutil.Concatenate(w.Limits.Allocator, []arrow.Array{short, rest})
		short.Release()
		rest.Release()
		if err != nil {
			return nil, err
		}
	}
	defer items.Release()
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return arrowutil.Make(r.Type, int(rows.Len()), []*memory.Buffer{valid}, arrowutil.DataOf([]arrow.Array{items}), nulls), nil
}

// Lengths are the numbers of items of rows, null where the lists are, as 64-bit integers.
func (r *FixedList) Lengths(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	lengths := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), 8*int(rows.Len()))
	for i, all := 0, arrowutil.As[int64](lengths.Bytes()); i < len(all); i++ {
		all[i] = r.Size
	}
	return arrowutil.Make(arrow.PrimitiveTypes.Int64, int(rows.Len()), []*memory.Buffer{valid, lengths}, nil, nulls), nil
}

// Valid is a bit for each row, set if it is not null. It reads nothing below the node.
func (r *FixedList) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return r.Presence.Valid(ctx, w, rows)
}

// Valid is a bit for each row, set if it is not null. It reads nothing below the node.
func (r *Struct) Valid(ctx context.Context, w *work.Worker, rows rowset.Set) ([]byte, error) {
	return r.Presence.Valid(ctx, w, rows)
}
