package microbench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputReportsSpeeds(t *testing.T) {
	src, dst := make([]byte, 4096), make([]byte, 4096)
	r := testing.Benchmark(func(b *testing.B) {
		Output(b, len(dst))
		for range b.N {
			copy(dst, src)
		}
	})
	require.EqualValues(t, len(dst), r.Bytes)
	for name, value := range r.Extra { // none, if the clock is too coarse
		require.Contains(t, []string{"%copy", "MB/cpu-s"}, name)
		require.Positive(t, value)
	}
}

func BenchmarkCopyHot(b *testing.B) {
	src, dst := make([]byte, hot), make([]byte, hot)
	for i := range src {
		src[i] = byte(i) // memory that was never written would share one page of zeros
	}
	Output(b, hot)
	for b.Loop() {
		copy(dst, src)
	}
}
