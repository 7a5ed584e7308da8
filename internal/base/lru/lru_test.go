package lru

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLatestStay(t *testing.T) {
	c := New[int, string](10)
	c.Put(1, "a", 4)
	c.Put(2, "b", 4)
	_, ok := c.Get(1)
	require.True(t, ok)
	c.Put(3, "c", 4) // 2 is the least recently used
	_, ok = c.Get(2)
	require.False(t, ok)
	v, ok := c.Get(1)
	require.True(t, ok)
	require.Equal(t, "a", v)

	c.Put(1, "d", 6) // in place of a
	v, _ = c.Get(1)
	require.Equal(t, "d", v)
	require.Equal(t, 2, c.Len())

	c.Put(4, "large", 100)
	require.Equal(t, 1, c.Len(), "alone, until the next one comes")
	c.Put(5, "e", 1)
	_, ok = c.Get(4)
	require.False(t, ok)
	require.Equal(t, 1, c.Len())
}

func TestManyAtOnce(t *testing.T) {
	c := New[int, int](50)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 1000 {
				c.Put(i%70, i%70, int64(1+g))
				if v, ok := c.Get(i % 70); ok && v != i%70 {
					t.Errorf("%d under %d", v, i%70)
				}
			}
		})
	}
	wait.Wait()
	require.LessOrEqual(t, c.Len(), 50)
}
