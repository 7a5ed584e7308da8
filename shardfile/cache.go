package shardfile

import (
	"container/list"
	"sync"
)

// cache keeps what was parsed last, within a number of bytes. It may be used by
// many goroutines at once.
type cache struct {
	mu    sync.Mutex
	left  int64
	order list.List // of *cached, the latest used first
	byKey map[cacheKey]*list.Element
}

// cacheKey names an element of the metadata. shard stands for the shard's own
// descriptors.
type cacheKey struct {
	kind   cacheKind
	stripe int
	id     uint32
}

type cacheKind uint8

const (
	cacheFieldList cacheKind = iota
	cacheDescriptor
	cacheWindow
)

type cached struct {
	key   cacheKey
	value any
	size  int64
}

func newCache(limit int64) *cache {
	return &cache{left: limit, byKey: map[cacheKey]*list.Element{}}
}

func (c *cache) get(key cacheKey) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).value
}

// put adds value, which takes size bytes, and drops what was not used for
// longest. A value larger than the whole cache stays until the next one comes.
func (c *cache) put(key cacheKey, value any, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.drop(e)
	}
	c.byKey[key] = c.order.PushFront(&cached{key, value, size})
	c.left -= size
	for c.left < 0 && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	v := c.order.Remove(e).(*cached)
	delete(c.byKey, v.key)
	c.left += v.size
}
