package shard

import (
	"time"

	"github.com/amudai/amudai-go/fault"
)

// choice is how far a job is with choosing its rows by the filter.
type choice uint8

const (
	unchosen choice = iota
	choosing
	chosen
	failed // it could not
)

// choose finds the rows of a job that the filter is true for. What it decodes for
// that is kept for the result.
func (sc *scanner) choose(j *job) (err error) {
	defer fault.Recover(&err)
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	f, err := j.stripe.filter()
	if err != nil {
		return inStripe(err, j.stripe.index)
	}
	if sc.stats != nil {
		defer func(start time.Time) { sc.stats.choose.Add(int64(time.Since(start))) }(time.Now())
	}
	s := newSelection(f, sc, sc.limit(j))
	if j.looked, err = sc.fetchFilter(j, f); err != nil {
		return inStripe(err, j.stripe.index)
	}
	s.options.Fetched = j.looked
	rows, err := s.choose(sc.ctx, j.rows)
	f.opened(sc.stats)
	if err != nil {
		s.release()
		return inStripe(err, j.stripe.index)
	}
	j.rows, j.selection = rows, s
	return nil
}

// settle notes that the rows of a job are chosen, or could not be.
func (sc *scanner) settle(j *job) {
	j.pending--
	j.choice = chosen
	if j.err != nil {
		j.choice = failed
	}
	if j.err != nil || len(j.rows) == 0 {
		j.pending, j.next = 0, len(sc.columns) // nothing to decode
	}
	sc.changed.Broadcast()
}
