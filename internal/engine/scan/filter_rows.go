package scan

import (
	"math"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Decoding a column has a cost for each batch, which few rows are not worth. A task of a filtered scan is therefore the rows
// of several batches. They are filtered one after the other, and make one batch as long as few rows are left. Rows that are
// not yet filtered then become another job.
//
//	task     |1...|2...|3...|4...|     at most BatchRows rows each
//	left       20   31    9   40       one batch of 100
//	left     5000                      one batch; 2, 3, 4 are another job

// enoughRows is the share of the rows of a batch from which on a batch is not joined with the next: BatchRows/enoughRows.
const enoughRows = 64

// filteredRows are the rows that filtering has left of some rows of a job, and the columns decoded for it.
type filteredRows struct {
	*rowfilter.Rows
	rows rowset.Set
}

// filterRows finds the rows of a job that the filter is true for. The columns that it decodes are kept for the result.
func (sc *scanner) filterRows(j *job) (err error) {
	defer fault.Recover(&err)
	f, err := j.stripe.filter()
	if err != nil {
		return fault.InStripe(err, j.stripe.index)
	}
	if sc.stats != nil {
		defer sc.stats.filter.since(time.Now())
	}
	defer sc.stats.openFilter(j.stripe.index, f)
	if j.looked, err = sc.fetchFilter(j, f); err != nil {
		return fault.InStripe(err, j.stripe.index)
	}
	if err := sc.queue.begin(j, true); err != nil {
		return err
	}
	defer sc.queue.end()
	var rows rowset.Set
	batch := int64(sc.o.BatchRows)
	for rest := j.rows.And(f.Maybe); !rest.Empty(); {
		var part filteredRows
		from := rest.Bounds().From
		end := from + batch - (from-j.from)%batch // blocks are cut there, too, whichever rows are visible
		if n := rest.Len(); n <= rowfilter.FewRows || f.Decided() && n <= batch {
			end = math.MaxInt64
		}
		part.rows, rest = rest.Clip(from, end), rest.Clip(end, math.MaxInt64)
		if err := sc.filterPart(j, f, &part); err != nil {
			return fault.InStripe(err, j.stripe.index)
		}
		n := rows.Len() + part.rows.Len()
		switch {
		case part.rows.Empty():
			part.Release()
		case n > batch:
			sc.follow(j, part.rows, true).parts = []filteredRows{part}
		default:
			rows = rows.Or(part.rows)
			j.parts = append(j.parts, part)
		}
		if !rest.Empty() && (n > batch/enoughRows || n >= sc.o.Limit) {
			sc.follow(j, rest, false)
			break
		}
	}
	j.rows, j.filtered = rows, true
	if k := len(j.following); k > 0 {
		j.following[k-1].last, j.last = j.last, false
	}
	return nil
}

// filterPart reduces a part to the rows that the filter is true for.
func (sc *scanner) filterPart(j *job, f *rowfilter.Stripe, part *filteredRows) (err error) {
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	o := sc.readOptions(j)
	o.Prefetched = j.looked
	r := f.Rows(sc.columns, o, sc.stats.evaluations())
	if part.rows, err = r.Apply(sc.ctx, part.rows); err != nil {
		r.Release()
		return err
	}
	part.Rows = r
	return nil
}

// follow makes a job of rows of j that comes after j.
func (sc *scanner) follow(j *job, rows rowset.Set, filtered bool) *job {
	next := sc.newJob(j.task, j.stripe, rows, filtered)
	next.looked, next.last = j.looked, false
	j.following = append(j.following, next)
	return next
}
