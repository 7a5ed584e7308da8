package scan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// scanner decodes the batches of a scan, in the goroutine of its caller or in workers. After the first step, only the queue,
// the types that lock (see the package comment), and the fields of the caller's goroutine change.
type scanner struct {
	table      table.Table
	o          Options
	ctx        context.Context
	cancel     context.CancelFunc
	columns    []table.Column
	schema     *arrow.Schema
	lengths    []bool            // by column: the result has the lengths of its values
	fills      bool              // gaps between rows may be filled
	filter     *rowfilter.Filter // nil if all rows are wanted
	coalesce   storage.CoalesceOptions
	prefetcher stripePrefetcher
	stats      *runStats // nil unless the scan is analyzed
	recycler   *arrowutil.Recycler
	budget     budget
	queue      queue
	workers    sync.WaitGroup

	// Of the caller's goroutine:
	chooses bool // the options leave the number of rows of a batch to the scan
	begun   bool
	started bool
	left    int64 // rows that the result may still have
}

func newScanner(ctx context.Context, t table.Table, o Options) (*scanner, error) {
	chooses := o.BatchRows == 0
	if err := o.setDefaults(t); err != nil {
		return nil, err
	}
	p, err := t.Project(ctx, o.Columns)
	if err != nil {
		return nil, err
	}
	filter := o.bound
	if filter == nil {
		if filter, err = rowfilter.Bind(ctx, t, o.Filter); err != nil {
			return nil, err
		}
	}
	if o.Rows == nil {
		o.Rows = []rowset.Range{{To: t.NumRows()}}
	}
	p = table.WithDecimals64(table.WithDictionaries(o.Strings.Apply(p), o.Coded), o.Decimals64)
	sc := &scanner{table: t, o: o, columns: p.Columns, schema: p.Schema, filter: filter, left: o.Limit, chooses: chooses}
	sc.measure(p)
	sc.fills = sc.mayFill()
	sc.coalesce = table.Coalesce(ctx, t, o.FetchGap, o.FetchBytes)
	sc.coalesce.Limit = min(sc.coalesce.Limit, o.MemoryLimit/4)
	sc.budget.limit = o.MemoryLimit
	sc.recycler = arrowutil.NewRecycler(o.Allocator, o.MemoryLimit)
	if o.Reuse {
		sc.o.Allocator = sc.recycler
	} else {
		sc.o.Allocator = arrowutil.Chunks(o.Allocator, sc.recycler)
	}
	sc.ctx, sc.cancel = context.WithCancel(ctx)
	return sc, nil
}

// begin plans the scan at the first step.
func (sc *scanner) begin() error {
	if sc.begun {
		return nil
	}
	sc.begun = true
	if err := sc.narrow(); err != nil {
		return err
	}
	sc.setQueue()
	return sc.chooseBatchRows()
}

// narrow asks the indexes of the whole table. If these leave few rows, the scan is of them alone, in the goroutine of the caller: workers take longer to start.
func (sc *scanner) narrow() error {
	if sc.filter == nil || sc.o.Disable&source.Indexes != 0 {
		return nil
	}
	left, err := sc.filter.Indexed(sc.ctx)
	if err != nil || left == nil || left.Maybe.Len() > rowfilter.FewRows {
		return err
	}
	rows := []rowset.Range{} // not nil, which is all
	for _, r := range sc.o.Rows {
		rows = slices.AppendSeq(rows, left.Maybe.Clip(r.From, r.To).Ranges())
	}
	if sc.o.Rows = rows; !sc.windows() {
		sc.o.Parallelism = 1
	}
	return nil
}

// windows reports whether bytes of several batches are read together.
func (sc *scanner) windows() bool { return sc.coalesce.Gap > 0 }

func (sc *scanner) setQueue() {
	n := max(len(sc.columns), 1)
	q := &sc.queue
	q.ctx, q.budget, q.asReady, q.columns, q.filters = sc.ctx, &sc.budget, sc.o.AsReady, len(sc.columns), sc.filter != nil
	q.chunk = max(1, n/(8*sc.o.Parallelism))
	q.window = 1 + (sc.o.Parallelism+n-1)/n
	if sc.filter != nil || sc.o.AsReady {
		q.window = 1 + sc.o.Parallelism // a job may wait for its rows to be filtered, or for bytes
	}
	if q.single = q.columns == 0 && !q.filters || sc.o.Parallelism == 1 && !sc.windows(); q.single {
		q.window = 1
	}
	q.average = sc.o.DecodeBytes
	if sc.windows() {
		q.waits, q.turns, q.coming, q.most = true, sc.o.Parallelism, sc.coalesce.Limit, sc.coalesce.Limit
		q.storedRow = sc.table.StoredBytes()/max(sc.table.NumRows(), 1) + 1
		q.rowBytes = 4*q.storedRow + 16*int64(len(sc.columns))
		if q.filters {
			q.filterRow = 4*q.storedRow + 16*int64(len(sc.filter.Paths()))
		}
		if sc.o.Limit == math.MaxInt64 {
			q.window = inFlight
		}
	}
	q.plan = sc.newPlan()
	q.changed.L = &q.mu
	q.open = func(t task) *stripeScan { return newStripeScan(sc, t.stripe, t.shown) }
	q.make = sc.newJob
}

