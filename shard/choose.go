package shard

import (
	"slices"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// choice is how far a job is with choosing its rows by the filter.
type choice uint8

const (
	unchosen choice = iota
	choosing
	chosen
	failed // it could not
)

// Few survivors are worth little work for each column: a task of a filtered scan is
// some batches' rows, which are chosen one after the other and make one batch as long as
// few are left of them. What is not chosen then becomes a job that follows.
//
//	task     |1...|2...|3...|4...|     at most BatchRows rows each
//	chosen     20   31    9   40       one batch of 100
//	chosen   5000                      one batch; 2, 3, 4 are another job

// enoughRows is the share of a batch's rows that makes a batch without those of others: with more
// what a column takes for a batch no longer matters.
const enoughRows = 64

// choosePart is what choosing some rows of a job has left, and decoded.
type choosePart struct {
	*selection
	rows rowset.Set
}

// choose finds the rows of a job that the filter is true for. What it decodes for
// that is kept for the result.
func (sc *scanner) choose(j *job) (err error) {
	defer fault.Recover(&err)
	f, err := j.stripe.filter()
	if err != nil {
		return fault.InStripe(err, j.stripe.index)
	}
	if sc.stats != nil {
		defer func(start time.Time) { sc.stats.choose.Add(int64(time.Since(start))) }(time.Now())
	}
	defer f.opened(sc.stats)
	if j.looked, err = sc.fetchFilter(j, f); err != nil {
		return fault.InStripe(err, j.stripe.index)
	}
	var rows rowset.Set
	batch := int64(sc.o.BatchRows)
	for rest := j.rows; ; {
		var part choosePart
		part.rows, rest = rest.Split(batch)
		if err := sc.choosePart(j, f, &part); err != nil {
			return fault.InStripe(err, j.stripe.index)
		}
		n := rows.Len() + part.rows.Len()
		switch {
		case part.rows.Empty():
			part.release()
		case n > batch:
			sc.follow(j, part.rows, true).parts = []choosePart{part}
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
	j.rows = rows
	if k := len(j.following); k > 0 {
		j.following[k-1].last, j.last = j.last, false
	}
	return nil
}

// choosePart leaves those rows of a part that the filter is true for.
func (sc *scanner) choosePart(j *job, f *stripeFilter, part *choosePart) (err error) {
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	s := newSelection(f, sc, sc.limit(j))
	s.options.Prefetched = j.looked
	if part.rows, err = s.choose(sc.ctx, part.rows); err != nil {
		s.release()
		return err
	}
	part.selection = s
	return nil
}

// follow makes a job of rows of another one that comes next.
func (sc *scanner) follow(j *job, rows rowset.Set, chosen bool) *job {
	next := sc.jobOf(j.task, j.stripe, rows, chosen)
	next.looked, next.last = j.looked, false
	j.following = append(j.following, next)
	return next
}

// settle notes that the rows of a job are chosen, or could not be.
func (sc *scanner) settle(j *job) {
	j.pending--
	j.choice = chosen
	if j.err != nil {
		j.choice = failed
	}
	if j.err != nil || j.rows.Empty() {
		j.pending, j.next = 0, len(sc.columns) // nothing to decode
	}
	sc.queue = slices.Insert(sc.queue, slices.Index(sc.queue, j)+1, j.following...)
	j.following = nil
	sc.changed.Broadcast()
}
