package read

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

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
		return &intervalReader{r}, nil
	}
	return nil, rules.NoConversion(n.col)
}

// structReader reads a struct node.
type structReader struct {
	dt       arrow.DataType
	presence *work.Bits
	children []nodeReader
}

func (r *structReader) need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	for _, c := range r.children {
		c.need(w, rows, add)
	}
	r.presence.Need(w, rows, add)
}

func (r *structReader) read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	children, err := readAll(ctx, w, rows, r.children)
	if err != nil {
		return nil, err
	}
	defer arrowutil.ReleaseAll(children)
	valid, nulls, err := r.presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{valid}, arrowutil.DataOf(children), nulls), nil
}

// readAll reads the same rows of several nodes. The caller releases the arrays.
func readAll(ctx context.Context, w *work.Worker, rows rowset.Set, nodes []nodeReader) ([]arrow.Array, error) {
	var out []arrow.Array
	for _, n := range nodes {
		arr, err := n.read(ctx, w, rows)
		if err != nil {
			arrowutil.ReleaseAll(out)
			return nil, err
		}
		out = append(out, arr)
	}
	return out, nil
}

// fixedListReader reads a FixedSizeList node: position i has the items
// size*i up to size*(i+1).
type fixedListReader struct {
	dt       arrow.DataType
	presence *work.Bits
	items    nodeReader
	size     int64
	stored   int64 // items in the stripe: the reference leaves out those of null lists at its end
}

func (r *fixedListReader) need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	if r.size > 0 && rows.Bounds().To > math.MaxInt64/r.size {
		return
	}
	r.items.need(w, work.Scaled(rows, r.size).Clip(0, r.stored), add)
	r.presence.Need(w, rows, add)
}

func (r *fixedListReader) read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if last := rows.Bounds().To; r.size > 0 && last > math.MaxInt64/r.size {
		return nil, fault.Corruptf("row %d of lists of %d items", last, r.size)
	}
	wanted := work.Scaled(rows, r.size)
	if err := w.Limits.CheckItems(wanted.Len()); err != nil {
		return nil, err
	}
	stored := wanted.Clip(0, r.stored)
	items, err := r.items.read(ctx, w, stored)
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
	valid, nulls, err := r.presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{valid}, arrowutil.DataOf([]arrow.Array{items}), nulls), nil
}
