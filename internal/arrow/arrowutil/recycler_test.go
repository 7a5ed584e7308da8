package arrowutil

import (
	"bytes"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Memory of any size has one owner at a time. Memory from the methods of Arrow's allocator is cleared.
func TestRecycler(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
		r := NewRecycler(checked, 1<<20)
		var bufs [][]byte
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch k := rapid.IntRange(0, 3).Draw(t, "step"); {
			case k == 0 && len(bufs) > 0:
				at := rapid.IntRange(0, len(bufs)-1).Draw(t, "at")
				r.Free(bufs[at])
				bufs = append(bufs[:at], bufs[at+1:]...)
			case k == 1 && len(bufs) > 0:
				at := rapid.IntRange(0, len(bufs)-1).Draw(t, "at")
				size, old := rapid.IntRange(0, 300_000).Draw(t, "size"), bytes.Clone(bufs[at])
				bufs[at] = r.Reallocate(size, bufs[at])
				kept := min(size, len(old))
				require.Equal(t, old[:kept], bufs[at][:kept])
				require.Equal(t, size-kept, bytes.Count(bufs[at][kept:], []byte{0}))
			default:
				size := rapid.SampledFrom([]int{0, 1, smallest - 1, smallest, smallest + 1, 70_000, 1 << 19, 1<<20 + 1}).Draw(t, "size")
				b := r.Allocate(size)
				require.Len(t, b, size)
				require.Equal(t, size, bytes.Count(b, []byte{0}))
				bufs = append(bufs, b)
			}
			for k, b := range bufs {
				fill(b, byte(1+k+i))
			}
			for k, b := range bufs {
				require.Equal(t, len(b), bytes.Count(b, []byte{byte(1 + k + i)}), "shared")
			}
		}
		for i, b := range bufs {
			if i == len(bufs)/2 {
				r.Close()
			}
			r.Free(b)
		}
		r.Close()
		require.Zero(t, checked.CurrentAlloc())
	})
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

func TestRecyclerGivesAgain(t *testing.T) {
	r := NewRecycler(memory.DefaultAllocator, 1<<20)
	a := r.Allocate(100_000)
	r.Free(a)
	b := r.Allocate(roundUp(100_000))
	require.Same(t, &a[0], &b[0])
	huge := r.Allocate(2 << 20)
	r.Free(huge)
	require.Zero(t, r.held)
}

func TestRecyclerConcurrently(t *testing.T) {
	r := NewRecycler(memory.DefaultAllocator, 1<<20)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 200 {
				b := r.Allocate(5000 + 1000*(i%9))
				fill(b, byte(k+1))
				require.Equal(t, len(b), bytes.Count(b, []byte{byte(k + 1)}))
				r.Free(b)
			}
		})
	}
	wg.Wait()
}
