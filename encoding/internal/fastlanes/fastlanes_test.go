package fastlanes

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// TestKnownBytes compares packed chunks with bytes that do not come from this package.
func TestKnownBytes(t *testing.T) {
	t.Run("uint8 in 3 bits", func(t *testing.T) {
		b := packed(t, 3, func(i int) uint8 { return uint8(i % 8) })
		require.Equal(t, unhex(t, "00 49 92 db 24 6d b6 ff"), b[:8])
		require.Equal(t, unhex(t, "00 92 24 b6 49 db 6d ff"), b[128:136])
		require.Equal(t, unhex(t, "00 24 49 6d 92 b6 db ff"), b[256:264])
	})
	t.Run("uint16 in 5 bits", func(t *testing.T) {
		b := packed(t, 5, func(i int) uint16 { return uint16(i % 32) })
		require.Equal(t, unhex(t, "00 00 21 84 42 08 63 8c 84 10 a5 94 c6 18 e7 9c"), b[:16])
		require.Len(t, b, 640)
	})
	t.Run("uint32 in 10 bits", func(t *testing.T) {
		b := packed(t, 10, func(i int) uint32 { return uint32(i) })
		require.Equal(t, unhex(t, "00 00 02 10 01 04 12 50 02 08 22 90 03 0c 32 d0"+
			"04 10 42 10 05 14 52 50 06 18 62 90 07 1c 72 d0"), b[:32])
		require.Equal(t, unhex(t, "fa eb b7 ff fe fb f7 ff"), b[1272:])
		require.Len(t, b, 1280)
	})
	t.Run("uint64 in 7 bits", func(t *testing.T) {
		b := packed(t, 7, func(i int) uint64 { return uint64(i % 128) })
		require.Equal(t, unhex(t, "00 00 00 00 00 00 00 40 81 40 20 10 08 04 02 c1"), b[:16])
	})
	t.Run("uint32 in 2 bits", func(t *testing.T) {
		b := packed(t, 2, func(i int) uint32 {
			if i < 3 {
				return uint32(i + 1)
			}
			return 0
		})
		want := make([]byte, 256)
		want[0], want[4], want[8] = 1, 2, 3
		require.Equal(t, want, b)
	})
}

// packed packs f(0), f(1), ... and checks that unpacking returns these values.
func packed[W Word](t *testing.T, w int, f func(i int) W) []byte {
	t.Helper()
	var src, back [ChunkLen]W
	for i := range src {
		src[i] = f(i)
	}
	b := make([]byte, PackedLen(w))
	Pack(b, &src, 0, w)
	Unpack(&back, b, 0, w)
	require.Equal(t, src, back)
	return b
}

// TestKernels compares every width with the formula of the layout, and checks that no memory beyond the chunk is
// written.
func TestKernels(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		t.Run("uint8", testKernels[uint8])
		t.Run("uint16", testKernels[uint16])
		t.Run("uint32", testKernels[uint32])
		t.Run("uint64", testKernels[uint64])
	})
}

// eachTier runs a test with every set of kernels that this machine supports.
func eachTier(t *testing.T, test func(t *testing.T)) {
	all := tiers()
	defer use(all[len(all)-1])
	for _, tier := range all {
		use(tier)
		t.Run(tier, test)
	}
}

// FuzzTiers unpacks arbitrary bytes and packs the result. All sets of kernels must agree.
func FuzzTiers(f *testing.F) {
	f.Add([]byte("0123456789"), uint64(77), uint8(12))
	f.Fuzz(func(t *testing.T, data []byte, base uint64, w uint8) {
		fuzzTiers(t, data, uint8(base), int(w)%8+1)
		fuzzTiers(t, data, uint16(base), int(w)%16+1)
		fuzzTiers(t, data, uint32(base), int(w)%32+1)
		fuzzTiers(t, data, base, int(w)%64+1)
	})
}

