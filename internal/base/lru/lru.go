// Package lru is a cache of the most recently used values, bounded by bytes.
package lru

import (
	"container/list"
	"sync"
)

// Cache maps keys to values. Many goroutines may use it at once.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	left  int64
	order list.List // of *entry, the latest used first
	byKey map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// New is a cache of limit bytes.
func New[K comparable, V any](limit int64) *Cache[K, V] {
	return &Cache[K, V]{left: limit, byKey: map[K]*list.Element{}}
}

// Get is the value of a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Has reports whether there is a value of a key. It does not count as a use.
func (c *Cache[K, V]) Has(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey[key] != nil
}

// Put adds a value of size bytes, and evicts the least recently used values. A value larger
// than the whole cache stays until the next Put.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.drop(e)
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, size})
	c.left -= size
	c.evict()
}

func (c *Cache[K, V]) evict() {
	for c.left < 0 && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

// Resize tells that the value of a key has another size by now, and evicts others as Put does.
func (c *Cache[K, V]) Resize(key K, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		old := e.Value.(*entry[K, V])
		c.left += old.size - size
		old.size = size
		c.evict()
	}
}

// Remove takes out the value of a key, if there is one.
func (c *Cache[K, V]) Remove(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		value, ok = e.Value.(*entry[K, V]).value, true
		c.drop(e)
	}
	return value, ok
}

// Room is the bytes of values that may be added before others are evicted.
func (c *Cache[K, V]) Room() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// Len is the number of values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}

func (c *Cache[K, V]) drop(e *list.Element) {
	old := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, old.key)
	c.left += old.size
}
