package scan

import (
	"context"
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// task is rows of a stripe, counted in the stripe, which lie from from up to to.
type task struct {
	stripe   int
	from, to int64
	ranges   []rowset.Range // of the rows, in order
	last     bool           // no task of the stripe follows directly
}

// plan cuts the rows of a scan into tasks, one after the other.
type plan struct {
	table   table.Table
	rows    []rowset.Range // left to do; the first one is being cut
	stripes []bool         // nil: all
	batch   int64
	most    int64 // rows to plan
	left    int64 // of these
	stripe  int   // that the next row is in, or a later one
	ahead   task  // the next one
	ended   bool  // there is none
}

// newPlan plans a scan. With windows, tasks are single batches: the bytes of several of them are read together.
func newPlan(t table.Table, o *Options, windows bool) *plan {
	p := &plan{table: t, batch: int64(o.BatchRows), most: math.MaxInt64}
	if o.Filter == nil {
		p.most = o.Limit
	}
	p.left = p.most
	p.rows = slices.Clone(o.Rows)
	if o.Stripes != nil {
		p.stripes = make([]bool, t.NumStripes())
		for _, i := range o.Stripes {
			p.stripes[i] = true
		}
	}
	if o.Filter != nil && !windows {
		p.batch = min(p.batch, t.NumRows()) * p.batchesPerTask(o)
	}
	p.advance()
	return p
}

// batchesPerTask is the number of batches whose rows make one task of a filtered scan. It leaves enough tasks for all
// workers.
func (p *plan) batchesPerTask(o *Options) int64 {
	const most, tasks = 16, 8 // batches of a task, tasks of a worker
	if o.Parallelism == 1 {
		return most
	}
	return min(max(p.count()/p.batch/int64(tasks*o.Parallelism), 1), most)
}

// next is the next task; ok is false after the last one.
func (p *plan) next() (t task, ok bool) {
	t, ok = p.ahead, !p.ended
	if ok {
		p.advance()
	}
	return t, ok
}

// advance cuts the task after the next.
func (p *plan) advance() {
	var ok bool
	p.ahead, ok = p.cut()
	p.ended = !ok
}

// cut cuts a task off the rows that are left. Short ranges that follow closely in their stripe are one task, because each batch has a cost.
func (p *plan) cut() (t task, ok bool) {
	for len(p.rows) > 0 && p.left > 0 {
		r := &p.rows[0]
		if r.From >= r.To {
			p.rows = p.rows[1:]
			p.stripe = 0
			continue
		}
		p.seek(r.From)
		st := p.table.Stripe(p.stripe)
		end := min(r.To, st.Position()+st.Rows())
		if p.stripes != nil && !p.stripes[p.stripe] {
			r.From = end
			continue
		}
		t = task{stripe: p.stripe, from: r.From - st.Position()}
		p.extend(&t, r, st)
		for len(p.rows) > 1 && r.From == r.To && p.follows(&t, p.rows[1], st) {
			p.rows = p.rows[1:]
			r = &p.rows[0]
			p.extend(&t, r, st)
		}
		t.last = r.From == min(r.To, st.Position()+st.Rows()) || p.left == 0
		return t, true
	}
	return task{}, false
}

// extend takes rows of a range for a task, as many as there is room for.
func (p *plan) extend(t *task, r *rowset.Range, st table.Stripe) {
	from := r.From - st.Position()
	room := min(p.batch-(from-t.from), p.left) // counts reach up to the largest int64
	t.to = from + min(min(r.To-st.Position(), st.Rows())-from, room)
	t.ranges = append(t.ranges, rowset.Range{From: from, To: t.to})
	p.left -= t.to - from
	r.From = st.Position() + t.to
}

// follows reports whether a range begins behind the rows of a task, in its stripe, and near enough.
func (p *plan) follows(t *task, next rowset.Range, st table.Stripe) bool {
	from := next.From - st.Position()
	return p.left > 0 && next.From < next.To && from >= t.to && from < st.Rows() && from-t.from < p.batch
}

// count is the number of rows left to plan. It includes those of stripes that are left out.
func (p *plan) count() int64 { return min(rowset.Count(p.rows), p.left) }

// seek finds the stripe that holds a row.
func (p *plan) seek(row int64) {
	if p.stripe < p.table.NumStripes() {
		st := p.table.Stripe(p.stripe)
		if row >= st.Position() && row < st.Position()+st.Rows() {
			return
		}
	}
	p.stripe = table.StripeOf(p.table, row)
}

// visible are the rows that a scan may read: the visible ones of its options, or of the table.
func (o *Options) visible(ctx context.Context, t table.Table) ([]rowset.Range, error) {
	rows := o.Rows
	if rows == nil {
		rows = []rowset.Range{{To: t.NumRows()}}
	}
	return table.VisibleRows(ctx, t, rows)
}
