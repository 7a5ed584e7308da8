package scan

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// stripeScan is a stripe during a scan. Columns are opened when they are first needed. The bytes for that are read for a
// group of columns at a time.
type stripeScan struct {
	scan    *scanner
	index   int
	stripe  table.Stripe
	shown   *rowset.Set                          // the visible rows; nil: all
	groups  []func() (storage.Prefetched, error) // each reads once what opening its columns takes
	slots   []columnSlot
	filter  func() (*rowfilter.Stripe, error) // made once
	windows readWindows
	looked  atomic.Pointer[storage.Prefetched] // what was read to open the filter's columns
}

// columnSlot is a column that is opened at most once at a time.
type columnSlot struct {
	mu     sync.Mutex
	column table.ColumnReader
}

func newStripeScan(sc *scanner, index int, shown *rowset.Set) *stripeScan {
	n := len(sc.columns)
	s := &stripeScan{
		scan: sc, index: index, stripe: sc.table.Stripe(index), shown: shown,
		groups: make([]func() (storage.Prefetched, error), (n+table.GroupSize-1)/table.GroupSize),
		slots:  make([]columnSlot, n),
	}
	for g := range s.groups {
		s.groups[g] = sync.OnceValues(func() (storage.Prefetched, error) { return s.prefetchGroup(sc.ctx, g) })
	}
	s.filter = sync.OnceValues(func() (*rowfilter.Stripe, error) {
		if sc.stats != nil {
			defer sc.stats.prune.since(time.Now())
		}
		return sc.filter.Stripe(sc.ctx, s.stripe, rowfilter.Options{
			Disable:          sc.o.Disable,
			PrefetchMetadata: func(ctx context.Context) error { return sc.prefetchStripes(ctx, index) },
			PrefetchToOpen: func(ctx context.Context, columns []table.Column) (storage.Prefetched, error) {
				f, err := s.prefetchToOpen(ctx, columns, table.ToFilter)
				s.looked.Store(&f)
				return f, err
			},
		})
	})
	s.windows.init(sc)
	s.windows.result.opened = s.opened
	s.windows.filter.opened = func() (storage.Prefetched, error) {
		f, err := s.filter()
		if err != nil {
			return nil, err
		}
		return f.Prefetched()
	}
	return s
}

// column opens column i of the result. With last it is not kept for another call.
func (s *stripeScan) column(ctx context.Context, i int, last bool) (table.ColumnReader, error) {
	slot := &s.slots[i]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	c := slot.column
	if c == nil {
		var err error
		keep := s.scan.filter != nil || len(s.scan.o.Rows) > 1 // it may be read for a few rows only, now and by other scans
		if c, err = s.stripe.Open(ctx, &s.scan.columns[i], keep, s.groups[i/table.GroupSize]); err != nil {
			return nil, err
		}
		slot.column = c
	}
	if last {
		slot.column = nil
	}
	return c, nil
}

// prefetchGroup reads the metadata of a group of columns, and the bytes for opening them. Errors about the content of one of
// them are left to its opening.
func (s *stripeScan) prefetchGroup(ctx context.Context, group int) (storage.Prefetched, error) {
	columns := s.scan.columns[group*table.GroupSize : min((group+1)*table.GroupSize, len(s.scan.columns))]
	if err := s.scan.prefetchStripes(ctx, s.index); err != nil {
		return nil, err
	}
	if err := s.stripe.PrefetchMetadata(ctx, columns); err != nil {
		return nil, err
	}
	return s.prefetchToOpen(ctx, columns, table.ToOpen)
}

// opened is the bytes that were read to open the columns of the result.
func (s *stripeScan) opened() (all storage.Prefetched, err error) {
	for _, g := range s.groups {
		f, err := g()
		if err != nil {
			return nil, err
		}
		all = append(all, f...)
	}
	return all, nil
}
