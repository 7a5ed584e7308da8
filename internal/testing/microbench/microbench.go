// Package microbench has the common code of benchmarks of kernels. They report the bytes of
// output per second, and relative to copying memory.
package microbench

import (
	"testing"

	"github.com/amudai/amudai-go/internal/bench/measure"
)

// hot is the size of the memory that is copied for comparison. It fits into the cache, as the
// blocks of kernels do.
const hot = 1 << 20

// Output sets the number of output bytes of one iteration, and starts the benchmark. Call it
// before the loop. Beside the speed by the clock, the result has the speed by CPU time, which
// other programs do not slow down ("MB/cpu-s"), and its ratio to copying 1 MiB that is in the
// cache, on this machine at this time ("%copy").
//
//	func BenchmarkUnpack(b *testing.B) {
//		…
//		microbench.Output(b, 8*len(dst))
//		for b.Loop() {
//			unpack(dst, src)
//		}
//	}
func Output(b *testing.B, bytes int) {
	b.Helper()
	b.SetBytes(int64(bytes))
	before := 0.0
	b.Cleanup(func() {
		took := measure.CPU() - before
		if took <= 0 {
			return
		}
		speed := float64(bytes) * float64(b.N) / took
		b.ReportMetric(speed/1e6, "MB/cpu-s")
		b.ReportMetric(100*speed/copySpeed(), "%copy")
	})
	b.ResetTimer()
	before = measure.CPU()
}

// copySpeed is the bytes per second of CPU time that copy writes: the best of some tries,
// because other programs evict data from the cache.
func copySpeed() float64 {
	src, dst := make([]byte, hot), make([]byte, hot)
	for i := range src {
		src[i] = byte(i)
	}
	const tries, copies = 40, 20
	best := 0.0
	for range tries {
		before := measure.CPU()
		for range copies {
			copy(dst, src)
		}
		best = max(best, copies*hot/max(measure.CPU()-before, 1e-6))
	}
	return best
}
