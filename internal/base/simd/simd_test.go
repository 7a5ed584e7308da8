package simd

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// eachTier runs a test with every set of kernels that this machine supports.
func eachTier(t *testing.T, test func(t *testing.T)) {
	all := tiers()
	defer use(all[len(all)-1])
	for _, tier := range all {
		use(tier)
		t.Run(tier, test)
	}
}

// room is the size of the margin around results, which must not change.
const room = 40

// within returns n values with margins that must not change.
func within[T any](n int, canary T) (all, dst []T) {
	all = make([]T, n+2*room)
	for i := range all {
		all[i] = canary
	}
	return all, all[room : room+n : room+n]
}

func requireAround[T any](t require.TestingT, all []T, canary T) {
	for i, v := range all {
		if i < room || i >= len(all)-room {
			require.Equal(t, canary, v, "place %d of %d was overwritten", i-room, len(all)-2*room)
		}
	}
}

// words draws values of few bits, which wrap or not.
func words(t *rapid.T, n int, name string) []uint64 {
	seed := rapid.Uint64().Draw(t, name)
	shift := rapid.IntRange(0, 63).Draw(t, name+" shift")
	rnd := rand.New(rand.NewPCG(seed, 1))
	out := make([]uint64, n)
	for i := range out {
		out[i] = rnd.Uint64() >> shift
		if rnd.IntN(2) == 0 {
			out[i] = -out[i]
		}
	}
	return out
}

func drawFactor(t *rapid.T) uint64 {
	return rapid.OneOf(rapid.Just(uint64(1)), rapid.Just(uint64(100)), rapid.Uint64()).Draw(t, "b")
}

// kernels are the tests of all kernels, with random values and lengths.
var kernels = map[string]func(t *rapid.T){
	"widen": testWiden, "narrow": testNarrow, "count": testCount,
	"repeat 32 bits": testRepeat[uint32], "repeat 64 bits": testRepeat[float64], "repeat 128 bits": testRepeat[[2]uint64],
	"merge 32 bits": testMerge[uint32], "merge 64 bits": testMerge[uint64],
	"between 8 bits": testBetween[uint8], "between 16 bits": testBetween[uint16],
	"between 32 bits": testBetween[uint32], "between 64 bits": testBetween[uint64],
}

func TestKernels(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for name, test := range kernels {
			t.Run(name, rapid.MakeCheck(test))
		}
	})
}

// FuzzKernels runs them with the fuzzer, with every set of kernels.
func FuzzKernels(f *testing.F) {
	all := tiers()
	f.Cleanup(func() { use(all[len(all)-1]) })
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		use(rapid.SampledFrom(all).Draw(t, "tier"))
		kernels[rapid.SampledFrom(slices.Sorted(maps.Keys(kernels))).Draw(t, "kernel")](t)
	}))
}

func testWiden(t *rapid.T) {
	n := rapid.IntRange(0, 70).Draw(t, "n")
	src := words(t, n, "src")
	a, b := rapid.Uint64().Draw(t, "a"), drawFactor(t)
	canary := [2]uint64{7, 8}
	all, dst := within(n, canary)
	Widen(dst, src, a, b)
	for i, v := range src {
		want := int64(a + b*v)
		require.Equal(t, [2]uint64{uint64(want), uint64(want >> 63)}, dst[i])
	}
	requireAround(t, all, canary)
}

func testNarrow(t *rapid.T) {
	n := rapid.IntRange(0, 70).Draw(t, "n")
	src := words(t, n, "src")
	a, b := rapid.Uint64().Draw(t, "a"), drawFactor(t)
	all, dst := within(n, int32(7))
	Narrow(dst, src, a, b)
	for i, v := range src {
		require.Equal(t, int32(a+b*v), dst[i])
	}
	requireAround(t, all, 7)
}

