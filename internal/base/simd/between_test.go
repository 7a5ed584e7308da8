package simd

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// testBetween compares keys near the ends of a range. Every other bit of the result is set beforehand.
func testBetween[W Unsigned](t *rapid.T) {
	n := rapid.OneOf(rapid.IntRange(0, 300), rapid.SampledFrom([]int{63, 64, 65, 128, 1024})).Draw(t, "n")
	low := W(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3)).Draw(t, "low"))
	size := W(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3), rapid.Just(^uint64(0))).Draw(t, "size"))
	keys := make([]W, n)
	for i, v := range words(t, n, "keys") {
		if keys[i] = W(v); v%3 == 0 {
			keys[i] = low + W(v/3%5) - 2
		} else if v%3 == 1 {
			keys[i] = low + size + W(v/3%5) - 2
		}
	}
	before := rapid.Uint64().Draw(t, "before")
	all, dst := within((n+63)/64, before)
	Between(dst, keys, low, size)
	for i := range 64 * len(dst) {
		want := before>>(i%64)&1 != 0
		if i < n {
			want = want || keys[i]-low <= size
		}
		require.Equal(t, want, dst[i/64]>>(i%64)&1 != 0, "key %d", i)
	}
	requireAround(t, all, before)
}

func BenchmarkBetween(b *testing.B) {
	benchmarkBetween[uint8](b)
	benchmarkBetween[uint16](b)
	benchmarkBetween[uint32](b)
	benchmarkBetween[uint64](b)
}

func benchmarkBetween[W Unsigned](b *testing.B) {
	keys, dst := make([]W, chunk), make([]uint64, chunk/64)
	for i := range keys {
		keys[i] = W(i * 7919)
	}
	for _, tier := range tiers() {
		use(tier)
		b.Run(fmt.Sprintf("%T/%s", keys[0], tier), func(b *testing.B) {
			microbench.Output(b, chunk/8)
			for b.Loop() {
				Between(dst, keys, 5, 30)
			}
		})
	}
}
