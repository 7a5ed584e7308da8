package hll

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func TestVectors(t *testing.T) {
	require.Equal(t, uint64(0x29ec303170129658), Hash([]byte("apple")))
	require.Equal(t, uint64(0xc68cec4712605049), Hash([]byte("banana")))
	require.Equal(t, uint64(0x6c3fd167d5271158), Hash([]byte("cherry")))
	s := New(DefaultBits)
	require.Zero(t, s.Estimate())
	for _, v := range []string{"apple", "banana", "cherry", "apple"} {
		s.AddHash(Hash([]byte(v)))
	}
	want := make([]byte, 128)
	want[20], want[54], want[99] = 1, 4, 2
	require.Equal(t, want, s.Counters())
	require.EqualValues(t, 3, s.Estimate())

	s = New(DefaultBits)
	for i := range 100 {
		s.AddHash(Hash(fmt.Appendf(nil, "value_%06d", i)))
	}
	require.Equal(t, uint64(0x45b3a99923b57df6), xxh3.Hash(s.Counters()))
	require.EqualValues(t, 99, s.Estimate())
	require.InDelta(t, 147.84456-98.8447, bias(7, 147.84456), 0.001)
}

// The published table of p = 7 is compared by its sums, all others by their shape.
func TestBiasTables(t *testing.T) {
	for p := MinBits; p <= MaxBits; p++ {
		table := parseBias(p)
		require.GreaterOrEqual(t, len(table.raw), 79)
		require.Len(t, table.bias, len(table.raw))
		require.InDelta(t, float64(int(1)<<p), table.raw[0]+0, 0.35*float64(int(1)<<p))
	}
	raw, all := 0.0, 0.0
	table := parseBias(7)
	for i := range table.raw {
		raw += table.raw[i]
		all += table.bias[i]
	}
	require.InDelta(t, 67758.7204, raw, 1e-6)
	require.InDelta(t, 4077.7204, all, 1e-6)
	require.Equal(t, table.bias[0], bias(7, 0))
	require.Equal(t, table.bias[199], bias(7, 1e9))
	require.Equal(t, table.bias[5], bias(7, table.raw[5]))
}

// The error is within four times the standard error of the precision.
func TestAccuracy(t *testing.T) {
	for p := MinBits; p <= 16; p++ {
		r := rand.New(rand.NewPCG(uint64(p), 1))
		s := New(p)
		n := 0
		for _, stop := range []int{1, 10, 100, 1000, 10_000, 200_000} {
			for ; n < stop; n++ {
				s.AddHash(r.Uint64())
			}
			limit := 4 * 1.04 / math.Sqrt(float64(int(1)<<p))
			require.InDelta(t, n, float64(s.Estimate()), max(limit*float64(n), 2), "p=%d n=%d", p, n)
		}
	}
}

func TestMergeIsUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(rapid.Uint64()).Draw(t, "a"), rapid.SliceOf(rapid.Uint64()).Draw(t, "b")
		sa, sb, both := New(7), New(7), New(7)
		for _, h := range a {
			sa.AddHash(h)
			both.AddHash(h)
		}
		for _, h := range b {
			sb.AddHash(h)
			both.AddHash(h)
		}
		again, err := Parse(7, sa.Counters())
		require.NoError(t, err)
		require.True(t, again.Merge(sb))
		require.Equal(t, both.Counters(), again.Counters())
		require.Equal(t, both.Estimate(), again.Estimate())
		require.False(t, sa.Merge(New(8)))
	})
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		bits     uint32
		counters []byte
	}{{3, make([]byte, 8)}, {19, nil}, {1 << 31, nil}, {7, make([]byte, 127)}, {7, make([]byte, 129)}, {4, []byte{62, 15: 0}}} {
		_, err := Parse(c.bits, c.counters)
		require.Error(t, err)
	}
	_, err := Parse(4, []byte{61, 15: 0})
	require.NoError(t, err)
	_, err = Parse(4, nil)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func FuzzParse(f *testing.F) {
	f.Add(uint32(7), make([]byte, 128))
	f.Fuzz(func(t *testing.T, bits uint32, counters []byte) {
		if s, err := Parse(bits, counters); err == nil {
			s.Estimate()
			s.Merge(s)
		}
	})
}

func BenchmarkAddHash(b *testing.B) {
	s := New(7)
	h := uint64(1)
	microbench.Output(b, 8*1000) // of hashes
	for b.Loop() {
		for range 1000 {
			s.AddHash(h)
			h = h*0x9e3779b97f4a7c15 + 1
		}
	}
}
