package stripe

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/rowset"
)

// wrapReader puts back what a column's arrays are wrapped in: dictionaries,
// runs and extension types, the innermost first.
type wrapReader struct {
	inner nodeReader
	wraps []arrow.DataType
	mem   memory.Allocator
}

func (r *wrapReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	arr, err := r.inner.read(ctx, w, rows)
	for i := len(r.wraps) - 1; i >= 0 && err == nil; i-- {
		plain := arr
		arr, err = wrap(r.mem, plain, r.wraps[i])
		plain.Release()
	}
	if errors.Is(err, arrowutil.ErrTooManyValues) {
		err = errors.Join(ErrBatchTooLarge, err)
	}
	if err != nil {
		return nil, err
	}
	return arr, nil
}

func wrap(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return arrowutil.EncodeDictionary(mem, arr, dt)
	case *arrow.RunEndEncodedType:
		return arrowutil.EncodeRuns(mem, arr, dt)
	}
	return array.NewExtensionArrayWithStorage(dt.(arrow.ExtensionType), arr), nil
}

// viewReader lays byte strings or lists out as views.
type viewReader struct {
	inner nodeReader
	dt    arrow.DataType
	mem   memory.Allocator
}

func (r *viewReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	arr, err := r.inner.read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	switch r.dt.ID() {
	case arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return arrowutil.ToListView(r.mem, arr, r.dt), nil
	}
	return arrowutil.ToViews(r.mem, arr, r.dt), nil
}
