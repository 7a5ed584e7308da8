// Package leaktest finds leaks in tests: goroutines and memory.
package leaktest

import (
	"runtime"
	"testing"
	"time"
)

// Allocated is the number of bytes that the program has allocated so far, freed ones included:
// an upper bound of its peak.
func Allocated() uint64 {
	var m runtime.MemStats // runtime/metrics counts small objects late: some not before the next collection
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
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