func testCount(t *rapid.T) {
	n := rapid.IntRange(0, 70).Draw(t, "n")
	first, step := rapid.Int32().Draw(t, "first"), rapid.Int32().Draw(t, "step")
	all, dst := within(n, int32(7))
	Count(dst, first, step)
	for i, v := range dst {
		require.Equal(t, first+int32(i)*step, v)
	}
	requireAround(t, all, 7)
}

// testRepeat checks the values of runs, which may be more than dst has space for. If dst has space, few values are
// left.
func testMerge[W uint32 | uint64](t *rapid.T) {
	n := rapid.IntRange(0, 100).Draw(t, "n")
	all, dst := within(n, W(1))
	codes, want, or := make([]uint16, n), make([]W, n), uint16(0)
	var entries [8]W
	for i, v := range words(t, 8, "entries") {
		entries[i] = W(v)
	}
	for i, v := range words(t, n, "codes") {
		codes[i], dst[i] = uint16(v), W(v>>16)
		want[i] = dst[i] | entries[v%8]
		or |= codes[i]
	}
	require.Equal(t, or, Merge(dst, codes, &entries))
	require.Equal(t, want, dst)
	requireAround(t, all, W(1))
}

func testRepeat[T comparable](t *rapid.T) {
	lengths := rapid.SliceOfN(rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(0, 60), rapid.Just(^uint32(0))), 0, 20).Draw(t, "lengths")
	n := rapid.IntRange(0, 600).Draw(t, "n")
	numbers := words(t, len(lengths), "values")
	values := make([]T, len(lengths))
	for i, v := range numbers {
		values[i] = valueOf[T](v)
	}
	canary := valueOf[T](77)
	all, dst := within(n, canary)
	runs, made := Repeat(dst, values, lengths)
	at := uint64(0)
	for i, length := range lengths[:runs] {
		for range length {
			require.Equal(t, values[i], dst[at])
			at++
		}
	}
	require.EqualValues(t, at, made)
	requireAround(t, all, canary)
}

func valueOf[T any](v uint64) T {
	var out any
	switch any(*new(T)).(type) {
	case uint32:
		out = uint32(v)
	case float64:
		out = float64(v)
	default:
		out = [2]uint64{v, ^v}
	}
	return out.(T)
}

// Kernels write nearly all runs. They leave those near the end of the destination to the caller.
func TestRepeatLeavesLittle(t *testing.T) {
	lengths := make([]uint32, 100)
	for i := range lengths {
		lengths[i] = uint32(i % 40)
	}
	values := make([]uint64, len(lengths))
	for _, tier := range tiers()[1:] { // except plain Go, which leaves all runs
		use(tier)
		runs, n := Repeat(make([]uint64, 1000), values, lengths)
		require.Positive(t, runs)
		require.Less(t, 1000-n, 16+40)
	}
}

const chunk = 1024

func Benchmark(b *testing.B) {
	src, wide, narrow := make([]uint64, chunk), make([][2]uint64, chunk), make([]int32, chunk)
	lengths, repeated := make([]uint32, chunk/16), make([]uint64, chunk)
	for i := range lengths {
		lengths[i] = uint32(rand.IntN(30))
	}
	for _, tier := range tiers() {
		use(tier)
		run := func(name string, bytes int, f func()) {
			b.Run(fmt.Sprintf("%s/%s", name, tier), func(b *testing.B) {
				microbench.Output(b, bytes)
				for b.Loop() {
					f()
				}
			})
		}
		run("Widen", 16*chunk, func() { Widen(wide, src, 5, 1) })
		run("Widen100", 16*chunk, func() { Widen(wide, src, 5, 100) })
		run("Narrow", 4*chunk, func() { Narrow(narrow, src, 5, 1) })
		run("Count", 4*chunk, func() { Count(narrow, 5, 3) })
		if tier != "go" {
			run("Repeat", 8*chunk, func() { Repeat(repeated, src[:len(lengths)], lengths) })
		}
	}
}
