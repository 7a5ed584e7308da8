package scan

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// Batch is a batch of rows of a scan, with their positions.
type Batch struct {
	arrow.RecordBatch
	Stripe int // of all its rows
	rows   rowset.Set
}

// RowRanges are the rows of the batch, counted in the table: ascending ranges with as many rows as the batch has.
func (b Batch) RowRanges() []rowset.Range { return slices.Collect(b.rows.Ranges()) }

// Scan iterates over the rows of a table in batches. A batch is valid until the next step.
func Scan(ctx context.Context, t table.Table, o Options) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		r, err := newRebatcher(ctx, t, o)
		if err != nil {
			yield(Batch{}, err)
			return
		}
		defer r.close()
		for more := true; more; {
			j, rows, batch, err := r.next()
			if err != nil {
				yield(Batch{}, err)
				return
			}
			if batch == nil {
				return
			}
			more = yield(Batch{batch, j.task.stripe, rows.Shift(j.stripe.stripe.Position())}, nil)
			batch.Release()
		}
	}
}

// Count is the number of visible rows that a filter is true for.
func Count(ctx context.Context, t table.Table, where *ast.Node) (n int64, err error) {
	if where == nil {
		return table.CountVisible(ctx, t, rowset.All(t.NumRows()))
	}
	filter, err := rowfilter.Bind(ctx, t, where)
	if err != nil {
		return 0, err
	}
	if known, err := filter.Indexed(ctx); err != nil {
		return 0, err
	} else if known != nil && known.Decided() {
		return table.CountVisible(ctx, t, known.Maybe)
	}
	for b, err := range Scan(ctx, t, Options{Filter: where, bound: filter, Columns: []string{}, AsReady: true, Reuse: true}) {
		if err != nil {
			return 0, err
		}
		n += b.NumRows()
	}
	return n, nil
}

// Ranged is a reader that knows the positions of its rows, as in [Batch].
type Ranged interface{ RowRanges() []rowset.Range }

// NewReader is [Scan] as an [array.RecordReader], which is [Ranged].
func NewReader(ctx context.Context, t table.Table, o Options) (array.RecordReader, error) {
	batches, err := newRebatcher(ctx, t, o)
	if err != nil {
		return nil, err
	}
	r := &reader{batches: batches}
	r.refs.Store(1)
	return r, nil
}

// reader is a scan as an array.RecordReader.
type reader struct {
	refs    atomic.Int64
	batches *rebatcher
	batch   arrow.RecordBatch
	rows    rowset.Set // of the batch
	err     error
	ended   bool
}

func (r *reader) Retain() { r.refs.Add(1) }

func (r *reader) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
		r.ended = true
		r.batches.close()
	}
}

func (r *reader) drop() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

func (r *reader) Schema() *arrow.Schema { return r.batches.schema }

func (r *reader) Next() bool {
	r.drop()
	if r.ended {
		return false
	}
	j, rows, batch, err := r.batches.next()
	if r.batch, r.err = batch, err; batch == nil {
		r.ended = true
		r.batches.close()
		return false
	}
	r.rows = rows.Shift(j.stripe.stripe.Position())
	return true
}

// RowRanges implements [Ranged].
func (r *reader) RowRanges() []rowset.Range { return slices.Collect(r.rows.Ranges()) }

func (r *reader) RecordBatch() arrow.RecordBatch { return r.batch }
func (r *reader) Record() arrow.RecordBatch      { return r.batch }
func (r *reader) Err() error                     { return r.err }
