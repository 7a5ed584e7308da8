package scan

import (
	"github.com/amudai/amudai-go/internal/engine/table"

	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// Scanner is a scan that advances step by step.
type Scanner struct{ sc *scanner }

// NewScanner begins a scan.
func NewScanner(ctx context.Context, t table.Table, o Options) (Scanner, error) {
	sc, err := newScanner(ctx, t, o)
	return Scanner{sc}, err
}

// Next returns the next batch, or none after the last one.
func (s Scanner) Next() (arrow.RecordBatch, error) {
	j, b, err := s.sc.next()
	if b != nil {
		s.sc.queue.release(j.size)
	}
	return b, err
}

// Held returns the bytes that the scan holds, those of them that were read ahead, and the number of read windows with
// such bytes.
func (s Scanner) Held() (all, ahead int64, windows int) {
	q := &s.sc.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &q.current.windows
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.sc.budget.used(), s.sc.budget.ahead.Load(), len(w.result.windows) + len(w.filter.windows)
}

// Leave drops the read-ahead of the last stripe, as the next stripe would.
func (s Scanner) Leave() {
	q := &s.sc.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	last := q.current
	q.current = nil
	q.dropWindows(last)
}

// AheadAfter returns the bytes that are still counted as read ahead.
func (s Scanner) AheadAfter() int64 { return s.sc.budget.ahead.Load() }

// Close ends the scan.
func (s Scanner) Close() { s.sc.close() }
