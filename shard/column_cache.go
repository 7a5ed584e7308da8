package shard

import (
	"container/list"
	"context"
	"hash/maphash"
	"sync"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/stripe"
)

// columnCache keeps open columns within a number of bytes, those used last. It may
// be used by many goroutines at once.
type columnCache struct {
	mu    sync.Mutex
	left  int64
	order list.List // of *keptColumn, the latest used first
	byKey map[columnKey]*list.Element
}

// columnKey names a column of a stripe, with the nodes that are read of it and the
// layout of their arrays.
type columnKey struct {
	stripe int
	nodes  uint64 // hash of their schema ids and layouts
	id     uint32
	count  int
}

type keptColumn struct {
	key    columnKey
	column *stripe.Column
}

var columnSeed = maphash.MakeSeed()

func keyOf(index int, c *arrowmap.Column) columnKey {
	ids := appendIDs(nil, c)
	var h maphash.Hash
	h.SetSeed(columnSeed)
	for _, id := range ids {
		h.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	writeLayout(&h, c)
	return columnKey{index, h.Sum64(), c.ID, len(ids)}
}

// writeLayout adds what types of Arrow arrays tell a column from others of its nodes.
func writeLayout(h *maphash.Hash, c *arrowmap.Column) {
	h.WriteByte(byte(c.Plain.ID()))
	if len(c.Wraps) > 0 {
		h.WriteString(c.Arrow.Type.String())
	}
	for i := range c.Children {
		writeLayout(h, &c.Children[i])
	}
}

func (c *columnCache) get(key columnKey) *stripe.Column {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*keptColumn).column
}

func (c *columnCache) put(key columnKey, column *stripe.Column) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[columnKey]*list.Element{}
	}
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.order.PushFront(&keptColumn{key, column})
	c.left -= column.Size()
	for c.left < 0 && c.order.Len() > 0 {
		old := c.order.Remove(c.order.Back()).(*keptColumn)
		delete(c.byKey, old.key)
		c.left += old.column.Size()
	}
}

func (s *Shard) readOptions() stripe.ReadOptions {
	return stripe.ReadOptions{MaxBlockBytes: s.o.MaxBlockBytes, MaxDictionaryBytes: s.o.MaxDictionaryBytes}
}

// openColumn opens a column of a stripe, or gives one that is open.
func (s *Shard) openColumn(ctx context.Context, index int, col *arrowmap.Column) (*stripe.Column, error) {
	key := keyOf(index, col)
	if c := s.columns.get(key); c != nil {
		return c, nil
	}
	c, err := stripe.OpenColumn(ctx, s.file.Stripe(index), *col, s.readOptions())
	if err != nil {
		return nil, err
	}
	s.columns.put(key, c)
	return c, nil
}
