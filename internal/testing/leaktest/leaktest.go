// Package leaktest tells tests what stays behind: goroutines, memory and bytes
// of an allocator.
package leaktest

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Allocated is the number of bytes that the program has allocated so far, freed
// ones included: an upper bound of what it needs at a time.
func Allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Goroutines notes how many goroutines there are; the function that it gives
// fails the test if there are more of them, a moment after they have ended.
func Goroutines(t testing.TB) (check func()) {
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		// A goroutine that has told its waiter that it is done may still be there.
		for range 2000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		stacks := make([]byte, 64<<10)
		t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	}
}

// Allocator counts what is allocated and not freed, and the most of it.
type Allocator struct {
	mem       memory.Allocator
	now, most atomic.Int64
}

// NewAllocator makes an Allocator of Go's memory.
func NewAllocator() *Allocator { return &Allocator{mem: memory.NewGoAllocator()} }

// Allocate implements memory.Allocator.
func (a *Allocator) Allocate(size int) []byte {
	a.add(size)
	return a.mem.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	a.add(size - len(b))
	return a.mem.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (a *Allocator) Free(b []byte) {
	a.now.Add(-int64(len(b)))
	a.mem.Free(b)
}

func (a *Allocator) add(n int) {
	now := a.now.Add(int64(n))
	for {
		most := a.most.Load()
		if now <= most || a.most.CompareAndSwap(most, now) {
			return
		}
	}
}

// InUse is the number of bytes that are allocated now.
func (a *Allocator) InUse() int64 { return a.now.Load() }

// Most is the greatest number of bytes that were allocated at a time.
func (a *Allocator) Most() int64 { return a.most.Load() }
