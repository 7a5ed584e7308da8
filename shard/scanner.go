package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
)

// scanner decodes the batches of a scan. Workers take columns, one or a few at a
// time, of the batch that comes next and of some that follow it:
//
//	queue   batch 4        batch 5        batch 6
//	        c0 c1 c2 c3    c0 c1 c2 c3    c0 c1 c2 c3
//	        done           done  w1 w2    w3 -- -- --
//	next()  <- waits for the first batch of the queue to be done, or for any
//
// With a filter a worker first chooses the rows of a batch (choose.go). A new batch
// joins the queue when there is nothing to take of the others, unless there are
// enough, or their bytes reach the limit. An error is kept in its batch and comes
// out when its turn comes.
type scanner struct {
	shard   *Shard
	o       ScanOptions
	ctx     context.Context
	cancel  context.CancelFunc
	columns []arrowmap.Column
	schema  *arrow.Schema
	plan    *plan
	filter  *predicate // nil if all rows are wanted
	lists   fieldLists
	gaps    storage.CoalesceOptions
	window  int // most batches in the queue
	chunk   int // columns that a worker takes at a time

	mu       sync.Mutex
	changed  sync.Cond
	queue    []*job
	open     *openStripe // of the newest job
	held     int64       // bytes of done batches in the queue
	fetched  int64       // bytes that were read ahead for others
	average  int64       // bytes of a batch, of late
	planned  bool        // the plan has no more tasks
	ended    bool
	started  bool
	workers  sync.WaitGroup
	ballast  ballast
	recycler *arrowutil.Recycler // nil unless memory is used again
	stats    *scanStats          // nil if nobody wants to know
	split    []*job              // parts of a task that made no batch as a whole, the next one last
	left     int64               // rows that the result may still have
}

// job is one batch on its way.
type job struct {
	task
	stripe    *openStripe
	rows      rowset.Set // of the stripe; those of the task until they are chosen
	choice    choice
	parts     []choosePart                       // how they were chosen, none without a filter
	following []*job                             // of rows of the task that this one leaves out, until they are begun
	looked    storage.Prefetched                 // what was read to choose the rows
	read      int64                              // bytes that were read for this job alone
	fetch     func() (storage.Prefetched, error) // what was read of the columns ahead, once
	arrays    []arrow.Array
	next      int // first column that nobody has taken
	pending   int // columns not done, and the choice
	size      int64
	err       error
}

func (s *Shard) newScanner(ctx context.Context, o ScanOptions) (*scanner, error) {
	if err := o.setDefaults(s); err != nil {
		return nil, err
	}
	p, err := s.project(ctx, o.Columns)
	if err != nil {
		return nil, err
	}
	pred, err := s.bind(ctx, o.Filter)
	if err != nil {
		return nil, err
	}
	p = o.Strings.of(p)
	sc := &scanner{shard: s, o: o, columns: p.columns, schema: p.schema, filter: pred, left: o.Limit}
	sc.gaps = s.gapsOf(o.FetchGap, o.FetchBytes)
	sc.gaps.Limit = min(sc.gaps.Limit, o.MemoryLimit/4)
	sc.plan = newPlan(s, &o, sc.gaps.Gap > 0)
	sc.changed.L = &sc.mu
	if o.Reuse {
		sc.recycler = arrowutil.NewRecycler(o.Allocator, o.MemoryLimit)
		sc.o.Allocator = sc.recycler
	}
	sc.ctx, sc.cancel = context.WithCancel(ctx)
	n := max(len(p.columns), 1)
	sc.window = 1 + (o.Parallelism+n-1)/n
	if pred != nil {
		sc.window = 1 + o.Parallelism // a batch may wait for its rows to be chosen
	} else {
		sc.ballast.rows = sc.plan.count()
	}
	if sc.recycler == nil {
		sc.ballast.threads = o.Parallelism
		sc.ballast.begin()
		sc.o.Allocator = arrowutil.Chunks(o.Allocator)
	}
	if o.AsReady {
		sc.window = 1 + o.Parallelism
	}
	sc.chunk = max(1, n/(8*o.Parallelism))
	return sc, nil
}

