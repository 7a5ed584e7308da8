package scan

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// rebatcher gives the batches of a scan. Small ones are slices of larger ones that were
// decoded at once: blocks have up to 64 Ki values, and each small batch would read its
// blocks anew.
type rebatcher struct {
	*scanner
	rows int64 // most of a batch

	job   *job // of the batch that is being sliced
	whole arrow.RecordBatch
	rest  rowset.Set // rows of it that are still to be given
}

// decodedTogether is how many rows are decoded at a time at most for smaller batches.
var decodedTogether = DefaultBatchRows

// SetDecodedTogether changes, for tests, how many rows are decoded at a time at most for
// smaller batches, until reset is called.
func SetDecodedTogether(rows int) (reset func()) {
	before := decodedTogether
	decodedTogether = rows
	return func() { decodedTogether = before }
}

func newRebatcher(ctx context.Context, t table.Table, o Options) (*rebatcher, error) {
	rows := int64(o.BatchRows)
	if k := together(t, &o) / max(rows, 1); rows > 0 && k > 1 {
		o.BatchRows *= int(k)
	}
	sc, err := newScanner(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return &rebatcher{scanner: sc, rows: max(rows, 0)}, nil
}

// together is how many rows to decode at a time: as many as blocks have, as far as they
// probably take a quarter of the memory. Values may be stored in fewer bytes than they have.
func together(t table.Table, o *Options) int64 {
	limit := o.MemoryLimit
	if limit == 0 {
		limit = DefaultMemory
	}
	columns := int64(len(o.Columns))
	if o.Columns == nil {
		columns = int64(t.NumNodes())
	}
	perRow := 4*t.StoredBytes()/max(t.NumRows(), 1) + 16*columns + 1
	rows := min(int64(decodedTogether), limit/4/perRow)
	if o.Limit > 0 {
		rows = min(rows, o.Limit)
	}
	return rows
}

// next gives the next batch, which the caller releases, its rows in the stripe, and the job
// that made it; io.EOF after the last one.
func (r *rebatcher) next() (j *job, rows rowset.Set, batch arrow.RecordBatch, err error) {
	if r.whole == nil {
		j, batch, err = r.scanner.next()
		if err != nil {
			return nil, rowset.Set{}, nil, err
		}
		if r.rows == 0 || batch.NumRows() <= r.rows {
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

// drop releases what was not given.
func (r *rebatcher) drop() {
	if r.whole != nil {
		r.whole.Release()
	}
	r.job, r.whole, r.rest = nil, nil, rowset.Set{}
}

func (r *rebatcher) close() {
	r.drop()
	r.scanner.close()
}
