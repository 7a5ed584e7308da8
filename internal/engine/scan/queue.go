package scan

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// queue holds the unfinished jobs of a scan, in the order of the plan, and assigns work to workers. A new job joins when no
// other has work left, unless the queue is full or the budget is used up. The error of a job is returned when it is the
// turn of the job.
type queue struct {
	ctx       context.Context
	budget    *budget
	asReady   bool  // jobs leave in any order
	columns   int   // of a job
	filters   bool  // jobs are filtered first
	chunk     int   // of these a worker takes at a time
	window    int   // most jobs in the queue
	single    bool  // the one who takes jobs also works on them, as long as none may leave
	waits     bool  // requests are slow, so that most of those who work wait for them
	storedRow int64 // bytes of a row as stored
	filterRow int64 // most bytes of a row that the filter decodes
	turns     int   // of those who work, so many decode at the same time
	coming    int64 // most bytes that a job reads, as far as it is known: at most most
	most      int64
	known     bool                   // storedRow and coming are those of the columns that are read
	open      func(task) *stripeScan // opens the stripe of a task
	make      func(t task, st *stripeScan, rows rowset.Set, filtered bool) *job

	mu       sync.Mutex
	changed  sync.Cond
	plan     *plan
	jobs     []*queued
	current  *stripeScan // of the newest job
	held     int64       // bytes of a batch that left, of which some rows may still be to be given
	newest   int64       // row that the newest job begins at
	average  int64       // bytes of a batch, of late
	rowBytes int64       // of a row, of late
	decoding int         // of those who work
	claimed  int         // of those who work, so many decode, or wait to decode, columns
	planned  bool        // the plan has no more tasks
	ended    bool
}

// inFlight is the number of jobs in the queue if requests are slow, of those who work on them, and so of requests: it does not depend on the number of
// processors. What jobs read and decode is limited by the budget.
const inFlight = 128

// queued is a job in the queue with its progress.
type queued struct {
	*job
	stage   stage
	next    int // first column that no worker has taken
	pending int // columns that are not decoded
	err     error
	errAt   int // first column of the work that failed
}

// stage is the progress of a job.
type stage uint8

const (
	toFilter stage = iota
	filtering
	toFetch // if requests are slow, and not while a column is decoded: all jobs ask for their bytes at once
	fetching
	toDecode
)

// done reports whether a job has its batch, or its error.
func (j *queued) done() bool { return j.stage == toDecode && j.pending == 0 }

// work is the unit of work of a worker: to filter the rows of a job, to fetch the bytes of its columns, or to decode those from from up to to.
type work struct {
	*queued
	filter   bool
	fetch    bool
	from, to int
	failed   bool // the job has failed before: nothing is to be done
}

func (q *queue) queued(j *job) *queued {
	out := &queued{job: j, pending: q.columns}
	if j.filtered {
		out.stage = q.afterFilter()
	}
	return out
}

func (q *queue) afterFilter() stage {
	if q.waits && q.columns > 0 {
		return toFetch
	}
	return toDecode
}

// release gives the bytes of a batch that left back to the budget.
func (q *queue) release(bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held -= bytes
	q.budget.batches.Add(-bytes)
	q.changed.Broadcast()
}

// take waits for the job that leaves next, and removes it. It returns none after the last one. The bytes of its batch count until they are released.
func (q *queue) take() (*job, error) {
	stop := context.AfterFunc(q.ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.ctx.Err() != nil {
			return nil, context.Cause(q.ctx)
		}
		if i := q.ready(); i >= 0 {
			j := q.jobs[i]
			q.jobs = slices.Delete(q.jobs, i, i+1)
			q.held += j.size
			q.changed.Broadcast()
			j.job.err = j.err
			return j.job, nil
		}
		if len(q.jobs) == 0 && q.planned {
			return nil, nil
		}
		q.changed.Wait()
	}
}

// ready is the index of a job that may leave, or -1.
func (q *queue) ready() int {
	for i, j := range q.jobs {
		if j.done() {
			return i
		}
		if !q.asReady {
			break
		}
	}
	return -1
}