// next gives the next batch, which the caller releases, and its job; io.EOF after
// the last one.
func (sc *scanner) next() (j *job, batch arrow.RecordBatch, err error) {
	for batch == nil && err == nil && sc.left > 0 {
		if k := len(sc.split) - 1; k >= 0 {
			j, sc.split = sc.split[k], sc.split[:k]
			sc.decodeAll(j)
		} else if j, err = sc.take(); err != nil {
			return nil, nil, err
		}
		batch, err = sc.finish(j)
	}
	if batch == nil && err == nil {
		return nil, nil, io.EOF // the limit is reached
	}
	return j, batch, err
}

// take waits for a job of the queue that is to be given next, and removes it.
func (sc *scanner) take() (*job, error) {
	if sc.o.Parallelism == 1 || len(sc.columns) == 0 && sc.filter == nil {
		return sc.takeAlone()
	}
	sc.start()
	stop := context.AfterFunc(sc.ctx, func() {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		sc.changed.Broadcast()
	})
	defer stop()
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for {
		if err := sc.ctx.Err(); err != nil {
			return nil, context.Cause(sc.ctx)
		}
		if i := sc.ready(); i >= 0 {
			j := sc.queue[i]
			sc.queue = slices.Delete(sc.queue, i, i+1)
			sc.held -= j.size
			sc.changed.Broadcast()
			return j, nil
		}
		if len(sc.queue) == 0 && sc.planned {
			return nil, io.EOF
		}
		sc.changed.Wait()
	}
}

// ready is the place in the queue of the job to be given next, -1 if it is not done.
func (sc *scanner) ready() int {
	for i, j := range sc.queue {
		if j.pending == 0 {
			return i
		}
		if !sc.o.AsReady {
			break
		}
	}
	return -1
}

// takeAlone decodes the next job without workers.
func (sc *scanner) takeAlone() (*job, error) {
	if err := sc.ctx.Err(); err != nil {
		return nil, err
	}
	j := sc.newJob()
	if j == nil {
		return nil, io.EOF
	}
	sc.decodeAll(j)
	return j, nil
}

// newJob makes a job of the next task, nil if there is none.
func (sc *scanner) newJob() *job {
	t, ok := sc.plan.next()
	if !ok {
		return nil
	}
	last := sc.open
	if last == nil || last.index != t.stripe {
		sc.open = newOpenStripe(sc, t.stripe)
	}
	if sc.open.newest = t.from; last != nil {
		sc.forget(last)
	}
	return sc.jobOf(t, sc.open, rowset.Of(rowset.Range{From: t.from, To: t.to}), sc.filter == nil)
}

// jobOf is the job of some rows, chosen or yet to be.
func (sc *scanner) jobOf(t task, st *openStripe, rows rowset.Set, done bool) *job {
	n := len(sc.columns)
	j := &job{task: t, stripe: st, rows: rows, arrays: make([]arrow.Array, n), pending: n}
	j.fetch = sync.OnceValues(func() (storage.Prefetched, error) { return sc.fetchColumns(j) })
	if j.choice = chosen; !done {
		j.choice = unchosen
		j.pending++
	}
	return j
}

// start starts the workers, at the first step.
func (sc *scanner) start() {
	if sc.started {
		return
	}
	sc.started = true
	for range sc.o.Parallelism {
		sc.workers.Add(1)
		go func() {
			defer sc.workers.Done()
			sc.work()
		}()
	}
}

func (sc *scanner) work() {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for {
		j, from, to := sc.claim()
		if j == nil {
			return
		}
		failed := j.err != nil
		choosing := j.choice == choosing
		sc.mu.Unlock()
		var err error
		if choosing {
			err = sc.choose(j)
		}
		for i := from; i < to && err == nil && !failed; i++ {
			err = sc.decode(j, i)
		}
		sc.mu.Lock()
		if j.err == nil {
			j.err = err
		}
		j.pending -= to - from
		if choosing {
			sc.settle(j)
		}
		if j.pending == 0 {
			sc.done(j)
		}
	}
}

// claim takes some columns of the first job of the queue that has any left, or
// the choice of its rows, or those of a new job. It waits until there are any, and
// gives nil when the scan ends.
func (sc *scanner) claim() (j *job, from, to int) {
	for {
		if sc.ended || sc.ctx.Err() != nil {
			return nil, 0, 0
		}
		waiting := false
		for _, j := range sc.queue {
			switch {
			case j.choice == unchosen:
				j.choice = choosing
				return j, 0, 0
			case j.choice == choosing:
				waiting = true
			case j.next < len(sc.columns):
				from = j.next
				j.next = min(from+sc.share(), len(sc.columns))
				return j, from, j.next
			}
		}
		switch {
		case sc.planned && !waiting:
			return nil, 0, 0
		case sc.planned || !sc.room():
			sc.changed.Wait()
		default:
			if j = sc.newJob(); j == nil {
				sc.planned = true
			} else {
				sc.queue = append(sc.queue, j)
			}
			sc.changed.Broadcast()
		}
	}
}

