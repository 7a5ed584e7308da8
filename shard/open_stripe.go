package shard

import (
	"context"
	"sync"
	"time"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/read"
)

// openStripe holds the open columns of a stripe during a scan. Columns are opened
// when they are needed first; their descriptors are read in groups.
type openStripe struct {
	sc     *scanner
	index  int
	stripe *shardfile.Stripe
	groups []func() (storage.Prefetched, error) // each reads once what opening its columns takes
	slots  []columnSlot
	filter func() (*stripeFilter, error) // made once
	chosen portions                      // of the filter's columns
	result portions                      // of the result's
	newest int64                         // where the last of its jobs begins
	held   int64                         // bytes that were read to open columns
}

type columnSlot struct {
	mu     sync.Mutex
	column *read.Column
}

// groupSize is how many columns' descriptors are read at a time. It is so small
// that they are still in the cache when they are used.
const groupSize = 512

func newOpenStripe(sc *scanner, index int) *openStripe {
	n := len(sc.columns)
	s := &openStripe{
		sc: sc, index: index, stripe: sc.shard.file.Stripe(index),
		groups: make([]func() (storage.Prefetched, error), (n+groupSize-1)/groupSize),
		slots:  make([]columnSlot, n),
	}
	for g := range s.groups {
		s.groups[g] = sync.OnceValues(func() (storage.Prefetched, error) { return s.prefetch(sc.ctx, g) })
	}
	s.filter = sync.OnceValues(func() (*stripeFilter, error) {
		if sc.stats != nil {
			defer func(start time.Time) { sc.stats.prune.Add(int64(time.Since(start))) }(time.Now())
		}
		return newStripeFilter(sc.ctx, s)
	})
	s.result.opened = s.opened
	s.chosen.opened = func() (storage.Prefetched, error) {
		f, err := s.filter()
		if err != nil {
			return nil, err
		}
		return f.bytes()
	}
	return s
}

// column opens column i. With limit 0 it has no limit for the bytes of an array.
// last says that nobody will ask for it again.
func (s *openStripe) column(ctx context.Context, i int, limit int64, last bool) (*read.Column, error) {
	slot := &s.slots[i]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	c := slot.column
	if c == nil {
		var err error
		keep := s.sc.filter != nil // it may be read for a few rows only, now and by other scans
		if c, err = s.sc.shard.openColumn(ctx, s.index, &s.sc.columns[i], keep, s.groups[i/groupSize]); err != nil {
			return nil, err
		}
		slot.column = c
		s.sc.stats.open(s.index, s.sc.columns[i].ID, c)
	}
	if last {
		slot.column = nil
	}
	return c.With(read.Options{Allocator: s.sc.o.Allocator, MaxArrayBytes: limit, Counters: s.sc.stats.counters()}), nil
}

// prefetch reads the descriptors of a group of columns, and what opening them takes.
// What is wrong with one of them is found when its column is opened.
func (s *openStripe) prefetch(ctx context.Context, group int) (storage.Prefetched, error) {
	columns := s.sc.columns[group*groupSize : min((group+1)*groupSize, len(s.sc.columns))]
	var ids []uint32
	for i := range columns {
		ids = appendIDs(ids, &columns[i])
	}
	if err := s.sc.readLists(ctx, s.index); err != nil {
		return nil, err
	}
	if err := s.stripe.Prefetch(ctx, ids); err != nil {
		return nil, err
	}
	return s.fetchToOpen(ctx, columns, read.ToOpen)
}

func appendIDs(ids []uint32, c *arrowmap.Column) []uint32 {
	ids = append(ids, c.ID)
	for i := range c.Children {
		ids = appendIDs(ids, &c.Children[i])
	}
	return ids
}