func fuzzTiers[W Word](t *testing.T, data []byte, base W, w int) {
	src := make([]byte, PackedLen(w))
	for i := range src {
		if len(data) > 0 {
			src[i] = data[i%len(data)] ^ byte(i/len(data))
		}
	}
	var want [ChunkLen]W
	unpackSimple(&want, src, base, w)
	eachTier(t, func(t *testing.T) {
		var got [ChunkLen]W
		Unpack(&got, src, base, w)
		require.True(t, want == got, "%d bits of %T", w, base)
		back := make([]byte, len(src))
		Pack(back, &got, base, w)
		require.True(t, bytes.Equal(src, back), "%d bits of %T", w, base)
	})
}

// TestSourceEnd packs and unpacks next to a page that may not be accessed.
func TestSourceEnd(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		testSourceEnd[uint8](t)
		testSourceEnd[uint16](t)
		testSourceEnd[uint32](t)
		testSourceEnd[uint64](t)
	})
}

func testSourceEnd[W Word](t *testing.T) {
	var chunk [ChunkLen]W
	size := int(unsafe.Sizeof(chunk))
	packed, values := guardedPage(t), guardedPage(t)
	last := (*[ChunkLen]W)(unsafe.Pointer(&values[len(values)-size]))
	for w := 1; w <= size/PackedLen(1); w++ {
		end := packed[len(packed)-PackedLen(w):]
		Unpack(&chunk, end, 0, w)
		Pack(end, &chunk, 0, w)
		Unpack(last, end, 0, w)
		Pack(end, last, 0, w)
	}
}

func testKernels[W Word](t *testing.T) {
	all := ^W(0)
	width := bits.Len64(uint64(all))
	for w := 1; w <= width; w++ {
		for _, base := range []W{0, 1, all, all >> 1, all>>1 + 1} {
			checkKernels(t, w, base, all, uint64(w))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		checkKernels(t, rapid.IntRange(1, width).Draw(t, "width"), W(rapid.Uint64().Draw(t, "base")),
			all>>rapid.IntRange(0, width).Draw(t, "bits less"), rapid.Uint64().Draw(t, "seed"))
	})
}

// checkKernels checks the kernels with random values from base to base+span.
func checkKernels[W Word](t require.TestingT, w int, base, span W, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	var src, got, want struct {
		before [8]W
		chunk  [ChunkLen]W
		after  [8]W
	}
	for i := range src.chunk {
		src.chunk[i] = base + W(random.Uint64())&span
	}

	const canary = 0xa5
	packed := bytes.Repeat([]byte{canary}, PackedLen(w)+16)
	Pack(packed[:PackedLen(w)+8], &src.chunk, base, w)
	expected := bytes.Repeat([]byte{canary}, PackedLen(w)+16)
	packSimple(expected, &src.chunk, base, w)
	require.True(t, bytes.Equal(expected, packed), "packed to %d bits: %x, not %x", w, packed, expected)

	Unpack(&got.chunk, packed, base, w)
	unpackSimple(&want.chunk, packed, base, w)
	require.True(t, got == want, "unpacked %d bits: %v, not %v", w, got, want)
	mask := ^W(0) >> (8*int(unsafe.Sizeof(base)) - w)
	for i, v := range got.chunk {
		if v-base != (src.chunk[i]-base)&mask {
			require.Fail(t, "wrong value", "value %d of %d bits: %d became %d", i, w, src.chunk[i], v)
		}
	}
}

func TestRefused(t *testing.T) { eachTier(t, testRefused) }

func testRefused(t *testing.T) {
	var chunk [ChunkLen]uint32
	for _, w := range []int{-1, 0, 33} {
		require.Panics(t, func() { Unpack(&chunk, make([]byte, 1<<13), 0, w) })
		require.Panics(t, func() { Pack(make([]byte, 1<<13), &chunk, 0, w) })
	}
	require.Panics(t, func() { Unpack(&chunk, make([]byte, PackedLen(7)-1), 0, 7) })
	require.Panics(t, func() { Pack(make([]byte, PackedLen(7)-1), &chunk, 0, 7) })
}

func BenchmarkUnpack(b *testing.B) {
	eachKernel(b, benchmarkUnpack[uint8], benchmarkUnpack[uint16], benchmarkUnpack[uint32], benchmarkUnpack[uint64])
}

