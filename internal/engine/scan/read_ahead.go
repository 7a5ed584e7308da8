package scan

import (
	"math"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// readWindows are the bytes of a stripe that a scan has read ahead: those for opening columns, and read windows of the
// columns of the filter and of the result.
//
//	bytes of the stripe     |a......|b...|c............|
//	rows of a window           ###     ##      ####        gaps between are read too if small
//	batches                    123     123     123
type readWindows struct {
	scan           *scanner
	filter, result windowList

	mu     sync.Mutex
	open   int64 // bytes that were read to open columns
	coming int64 // that jobs will probably read, and that are not read yet
}

// windowList are the windows of some columns.
type windowList struct {
	all    *readWindows
	opened func() (storage.Prefetched, error) // bytes that were read to open the columns

	sized sync.Once
	rows  int64 // of a window

	windows []*readWindow // that may be needed; locked by all
}

// readWindow is the bytes of some columns for some rows. Jobs that decode from it hold it.
type readWindow struct {
	rows    rowset.Range
	size    int64 // of its bytes, as far as it is known; locked by the readWindows
	dropped bool
	fetch   func() (storage.Prefetched, error) // reads once
}

func (w *readWindows) init(sc *scanner) {
	w.scan = sc
	w.filter.all, w.result.all = w, w
}

// addOpened counts bytes that were read to open columns.
func (w *readWindows) addOpened(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += n
	w.add(n)
}

// expect counts bytes that a job will probably read, or, less than 0, those of a job that needs them no more.
func (w *readWindows) expect(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = max(n, -w.coming)
	w.coming += n
	w.scan.budget.ahead.Add(n)
}

// add counts bytes that are read. Those that were expected are counted already.
func (w *readWindows) add(n int64) {
	expected := max(min(w.coming, n), 0)
	w.coming -= expected
	w.scan.budget.ahead.Add(n - expected)
}

// keep drops all windows except those for jobs that begin at rows from first to last, and the window that follows. It drops
// all if there is no such job.
func (w *readWindows) keep(first, last int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	none := first == math.MaxInt64
	for _, l := range []*windowList{&w.filter, &w.result} {
		l.windows = slices.DeleteFunc(l.windows, func(q *readWindow) bool {
			q.dropped = none || q.rows.To <= first || q.rows.From > last+q.rows.Len()
			if q.dropped {
				w.scan.budget.ahead.Add(-q.size)
			}
			return q.dropped
		})
	}
	if none {
		w.scan.budget.ahead.Add(-w.open - w.coming)
		w.open, w.coming = 0, 0
	}
}

// charge counts the bytes of a window in the budget.
func (w *readWindows) charge(q *readWindow, size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !q.dropped {
		w.add(size - q.size)
		q.size = size
	}
}

// fetch reads the bytes of n columns for the rows of a job and of those that follow, unless an earlier job has read them.
// open opens column i. wanted are the rows of the stripe that the scan may read.
func (l *windowList) fetch(j *job, n int, wanted rowset.Set, open func(i int) (table.ColumnReader, error)) (storage.Prefetched, error) {
	if n == 0 || j.rows.Empty() {
		return nil, nil
	}
	columns := make([]table.ColumnReader, n)
	for i := range columns {
		var err error
		if columns[i], err = open(i); err != nil {
			return nil, err
		}
	}
	l.sized.Do(func() { l.rows = l.windowRows(j.stripe.stripe.Rows(), columns) })
	number := j.rows.Bounds().From / l.rows
	return l.window(number, columns, wanted).fetch()
}

// windowRows is the number of rows of a window: those of as many batches as fit into one read.
func (l *windowList) windowRows(rows int64, columns []table.ColumnReader) int64 {
	sc := l.all.scan
	var all []storage.ByteRange
	for _, c := range columns {
		all = c.AppendRanges(all, rowset.All(rows))
	}
	batch := int64(sc.o.BatchRows)
	perBatch := storage.TotalSize(all)/max(rows/batch, 1) + 1
	return batch * max(sc.coalesce.Limit/perBatch, 1)
}

// window is the window with a number.
func (l *windowList) window(number int64, columns []table.ColumnReader, wanted rowset.Set) *readWindow {
	rows := rowset.Range{From: number * l.rows, To: (number + 1) * l.rows}
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	for _, q := range l.windows {
		if q.rows == rows {
			return q
		}
	}
	q := &readWindow{rows: rows}
	q.fetch = sync.OnceValues(func() (storage.Prefetched, error) { return l.read(q, columns, wanted.Clip(rows.From, rows.To)) })
	l.windows = append(l.windows, q)
	return q
}

// read reads the bytes of a window, except those that were read to open its columns.
func (l *windowList) read(q *readWindow, columns []table.ColumnReader, rows rowset.Set) (f storage.Prefetched, err error) {
	defer fault.Recover(&err)
	have, err := l.opened()
	if err != nil {
		return nil, err
	}
	var ranges []storage.ByteRange
	for _, c := range columns {
		ranges = c.AppendRanges(ranges, rows)
	}
	l.all.charge(q, storage.TotalSize(ranges))
	f, err = storage.Prefetch(l.all.scan.ctx, have.Missing(ranges), l.all.scan.coalesce)
	l.all.charge(q, f.Size())
	return slices.Concat(have, f), err
}
