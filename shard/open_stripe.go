package shard

import (
	"context"
	"sync"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/shardfile"
	"github.com/amudai/amudai-go/stripe"
)

// openStripe holds the open columns of a stripe during a scan. Columns are opened
// when they are needed first; their descriptors are read in groups.
type openStripe struct {
	sc     *scanner
	index  int
	stripe *shardfile.Stripe
	groups []func() error // each prefetches once
	slots  []columnSlot
}

type columnSlot struct {
	mu     sync.Mutex
	column *stripe.Column
}

// groupSize is how many columns' descriptors are read at a time. It is so small
// that they are still in the cache when they are used.
const groupSize = 512

func newOpenStripe(sc *scanner, index int) *openStripe {
	n := len(sc.columns)
	s := &openStripe{
		sc: sc, index: index, stripe: sc.shard.file.Stripe(index),
		groups: make([]func() error, (n+groupSize-1)/groupSize),
		slots:  make([]columnSlot, n),
	}
	for g := range s.groups {
		s.groups[g] = sync.OnceValue(func() error { return s.prefetch(sc.ctx, g) })
	}
	return s
}

// column opens column i. With limit 0 it has no limit for the bytes of an array.
// last says that nobody will ask for it again.
func (s *openStripe) column(ctx context.Context, i int, limit int64, last bool) (*stripe.Column, error) {
	slot := &s.slots[i]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	c := slot.column
	if c == nil || limit == 0 {
		if err := s.groups[i/groupSize](); err != nil {
			return nil, err
		}
		o := stripe.ReadOptions{
			Allocator:     s.sc.o.Allocator,
			MaxBlockBytes: s.sc.shard.o.MaxBlockBytes, MaxDictionaryBytes: s.sc.shard.o.MaxDictionaryBytes,
			MaxArrayBytes: limit,
		}
		var err error
		if c, err = stripe.OpenColumn(ctx, s.stripe, s.sc.columns[i], o); err != nil {
			return nil, err
		}
		if limit != 0 {
			slot.column = c
		}
	}
	if last {
		slot.column = nil
	}
	return c, nil
}

// prefetch reads the descriptors of a group of columns. What is wrong with one of
// them is found when its column is opened.
func (s *openStripe) prefetch(ctx context.Context, group int) error {
	columns := s.sc.columns[group*groupSize : min((group+1)*groupSize, len(s.sc.columns))]
	var ids []uint32
	for i := range columns {
		ids = appendIDs(ids, &columns[i])
	}
	return s.stripe.Prefetch(ctx, ids)
}

func appendIDs(ids []uint32, c *arrowmap.Column) []uint32 {
	ids = append(ids, c.ID)
	for i := range c.Children {
		ids = appendIDs(ids, &c.Children[i])
	}
	return ids
}
