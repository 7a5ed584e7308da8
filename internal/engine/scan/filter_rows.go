package scan

import (
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Few rows are worth little work for each column: a task of a filtered scan is the rows of
// some batches, which are filtered one after the other and make one batch as long as few
// are left of them. Rows that are not filtered then become a job that follows.
//
//	task     |1...|2...|3...|4...|     at most BatchRows rows each
//	left       20   31    9   40       one batch of 100
//	left     5000                      one batch; 2, 3, 4 are another job

// enoughRows is the share of a batch's rows that makes a batch without those of others: with
// more, what a column takes for a batch no longer matters.
const enoughRows = 64

// filteredRows are those that filtering some rows of a job has left, and what was decoded
// for that.
type filteredRows struct {
	*rowFilter
	rows rowset.Set
}

// filterRows finds the rows of a job that the filter is true for. What it decodes for that
// is kept for the result.
func (sc *scanner) filterRows(j *job) (err error) {
	defer fault.Recover(&err)
	f, err := j.stripe.filter()
	if err != nil {
		return fault.InStripe(err, j.stripe.index)
	}
	if sc.stats != nil {
		defer sc.stats.filter.since(time.Now())
	}
	defer f.countOpened(sc.stats)
	if j.looked, err = sc.fetchFilter(j, f); err != nil {
		return fault.InStripe(err, j.stripe.index)
	}
	var rows rowset.Set
	batch := int64(sc.o.BatchRows)
	for rest := j.rows; ; {
		var part filteredRows
		part.rows, rest = rest.Split(batch)
		if err := sc.filterPart(j, f, &part); err != nil {
			return fault.InStripe(err, j.stripe.index)
		}
		n := rows.Len() + part.rows.Len()
		switch {
		case part.rows.Empty():
			part.release()
		case n > batch:
			sc.follow(j, part.rows, true).parts = []filteredRows{part}
		default:
			rows = rows.Or(part.rows)
			j.parts = append(j.parts, part)
		}
		if rest.Empty() {
			break
		}
		if n > batch/enoughRows || n >= sc.o.Limit {
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

// filterPart leaves those rows of a part that the filter is true for.
func (sc *scanner) filterPart(j *job, f *stripeFilter, part *filteredRows) (err error) {
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	r := newRowFilter(f, sc, j)
	if part.rows, err = r.apply(sc.ctx, part.rows); err != nil {
		r.release()
		return err
	}
	part.rowFilter = r
	return nil
}

// follow makes a job of rows of another one that comes next.
func (sc *scanner) follow(j *job, rows rowset.Set, filtered bool) *job {
	next := sc.newJob(j.task, j.stripe, rows, filtered)
	next.looked, next.last = j.looked, false
	j.following = append(j.following, next)
	return next
}
