package leaktest_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/leaktest"
)

var sink []byte

// TestAllocatedBefore collects garbage between two readings: what was allocated before the first must not be counted
// in the second. The runtime counts small objects by spans, some of them not before a collection.
func TestAllocatedBefore(t *testing.T) {
	for range 20 {
		for size := 8; size <= 32<<10; size += size / 8 {
			for range 3 {
				sink = make([]byte, size)
			}
		}
		before := leaktest.Allocated()
		runtime.GC()
		require.Less(t, leaktest.Allocated()-before, uint64(32<<10))
	}
	before := leaktest.Allocated()
	sink = make([]byte, 1<<20)
	for range 1 << 16 {
		sink = make([]byte, 16)
	}
	require.InDelta(t, 2<<20, leaktest.Allocated()-before, 64<<10)
}
