package shard

import (
	"math"
	"slices"
)

// task is the rows of one batch: rows from up to to of a stripe, counted in it.
type task struct {
	stripe   int
	from, to int64
	last     bool // the scan will not come back to the stripe soon
}

// plan gives the tasks of a scan, in order, one after the other.
type plan struct {
	shard   *Shard
	rows    []RowRange // left to do; the first one is being cut
	stripes []bool     // nil: all
	batch   int64
	most    int64 // rows to plan
	left    int64 // of these
	stripe  int   // that the next row is in, or a later one
	ahead   task  // the next one
	ended   bool  // there is none
}

// newPlan plans a scan of a shard, which may be far away.
func newPlan(s *Shard, o *ScanOptions, far bool) *plan {
	p := &plan{shard: s, batch: int64(o.BatchRows), most: math.MaxInt64}
	if o.Filter.IsZero() {
		p.most = o.Limit
	}
	p.left = p.most
	if o.Rows == nil {
		p.rows = []RowRange{{From: 0, To: s.NumRows()}}
	} else {
		p.rows = slices.Clone(o.Rows)
	}
	if o.Stripes != nil {
		p.stripes = make([]bool, s.NumStripes())
		for _, i := range o.Stripes {
			p.stripes[i] = true
		}
	}
	if !o.Filter.IsZero() && !far {
		p.batch = min(p.batch, s.NumRows()) * p.together(o)
	}
	p.find()
	return p
}

// together is how many batches' rows make one task if there is a filter: as many as leave
// enough tasks for all workers. Of a shard far away what batches need is read for several
// of them anyway.
func (p *plan) together(o *ScanOptions) int64 {
	const most, each = 16, 8 // batches of a task, tasks of a worker
	if o.Parallelism == 1 {
		return most
	}
	return min(max(p.count()/p.batch/int64(each*o.Parallelism), 1), most)
}

// next gives the next task; ok is false after the last one.
func (p *plan) next() (t task, ok bool) {
	t, ok = p.ahead, !p.ended
	if ok {
		p.find()
	}
	return t, ok
}

// find finds the task that follows.
func (p *plan) find() {
	var ok bool
	p.ahead, ok = p.cut()
	p.ended = !ok
}

// cut cuts a task off the rows that are left.
func (p *plan) cut() (t task, ok bool) {
	for len(p.rows) > 0 && p.left > 0 {
		r := &p.rows[0]
		if r.From >= r.To {
			p.rows = p.rows[1:]
			p.stripe = 0
			continue
		}
		p.seek(r.From)
		st := p.shard.file.Stripe(p.stripe)
		end := min(r.To, st.Position()+st.Rows())
		if p.stripes != nil && !p.stripes[p.stripe] {
			r.From = end
			continue
		}
		t = task{stripe: p.stripe, from: r.From - st.Position()}
		t.to = t.from + min(end-r.From, p.batch, p.left) // counts reach up to the largest int64
		p.left -= t.to - t.from
		r.From = st.Position() + t.to
		t.last = r.From == end || p.left == 0
		return t, true
	}
	return task{}, false
}

// count is how many rows are left to plan, or more if stripes are left out.
func (p *plan) count() (n int64) {
	for _, r := range p.rows {
		n += r.Len()
	}
	return min(n, p.left)
}

// seek finds the stripe that holds a row.
func (p *plan) seek(row int64) {
	at := func(i int) bool {
		st := p.shard.file.Stripe(i)
		return row >= st.Position() && row < st.Position()+st.Rows()
	}
	if p.stripe < p.shard.NumStripes() && at(p.stripe) {
		return
	}
	p.stripe = p.shard.stripeOf(row)
}

// stripeOf is the stripe that holds a row: the last that begins at it or before.
func (s *Shard) stripeOf(row int64) int {
	lo, hi := 0, s.NumStripes()-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if s.file.Stripe(mid).Position() <= row {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