// addNext adds a job of the next task. It reports false after the last one.
func (q *queue) addNext() bool {
	t, ok := q.plan.next()
	if !ok {
		return false
	}
	if t.err != nil {
		q.jobs = append(q.jobs, &queued{job: &job{task: t}, stage: toDecode, next: q.columns, err: t.err})
		return true
	}
	last := q.current
	if last == nil || last.index != t.stripe {
		q.current = q.open(t)
	}
	if q.newest = t.from; last != nil {
		q.dropWindows(last)
	}
	j := q.make(t, q.current, t.all, !q.filters)
	if q.waits {
		j.coming = q.stored(t)
		j.stripe.windows.expect(j.coming)
	}
	q.jobs = append(q.jobs, q.queued(j))
	return true
}

// claim waits for work. ok is false when there will be no more, or none before a job leaves.
func (q *queue) claim() (w work, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.ended || q.ctx.Err() != nil || q.single && q.ready() >= 0 {
			return work{}, false
		}
		w, waiting := q.find()
		switch {
		case w.queued != nil:
			return w, true
		case q.planned && !waiting:
			return work{}, false
		case q.planned || !q.room():
			q.changed.Wait()
		default:
			q.planned = !q.addNext()
			q.changed.Broadcast()
		}
	}
}

// find finds work on the jobs in the queue. waiting tells that there may be more work once the rows of a job are filtered.
func (q *queue) find() (w work, waiting bool) {
	for i, j := range q.jobs {
		switch {
		case j.stage == toFilter:
			j.stage = filtering
			return work{queued: j, filter: true}, false
		case j.stage == toFetch:
			j.stage = fetching
			return work{queued: j, fetch: true}, false
		case j.stage == filtering || j.stage == fetching:
			waiting = true
		case j.next < q.columns && q.waits && q.claimed >= q.turns && (i > 0 || q.claimed >= 2*q.turns):
			waiting = true // the first may go on if others wait for room
		case j.next < q.columns:
			q.claimed++
			from := j.next
			j.next = min(from+q.share(), q.columns)
			return work{queued: j, from: from, to: j.next, failed: j.err != nil}, false
		}
	}
	return work{}, waiting
}

// share is the number of columns of a job that a worker takes. If jobs may leave in any order, and there are other jobs, it
// takes all: bytes that are late then delay only one worker.
func (q *queue) share() int {
	if q.asReady && !q.waits && !q.planned && !q.plan.ended {
		return q.columns
	}
	return q.chunk
}

// learn takes the number of stored bytes of the columns that are read, of a stripe. That of all columns, which was assumed before, keeps jobs from
// beginning that there is room for.
func (q *queue) learn(bytes, rows int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known {
		q.coming = max(q.coming, min(bytes, q.most))
		return
	}
	q.known, q.storedRow, q.coming = true, bytes/max(rows, 1)+1, min(bytes, q.most)
	for _, j := range q.jobs {
		if less := j.coming - q.stored(j.task); less > 0 {
			j.stripe.windows.expect(-less)
			j.coming -= less
		}
	}
	q.changed.Broadcast()
}

// stored is about the number of stored bytes of the rows of a task.
func (q *queue) stored(t task) int64 { return min(t.all.Len()*q.storedRow, q.coming) }

// begin waits until fewer than Parallelism others decode, and there is room for what a job decodes, or its filter. The oldest job needs no room.
func (q *queue) begin(j *job, filter bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.waits {
		bytes := int64(0)
		if j.counted == 0 {
			bytes = j.rows.Len() * q.rowBytes
		}
		need := 2*bytes + q.coming // which leaves room for what that one reads and decodes
		if filter {
			bytes = min(bytes, j.rows.Len()*q.filterRow)
			need = bytes + q.coming
		}
		switch {
		case q.ctx.Err() != nil:
			return context.Cause(q.ctx)
		case q.ended:
			return context.Canceled
		case q.decoding < q.turns && (len(q.jobs) > 0 && q.jobs[0].job == j && q.held == 0 || q.budget.allows(need)):
			j.counted += bytes
			q.budget.batches.Add(bytes)
			q.decoding++
			return nil
		}
		q.changed.Wait()
	}
	return nil
}

// end ends what a call of begin began.
func (q *queue) end() {
	if q.waits {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.decoding--
		q.changed.Broadcast()
	}
}

// room reports whether another job may join.
func (q *queue) room() bool {
	if len(q.jobs) == 0 && q.held == 0 {
		return true
	}
	if q.waits {
		return len(q.jobs) < q.window && q.budget.allows(q.stored(q.plan.ahead)+max(3*q.coming, min(q.coming+q.plan.ahead.all.Len()*q.filterRow, q.budget.limit/4))) // as begin asks for
	}
	pending := int64(1)
	for _, j := range q.jobs {
		if !j.done() {
			pending++
		}
	}
	return len(q.jobs) < q.window && q.budget.allows(pending*q.average)
}

