// Package leaktest finds leaks in tests: goroutines, memory, and bytes of an allocator.
package leaktest

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Allocated is the number of bytes that the program has allocated so far, freed ones included:
// an upper bound of its peak.
func Allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Goroutines notes the number of goroutines. The function that it returns fails the test if
// there are more, after a grace period for those that are ending.
func Goroutines(t testing.TB) (check func()) {
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		// A goroutine that has signalled its end may still exist.
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

// Allocator counts the bytes that are allocated and not freed, and their peak.
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

// Most is the peak of InUse.
func (a *Allocator) Most() int64 { return a.most.Load() }
