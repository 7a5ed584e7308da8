package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// coded is a reader of values that are stored as numbers of entries of a dictionary.
type coded interface {
	entries(ctx context.Context) (arrow.Array, error)
	repeat(ctx context.Context, w *work.Worker, code uint32, n int64) (arrow.Array, error)
	selectCodes(ctx context.Context, w *work.Worker, rows rowset.Set, keep []byte) ([]byte, error)
	readViews(ctx context.Context, w *work.Worker, rows rowset.Set, dt arrow.DataType) (arrow.Array, error)
	readMapped(ctx context.Context, w *work.Worker, rows rowset.Set, other arrow.Array) (arrow.Array, error)
	readCodes(ctx context.Context, w *work.Worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error)
}

// Entries are the values that the column's rows have codes of, by code, if it has a
// value dictionary: each once, in an array of the physical type, and null if rows may
// be null. It is nil if there is no dictionary, or if arrays cannot hold one of its values. The caller does not release it.
func (c *Column) Entries(ctx context.Context) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	k, ok := nodeAs[coded](c)
	if !ok {
		return nil, nil
	}
	arr, err = k.entries(ctx)
	return arr, wrapColumn(err, &c.column)
}

// Repeat gives n times the same of Entries, as an array of the physical type.
func (c *Column) Repeat(ctx context.Context, entry int, n int64, o *table.ReadOptions) (arrow.Array, error) {
	k, ok := nodeAs[coded](c)
	if !ok {
		return nil, fault.Unsupportedf("column without a value dictionary")
	}
	return c.withWorker(rowset.Set{}, o, func(w *work.Worker) (arrow.Array, error) {
		arr, err := k.repeat(ctx, w, uint32(entry), n)
		return arr, wrapColumn(err, &c.column)
	})
}

// SelectCodes is the rows whose entry is to be kept: keep has a 1 for it, and 0
// for the others of Entries. A code beyond the dictionary, which only damage makes,
// is an error where codes are looked up, and not kept where they are compared.
func (c *Column) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *table.ReadOptions) (out rowset.Set, err error) {
	k, ok := nodeAs[coded](c)
	if !ok {
		return out, fault.Unsupportedf("column without a value dictionary")
	}
	return c.selected(rows, o, func(w *work.Worker) ([]byte, error) { return k.selectCodes(ctx, w, rows, keep) })
}

func (r *codesReader[O]) entries(ctx context.Context) (arrow.Array, error) {
	return r.dict.Entries(ctx, r.dt)
}

func (r *codesReader[O]) selectCodes(ctx context.Context, w *work.Worker, rows rowset.Set, keep []byte) ([]byte, error) {
	return work.SelectCodes(ctx, r.data, w, rows, keep)
}