// finish records that work is done, or has failed. The error of a job is that of the first column that fails, whichever is decoded first: columns
// are claimed in order.
func (q *queue) finish(w work, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := w.queued
	if err != nil && (j.err == nil || w.from < j.errAt) {
		j.err, j.errAt = err, w.from
	}
	j.pending -= w.to - w.from
	switch {
	case w.filter:
		q.filtered(j)
	case w.fetch:
		j.stage = toDecode
		q.changed.Broadcast()
	default:
		q.claimed--
		q.changed.Broadcast()
	}
	if j.done() && !q.halve(j) {
		q.decoded(j)
	}
}

// halve replaces a job whose batch is too large by jobs of half the rows each. It reports false for all others.
func (q *queue) halve(j *queued) bool {
	n := j.rows.Len()
	if !errors.Is(j.err, fault.ErrBatchTooLarge) || n <= 1 {
		return false
	}
	rows, rest := j.rows.Split(n / 2)
	t := j.task
	t.last = false
	halves := []*job{q.make(t, j.stripe, rows, j.filtered), q.make(j.task, j.stripe, rest, j.filtered)}
	at := slices.Index(q.jobs, j)
	q.jobs = slices.Delete(q.jobs, at, at+1)
	for i, half := range halves {
		if j.filtered {
			half.fetch = j.fetch
		}
		q.jobs = slices.Insert(q.jobs, at+i, q.queued(half))
	}
	q.budget.batches.Add(-j.counted)
	q.dropRead(j.job)
	j.release()
	q.changed.Broadcast()
	return true
}

// filtered records that the rows of a job are filtered, or that this failed. The jobs of the rows that it has left out are
// queued behind it.
func (q *queue) filtered(j *queued) {
	j.stage = q.afterFilter()
	if j.err != nil || j.rows.Empty() {
		j.stage, j.pending, j.next = toDecode, 0, q.columns // nothing to decode
	}
	if q.waits {
		left := j.rows.Len() * q.rowBytes
		q.budget.batches.Add(left - j.counted)
		j.counted = left
	}
	at := slices.Index(q.jobs, j) + 1
	for i, f := range j.following {
		q.jobs = slices.Insert(q.jobs, at+i, q.queued(f))
	}
	j.following = nil
	q.changed.Broadcast()
}

// decoded records that a job is done.
func (q *queue) decoded(j *queued) {
	j.size = j.bytes()
	q.budget.batches.Add(j.size - j.counted)
	q.average = j.size
	if n := j.rows.Len(); 64*n > j.all.Len() { // the bytes of few rows are mostly those of columns
		q.rowBytes = j.size/n + 1
	}
	q.dropRead(j.job)
	q.changed.Broadcast()
}

// dropRead drops the bytes that were read ahead for a job.
func (q *queue) dropRead(j *job) {
	q.budget.ahead.Add(-j.read)
	j.stripe.windows.expect(-j.coming)
	j.read, j.coming = 0, 0
	q.dropWindows(j.stripe)
}

// dropWindows drops the bytes that were read ahead of a stripe, except those that its jobs, and the next ones, may need.
func (q *queue) dropWindows(st *stripeScan) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	if st == q.current {
		first, last = q.newest, q.newest
	}
	for _, j := range q.jobs {
		if j.stripe == st && !j.done() {
			first, last = min(first, j.from), max(last, j.from)
		}
	}
	st.windows.keep(first, last)
}

// close ends the queue, also for workers that wait for work.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Broadcast()
}

// clear empties a queue that is closed and without workers.
func (q *queue) clear() (rest []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.jobs {
		rest = append(rest, j.job)
	}
	q.jobs, q.current = nil, nil
	return rest
}

// budget counts the bytes that a scan holds in addition to the batch that its caller has.
type budget struct {
	limit   int64
	batches atomic.Int64 // of decoded batches in the queue
	ahead   atomic.Int64 // that were read ahead of decoding
}

// used is the number of bytes that are held.
func (b *budget) used() int64 { return b.batches.Load() + b.ahead.Load() }

// allows reports whether a number of further bytes stays within the limit.
func (b *budget) allows(bytes int64) bool { return b.used()+bytes <= b.limit }