// next is the next batch, which the caller releases, and its job. After the last one there is none.
func (sc *scanner) next() (j *job, batch arrow.RecordBatch, err error) {
	if err := sc.begin(); err != nil {
		return nil, nil, err
	}
	for batch == nil && err == nil && sc.left > 0 {
		if j, err = sc.take(); err != nil || j == nil {
			return nil, nil, err
		}
		if batch, err = sc.finish(j); batch == nil {
			sc.queue.release(j.size)
		}
	}
	return j, batch, err
}

// take is the next job that is done, or nil after the last one.
func (sc *scanner) take() (*job, error) {
	if sc.queue.single {
		sc.work()
	} else {
		sc.start()
	}
	return sc.queue.take()
}

// newJob makes a job of rows that are filtered, or are yet to be.
func (sc *scanner) newJob(t task, st *stripeScan, rows rowset.Set, filtered bool) *job {
	j := &job{task: t, stripe: st, rows: rows, filtered: filtered, arrays: make([]arrow.Array, len(sc.columns))}
	j.fetch = sync.OnceValues(func() (storage.Prefetched, error) { return sc.fetchColumns(j) })
	return j
}

// start starts the workers at the first step.
func (sc *scanner) start() {
	if sc.started {
		return
	}
	sc.started = true
	n := sc.o.Parallelism
	if sc.windows() {
		n = sc.queue.window + 2*n // a job waits for its bytes while others decode
	}
	for range n {
		sc.workers.Go(sc.work)
	}
}

// work does what there is to do.
func (sc *scanner) work() {
	for {
		w, ok := sc.queue.claim()
		if !ok {
			return
		}
		var err error
		switch {
		case w.filter:
			err = sc.filterRows(w.job)
		case w.fetch:
			_, _ = w.job.fetch() // an error comes again where a column needs the bytes
		}
		for i := w.from; i < w.to && err == nil && !w.failed; i++ {
			err = sc.decode(w.job, i)
		}
		sc.queue.finish(w, err)
	}
}

// decode decodes one column of a job.
func (sc *scanner) decode(j *job, i int) (err error) {
	defer fault.Recover(&err)
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	if sc.stats != nil {
		defer sc.stats.decode.since(time.Now())
	}
	if err := sc.read(j, i); err != nil || j.stripe.shown == nil || !kinds.HasID(j.arrays[i].DataType(), arrow.DICTIONARY) {
		return err
	}
	stored := j.arrays[i]
	defer stored.Release()
	j.arrays[i], err = table.OnlyUsed(sc.o.Allocator, stored)
	return sc.place(err, j.stripe)
}

// read reads one column of a job.
func (sc *scanner) read(j *job, i int) (err error) {
	values, err := sc.decoded(j, &sc.columns[i])
	if values != nil && sc.lengths[i] {
		defer values.Release()
		values, err = arrowutil.Lengths(sc.o.Allocator, values)
	}
	if j.arrays[i] = values; values != nil || err != nil {
		return sc.place(err, j.stripe)
	}
	fetched, err := j.fetch()
	if err != nil {
		return sc.place(err, j.stripe)
	}
	if err := sc.queue.begin(j, false); err != nil {
		return err
	}
	defer sc.queue.end()
	c, err := j.stripe.column(sc.ctx, i, j.last)
	if err == nil {
		o := sc.readOptions(j)
		o.Prefetched = fetched
		switch {
		case sc.lengths[i]:
			j.arrays[i], err = readLengths(sc.ctx, c, j.rows, &o)
		case sc.fills && j.rows.Fillable():
			j.arrays[i], err = readFilled(sc.ctx, c, j.rows, &o)
		default:
			j.arrays[i], err = c.Read(sc.ctx, j.rows, &o)
		}
		sc.stats.open(j.stripe.index, sc.columns[i].ID, c)
	}
	return sc.place(err, j.stripe)
}

// readOptions are the options for reading the rows of a job. An array of a single row has no limit, because it cannot be
// split.
func (sc *scanner) readOptions(j *job) table.ReadOptions {
	o := table.ReadOptions{Allocator: sc.o.Allocator, MaxArrayBytes: sc.o.MemoryLimit, Counters: sc.stats.counters()}
	if j.rows.Len() == 1 {
		o.MaxArrayBytes = 0
	}
	return o
}

// place adds the stripe to an error, and the row if the error is about one row.
func (sc *scanner) place(err error, st *stripeScan) error {
	if err == nil || sc.ctx.Err() != nil && errors.Is(err, sc.ctx.Err()) {
		return err
	}
	var row *table.RowError
	if errors.As(err, &row) {
		err = row.Err
	}
	err = fault.InStripe(err, st.index)
	if row != nil {
		return fmt.Errorf("row %d of the table: %w", st.stripe.Position()+row.Row, err)
	}
	return err
}

// finish makes the batch of a job that is done, cut at the limit of the scan. If the filter leaves no row, there is neither batch nor error.
func (sc *scanner) finish(j *job) (arrow.RecordBatch, error) {
	defer j.release()
	n := j.rows.Len()
	if j.err != nil || n == 0 {
		return nil, j.err
	}
	batch := array.NewRecordBatch(sc.schema, j.arrays, n)
	if n > sc.left {
		defer batch.Release()
		batch, n = batch.NewSlice(0, sc.left), sc.left
		j.rows, _ = j.rows.Split(n)
	}
	sc.left -= n
	return batch, nil
}

// close ends the scan: it stops the workers, waits for them, and drops what they made.
func (sc *scanner) close() {
	sc.cancel()
	sc.queue.close()
	sc.workers.Wait()
	for _, j := range sc.queue.clear() {
		j.release()
	}
	sc.recycler.Close()
}
