package scan

import (
	"cmp"
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// rebatcher cuts small batches out of larger ones that were decoded at once. Blocks have up to 64 Ki values, and each small
// batch would otherwise read and decode its blocks again.
type rebatcher struct {
	*scanner
	rows int64 // most of a batch

	job   *job // of the batch that is being sliced
	whole arrow.RecordBatch
	rest  rowset.Set // rows of it that are still to be given
}

func newRebatcher(ctx context.Context, t table.Table, o Options) (*rebatcher, error) {
	rows := int64(o.BatchRows)
	if o.DecodeRows > 0 {
		rows = cmp.Or(rows, DefaultBatchRows)
		o.BatchRows = int(min(o.DecodeRows, cmp.Or(o.Limit, math.MaxInt64), math.MaxInt))
	} else if k := together(t, &o) / max(rows, 1); rows > 0 && k > 1 {
		o.BatchRows *= int(k)
	}
	sc, err := newScanner(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return &rebatcher{scanner: sc, rows: max(rows, 0)}, nil
}

// together is the number of rows to decode at a time: as many as blocks have, but no more than probably fit into a quarter of
// the memory limit. Stored values take fewer bytes than decoded ones.
func together(t table.Table, o *Options) int64 {
	limit := cmp.Or(o.MemoryLimit, DefaultMemory)
	columns := int64(len(o.Columns))
	if o.Columns == nil {
		columns = int64(t.NumNodes())
	}
	perRow := 4*t.StoredBytes()/max(t.NumRows(), 1) + 16*columns + 1
	rows := min(DefaultBatchRows, limit/4/perRow)
	if o.Limit > 0 {
		rows = min(rows, o.Limit)
	}
	return rows
}

// next is the next batch, with its rows in the stripe and the job that made it. The caller releases the batch. After
// the last one there is none.
func (r *rebatcher) next() (j *job, rows rowset.Set, batch arrow.RecordBatch, err error) {
	if r.whole == nil {
		j, batch, err = r.scanner.next()
		if err != nil || batch == nil {
			return nil, rowset.Set{}, nil, err
		}
		if r.rows == 0 || batch.NumRows() <= r.rows {
			r.queue.release(j.size)
			return j, j.rows, batch, nil
		}
		r.job, r.whole, r.rest = j, batch, j.rows
	}
	if r.ctx.Err() != nil {
		return nil, rowset.Set{}, nil, context.Cause(r.ctx)
	}
	all, left := r.whole.NumRows(), r.rest.Len()
	n := min(r.rows, left)
	rows, r.rest = r.rest.Split(n)
	j, batch = r.job, r.whole.NewSlice(all-left, all-left+n)
	if n == left {
		r.drop()
	}
	return j, rows, batch, nil
}

// drop releases the rest of a batch that was decoded.
func (r *rebatcher) drop() {
	if r.whole != nil {
		r.whole.Release()
		r.queue.release(r.job.size)
	}
	r.job, r.whole, r.rest = nil, nil, rowset.Set{}
}

func (r *rebatcher) close() {
	r.drop()
	r.scanner.close()
}