// share is how many columns of a batch a worker takes. With AsReady these are all, as
// long as there are other batches, so that one that is late keeps one worker only.
func (sc *scanner) share() int {
	if sc.o.AsReady && !sc.planned && !sc.plan.ended {
		return len(sc.columns)
	}
	return sc.chunk
}

// room tells whether another batch may be begun.
func (sc *scanner) room() bool {
	if len(sc.queue) == 0 {
		return true
	}
	coming := int64(1)
	for _, j := range sc.queue {
		if j.pending > 0 {
			coming++
		}
	}
	bytes := sc.held + coming*sc.average
	if sc.gaps.Gap > 0 {
		bytes += sc.fetched + sc.gaps.Limit // it may need more
	}
	return len(sc.queue) < sc.window && bytes <= sc.o.MemoryLimit
}

func (sc *scanner) done(j *job) {
	for _, a := range j.arrays {
		if a != nil {
			j.size += int64(a.Data().SizeInBytes())
		}
	}
	sc.held += j.size
	sc.average = j.size
	sc.fetched -= j.read
	sc.forget(j.stripe)
	sc.changed.Broadcast()
}

// decodeAll decodes all columns of a job in this goroutine.
func (sc *scanner) decodeAll(j *job) {
	defer func() {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		sc.fetched -= j.read
		sc.forget(j.stripe)
	}()
	if j.choice != chosen {
		if j.err = sc.choose(j); j.err != nil {
			return
		}
		slices.Reverse(j.following)
		sc.split = append(sc.split, j.following...)
		if j.choice = chosen; j.rows.Empty() {
			return
		}
	}
	for i := range sc.columns {
		if j.err = sc.decode(j, i); j.err != nil {
			return
		}
	}
}

// decode decodes one column of a job.
func (sc *scanner) decode(j *job, i int) (err error) {
	defer fault.Recover(&err)
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	if sc.stats != nil {
		defer func(start time.Time) { sc.stats.decode.Add(int64(time.Since(start))) }(time.Now())
	}
	if j.arrays[i], err = j.pick(sc.ctx, &sc.columns[i]); j.arrays[i] != nil || err != nil {
		return sc.place(err, j.stripe, i)
	}
	fetched, err := j.fetch()
	if err != nil {
		return sc.place(err, j.stripe, i)
	}
	c, err := j.stripe.column(sc.ctx, i, sc.limit(j), j.last)
	if err == nil {
		j.arrays[i], err = c.WithPrefetched(fetched).ReadRows(sc.ctx, j.rows)
	}
	return sc.place(err, j.stripe, i)
}

// limit bounds the bytes of an array, but not that of a single row, which cannot be
// cut any further.
func (sc *scanner) limit(j *job) int64 {
	if j.rows.Len() == 1 {
		return 0
	}
	return sc.o.MemoryLimit
}

// place adds to an error of column i the row that it is about, if it is about
// one, and the stripe, unless it names one. In nested columns errors count
// items, which is no row.
func (sc *scanner) place(err error, st *openStripe, i int) error {
	if err == nil || sc.ctx.Err() != nil && errors.Is(err, sc.ctx.Err()) {
		return err
	}
	err = fault.InStripe(err, st.index)
	var value *stripe.ValueError
	if errors.As(err, &value) && len(sc.columns[i].Children) == 0 {
		return fmt.Errorf("row %d of the shard: %w", st.stripe.Position()+value.Row, err)
	}
	return err
}

// close ends the scan: it stops the workers, waits for them, and drops what they
// made.
func (sc *scanner) close() {
	sc.cancel()
	sc.mu.Lock()
	sc.ended = true
	sc.changed.Broadcast()
	sc.mu.Unlock()
	sc.workers.Wait()
	for _, j := range slices.Concat(sc.queue, sc.split) {
		j.release()
	}
	sc.queue, sc.split, sc.open = nil, nil, nil
	sc.ballast.end()
	if sc.recycler != nil {
		sc.recycler.Close()
	}
}
