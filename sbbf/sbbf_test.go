package sbbf

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func build(o Options, values ...string) *Builder {
	b := NewBuilder(o)
	for _, v := range values {
		b.AddHash(Hash([]byte(v)))
	}
	return b
}

func TestVectors(t *testing.T) {
	for v, want := range map[string]uint64{"apple": 0x98d044a5df131e5e, "banana": 0x7d23a9dd32b962da, "cherry": 0xa956c361d6ed4fca, "": 0x0d1c3bbd29dfb497} {
		require.Equal(t, want, Hash([]byte(v)))
	}
	data := build(Options{}, "apple", "banana", "cherry", "apple").Finish()
	require.Equal(t, "0001100800004084012200000000408110000801021000018080000210000021", hex.EncodeToString(data))

	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprintf("value_%06d", i))
	}
	data = build(Options{}, values...).Finish()
	require.Len(t, data, 4*32)
	require.Equal(t, uint64(0x59793cd18186d5dd), xxh3.Hash(data))
	require.Equal(t, "9d2ada3b60e1cbcff817fd847433a73cdb80cea3664156ebec79e8b5ce9e76aa", hex.EncodeToString(data[:32]))
}

func TestSizes(t *testing.T) {
	for n := 1; n <= 2000; n++ {
		require.Equal(t, max((10*n/8+31)/32, 1)*32, size(n, 0.01), "n=%d", n)
	}
	require.Equal(t, 40*32, size(1024, 0.01))
}

func TestBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOf(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3))).Draw(t, "hashes")
		limit := rapid.IntRange(0, 40).Draw(t, "max")
		b := NewBuilder(Options{MaxValues: limit})
		if limit == 0 {
			limit = DefaultMaxValues
		}
		distinct := map[uint64]bool{}
		for _, h := range hashes {
			b.AddHash(h)
			distinct[h] = true
		}
		require.Equal(t, len(distinct) > limit, b.Abandoned())
		data := b.Finish()
		if len(distinct) == 0 || b.Abandoned() {
			require.Nil(t, data)
			return
		}
		require.Equal(t, len(distinct), b.Len())
		f, ok := Open(Algorithm, Seed, data)
		require.True(t, ok)
		for h := range distinct {
			require.True(t, f.MayContainHash(h))
		}
	})
}

func TestFalsePositives(t *testing.T) {
	for _, n := range []int{1, 100, 1000, 100_000} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		b := NewBuilder(Options{MaxValues: n})
		for range n {
			b.AddHash(r.Uint64())
		}
		f, ok := Open(Algorithm, Seed, b.Finish())
		require.True(t, ok)
		hits := 0
		for range 20_000 {
			if f.MayContainHash(r.Uint64()) {
				hits++
			}
		}
		require.Less(t, float64(hits)/20_000, 0.02, "n=%d", n)
	}
}

func TestOpen(t *testing.T) {
	for _, n := range []int{0, 1, 31, 33, 63} {
		_, ok := Open(Algorithm, Seed, make([]byte, n))
		require.False(t, ok)
	}
	_, ok := Open("md5", Seed, make([]byte, 32))
	require.False(t, ok)
	f, ok := Open(Algorithm, 7, make([]byte, 96))
	require.True(t, ok)
	require.False(t, f.MayContain([]byte("x")))
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("x"), make([]byte, 32))
	f.Fuzz(func(t *testing.T, value, data []byte) {
		if filter, ok := Open(Algorithm, Seed, data); ok {
			filter.MayContain(value)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	value := []byte("some value")
	f, _ := Open(Algorithm, Seed, make([]byte, 320))
	require.Zero(t, testing.AllocsPerRun(100, func() { f.MayContain(value) }))
}

func BenchmarkMayContain(b *testing.B) {
	f, _ := Open(Algorithm, Seed, make([]byte, 32*40))
	h := uint64(1)
	microbench.Output(b, 8*1000) // of hashes
	for b.Loop() {
		for range 1000 {
			f.MayContainHash(h)
			h = h*0x9e3779b97f4a7c15 + 1
		}
	}
}

func BenchmarkAddHash(b *testing.B) {
	microbench.Output(b, 8*2000) // of hashes
	for b.Loop() {
		f := NewBuilder(Options{})
		for h := uint64(1); h <= 1000; h++ {
			f.AddHash(h * 0x9e3779b97f4a7c15)
			f.AddHash(h * 0x9e3779b97f4a7c15)
		}
	}
}