func BenchmarkPack(b *testing.B) {
	eachKernel(b, benchmarkPack[uint8], benchmarkPack[uint16], benchmarkPack[uint32], benchmarkPack[uint64])
}

// eachKernel runs benchmarks with every set of kernels that this machine supports.
func eachKernel(b *testing.B, bench8, bench16, bench32, bench64 func(*testing.B, int)) {
	all := tiers()
	defer use(all[len(all)-1])
	for _, tier := range all {
		use(tier)
		run := func(bits int, bench func(*testing.B, int), widths ...int) {
			for _, w := range widths {
				b.Run(fmt.Sprintf("%s/uint%d/%d", tier, bits, w), func(b *testing.B) { bench(b, w) })
			}
		}
		run(8, bench8, 3, 6)
		run(16, bench16, 5, 12)
		run(32, bench32, 4, 10, 19, 32)
		run(64, bench64, 4, 12, 23, 37, 64)
	}
}

func benchmarkUnpack[W Word](b *testing.B, w int) {
	var dst [ChunkLen]W
	src := make([]byte, PackedLen(w))
	microbench.Output(b, binary.Size(dst))
	for b.Loop() {
		Unpack(&dst, src, 100, w)
	}
}

func benchmarkPack[W Word](b *testing.B, w int) {
	var src [ChunkLen]W
	dst := make([]byte, PackedLen(w))
	microbench.Output(b, binary.Size(src))
	for b.Loop() {
		Pack(dst, &src, 100, w)
	}
}

// A single value equals that of the whole chunk, and no other value of dst is written.
func TestPick(t *testing.T) {
	testPick[uint8](t)
	testPick[uint16](t)
	testPick[uint32](t)
	testPick[uint64](t)
}

func testPick[W Word](t *testing.T) {
	const chunks = 3
	r := rand.New(rand.NewPCG(1, 2))
	bits := int(8 * unsafe.Sizeof(W(0)))
	var places []uint32
	for i := range uint32(chunks * ChunkLen) {
		places = append(places, i)
	}
	for w := 1; w <= bits; w++ {
		src := make([]byte, chunks*PackedLen(w), chunks*PackedLen(w)+100)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		base := W(r.Uint64())
		var all [chunks][ChunkLen]W
		for i := range all {
			Unpack(&all[i], src[i*PackedLen(w):], base, w)
		}
		r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		got := make([]W, len(places)+1)
		Pick(got, src, places, base, w)
		require.Zero(t, got[len(places)])
		for k, i := range places {
			require.Equal(t, all[i/ChunkLen][i%ChunkLen], got[k], "value %d of %d bits", i, w)
		}
		for _, outside := range []uint32{chunks * ChunkLen, 1<<32 - 1} {
			require.Panics(t, func() { Pick(got, src, []uint32{0, outside}, base, w) })
			require.Panics(t, func() { Pick(got, src[:len(src)-1], []uint32{chunks*ChunkLen - 1}, base, w) })
		}
		require.Panics(t, func() { Pick(got[:1:1], src, places[:2], base, w) })
	}
	var one [1]W
	require.Panics(t, func() { Pick(one[:], make([]byte, 1<<14), []uint32{0}, 0, 0) })
	require.Panics(t, func() { Pick(one[:], make([]byte, 1<<14), []uint32{0}, 0, bits+1) })
	Pick(one[:0], nil, nil, 0, 1)
}

func BenchmarkPick(b *testing.B) {
	benchPick[uint16](b)
	benchPick[uint32](b)
	benchPick[uint64](b)
}

// benchPick selects one value in 50.
func benchPick[W Word](b *testing.B) {
	const width, chunks = 7, 8
	r := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, chunks*PackedLen(width))
	var places []uint32
	for i := range uint32(chunks * ChunkLen) {
		if r.IntN(50) == 0 {
			places = append(places, i)
		}
	}
	dst := make([]W, len(places))
	b.Run(fmt.Sprintf("%T", W(0)), func(b *testing.B) {
		microbench.Output(b, binary.Size(dst))
		for b.Loop() {
			Pick(dst, src, places, 5, width)
		}
	})
}
