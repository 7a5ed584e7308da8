package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// structReader reads a struct node.
type structReader struct {
	dt       arrow.DataType
	presence *presenceReader
	children []nodeReader
}

func (r *structReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	for _, c := range r.children {
		c.need(w, rows, add)
	}
	r.presence.need(w, rows, add)
}

func (r *structReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	children := make([]arrow.ArrayData, 0, len(r.children))
	fail := func(err error) (arrow.Array, error) {
		for _, c := range children {
			c.Release()
		}
		return nil, err
	}
	for _, c := range r.children {
		arr, err := c.read(ctx, w, rows)
		if err != nil {
			return fail(err)
		}
		arr.Data().Retain()
		children = append(children, arr.Data())
		arr.Release()
	}
	valid, nulls, err := r.presence.read(ctx, w, rows)
	if err != nil {
		return fail(err)
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{valid}, children, nulls), nil
}
