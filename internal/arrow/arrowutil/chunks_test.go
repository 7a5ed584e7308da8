package arrowutil

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// TestChunksGiveMemoryApart fills buffers of many sizes, up to their capacity, from several goroutines. No buffer
// changes another one.
func TestChunksGiveMemoryApart(t *testing.T) {
	mem := Chunks(memory.NewGoAllocator(), nil)
	sizes := []int{1, 63, smallest, leastCut - 1, leastCut, leastCut + 1, 100_001, 1 << 20, mostCut - 63, mostCut, mostCut + 1, chunkSize, chunkSize + 5}
	var all [4][]*memory.Buffer
	var wait sync.WaitGroup
	for g := range all {
		wait.Go(func() {
			for i := range 3 * len(sizes) {
				n := sizes[(i+5*g)%len(sizes)]
				b := NewBuffer(mem, n)
				for j := range b.Bytes()[:cap(b.Bytes())] {
					b.Bytes()[:cap(b.Bytes())][j] = byte(g*100 + i)
				}
				all[g] = append(all[g], b)
			}
		})
	}
	wait.Wait()
	for g, list := range all {
		for i, b := range list {
			require.Equal(t, sizes[(i+5*g)%len(sizes)], b.Len())
			require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))%alignment)
			for _, v := range b.Bytes()[:cap(b.Bytes())] {
				if v != byte(g*100+i) {
					t.Fatalf("buffer %d of goroutine %d changed", i, g)
				}
			}
		}
	}
}

func TestChunksGrowAndClear(t *testing.T) {
	mem := Chunks(memory.NewGoAllocator(), nil)
	b := NewBuffer(mem, leastCut)
	for i := range b.Bytes() {
		b.Bytes()[i] = byte(i)
	}
	b.Resize(3 * leastCut)
	for i, v := range b.Bytes()[:leastCut] {
		require.Equal(t, byte(i), v)
	}
	// The allocator clears memory, as Arrow's functions expect.
	require.Equal(t, make([]byte, 2*leastCut), mem.Allocate(2*leastCut))
}

func TestChunksLeaveOtherAllocators(t *testing.T) {
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	require.Equal(t, memory.Allocator(checked), Chunks(checked, nil))
}

func TestChunksReuseNumbersOnly(t *testing.T) {
	mem := Chunks(memory.NewGoAllocator(), NewRecycler(memory.NewGoAllocator(), 1<<20))
	again := func(mem memory.Allocator) bool {
		b := NewBuffer(mem, 100_000)
		first := unsafe.SliceData(b.Bytes())
		b.Release()
		return first == unsafe.SliceData(NewBuffer(mem, 100_000).Bytes())
	}
	require.True(t, again(Reusable(mem)))
	require.False(t, again(mem))
}
