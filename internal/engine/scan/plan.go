package scan

import (
	"context"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// task is rows of a stripe, counted in the stripe.
type task struct {
	stripe int
	from   int64       // the rows are none before this one
	all    rowset.Set  // the visible rows
	last   bool        // no task of the stripe follows directly
	shown  *rowset.Set // the visible rows of the stripe; nil: all
	err    error       // why there is no task
}

// plan cuts the rows of a scan into tasks, one after the other.
type plan struct {
	sc      *scanner
	parts   table.StripeRows // left to do, behind rest
	stripes []bool           // nil: all
	batch   int64
	left    int64 // rows to plan
	stripe  int
	rest    rowset.Set  // rows of the stripe, which are cut
	shown   *rowset.Set // the visible ones among all of the stripe; nil: all
	known   int         // the visible rows of stripes before this one have been asked for, or are not wanted
	ahead   task        // the next one
	ended   bool        // there is none
}

// most is the number of rows to plan at most.
func (sc *scanner) most() int64 {
	if sc.o.Filter == nil {
		return sc.o.Limit
	}
	return math.MaxInt64
}

// newPlan plans a scan.
func (sc *scanner) newPlan() *plan {
	o := &sc.o
	p := &plan{sc: sc, batch: int64(o.BatchRows), left: sc.most(), parts: table.StripeRows{Table: sc.table, Rows: o.Rows}}
	if o.Stripes != nil {
		p.stripes = make([]bool, sc.table.NumStripes())
		for _, i := range o.Stripes {
			p.stripes[i] = true
		}
	}
	if o.Filter != nil && !sc.windows() { // with windows, tasks are single batches: the bytes of several of them are read together
		p.batch = min(p.batch, sc.table.NumRows()) * p.batchesPerTask()
	}
	p.advance()
	return p
}

// batchesPerTask is the number of batches whose rows make one task of a filtered scan. It leaves enough tasks for all
// workers.
func (p *plan) batchesPerTask() int64 {
	o := &p.sc.o
	const most, tasks = 16, 8 // batches of a task, tasks of a worker
	if o.Parallelism == 1 {
		return most
	}
	return min(max(rowset.Count(o.Rows)/p.batch/int64(tasks*o.Parallelism), 1), most)
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
func (p *plan) advance() { p.ahead, p.ended = p.cut() }

// cut cuts a task off the rows that are left. Short ranges that follow closely in their stripe are one task, because each batch has a cost. Tasks begin
// at multiples of a batch behind the first row that was asked for, whichever are visible, as blocks do.
func (p *plan) cut() (t task, ended bool) {
	for p.ahead.err == nil && p.left > 0 {
		if p.rest.Empty() {
			if more, err := p.nextPart(); err != nil || !more {
				return task{stripe: p.stripe, err: err}, err == nil
			}
		}
		t = task{stripe: p.stripe, from: p.rest.Bounds().From, shown: p.shown}
		end := t.from + min(p.batch, p.rest.Bounds().To-t.from) // counts reach up to the largest int64
		t.all, p.rest = p.rest.Clip(t.from, end), p.rest.Clip(end, math.MaxInt64)
		if p.shown != nil {
			t.all = t.all.And(*p.shown)
		}
		t.all, _ = t.all.Split(p.left)
		p.left -= t.all.Len()
		t.last = p.left == 0 || p.rest.Bounds().From != end
		if !t.all.Empty() {
			return t, false
		}
	}
	return task{}, true
}

// nextPart goes on to the next stripe, or back in one. It reports false after the last part.
func (p *plan) nextPart() (more bool, err error) {
	for {
		if p.stripe, p.rest, more = p.parts.Next(); !more {
			return false, nil
		}
		wanted := p.stripes == nil || p.stripes[p.stripe]
		if wanted && (p.sc.filter == nil || !p.sc.filter.Excludes(p.sc.table.Stripe(p.stripe))) {
			err = p.visible()
			return err == nil, fault.InStripe(err, p.stripe)
		}
		p.rest = rowset.Set{}
	}
}

// visible asks for the visible rows of the stripe. If requests are slow, it asks for those of the stripes that follow at the same time.
func (p *plan) visible() (err error) {
	if sc := p.sc; sc.windows() && p.stripe >= p.known {
		var stripes []int
		stripes, p.known = sc.following(p.stripe, p.stripe)
		if err := parallel.Each(sc.ctx, len(stripes), len(stripes), func(ctx context.Context, i int) error {
			_, _ = sc.table.Stripe(stripes[i]).Visible(ctx) // an error comes again in its turn
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	p.shown, err = p.sc.table.Stripe(p.stripe).Visible(p.sc.ctx)
	return err
}
