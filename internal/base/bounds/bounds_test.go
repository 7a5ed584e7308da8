package bounds

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func testOf[T Value](t *testing.T, special ...T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		v := make([]T, rapid.IntRange(0, 40).Draw(t, "n"))
		for i := range v {
			v[i] = T(r.Int64() >> r.IntN(64))
			if len(special) > 0 && r.IntN(3) == 0 {
				v[i] = special[r.IntN(len(special))]
			}
		}
		var wlo, whi T
		n := 0
		for _, x := range v {
			if x != x {
				continue
			}
			if n == 0 || x < wlo {
				wlo = x
			}
			if n == 0 || x > whi {
				whi = x
			}
			n++
		}
		lo, hi, got := Of(v)
		require.Equal(t, n, got)
		require.True(t, lo == wlo && hi == whi, "%v: %v %v", v, lo, hi)
	})
}

func TestOf(t *testing.T) {
	testOf[int8](t)
	testOf[int64](t, math.MinInt64, math.MaxInt64)
	testOf[uint64](t, math.MaxUint64)
	testOf[uint16](t)
	testOf(t, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1))
	testOf(t, float32(math.NaN()), float32(math.Inf(1)))
}

func TestGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		off := rapid.IntRange(0, 9).Draw(t, "off")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		valid := bitmap.Bits{Data: make([]byte, (n+off+7)/8), Off: off, Len: n}
		for i := 0; i < n; {
			run := min(1+r.IntN(1<<r.IntN(9)), n-i)
			if r.IntN(2) > 0 {
				bitmap.SetRange(valid.Data, off+i, run)
			}
			i += run
		}
		if rapid.Bool().Draw(t, "all") {
			valid = bitmap.All(n)
		}
		values := make([]int, n)
		var want, got []int
		for i := range values {
			values[i] = i
			if valid.At(i) {
				want = append(want, i)
			}
		}
		var buf [GatherLen]int
		for at := 0; at < n; {
			run, next := Gather(values, valid, at, &buf)
			require.Greater(t, next, at)
			got = append(got, run...)
			at = next
		}
		require.Equal(t, want, got)
	})
}

func BenchmarkOf(b *testing.B) {
	benchOf[int8](b, "int8")
	benchOf[uint32](b, "uint32")
	benchOf[int64](b, "int64")
	benchOf[float64](b, "float64")
}

func benchOf[T Value](b *testing.B, name string) {
	v := make([]T, 65536)
	for i := range v {
		v[i] = T(rand.Int64() >> 8)
	}
	b.Run(name, func(b *testing.B) {
		microbench.Output(b, binary.Size(v)) // of the values
		for b.Loop() {
			Of(v)
		}
	})
}
