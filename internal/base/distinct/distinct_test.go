package distinct

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		for range 2 {
			ids, order := map[string]uint32{}, []string{}
			for i := range rapid.IntRange(0, 400).Draw(t, "n") {
				value := rapid.SliceOfN(rapid.ByteRange(0, 2), 0, rapid.SampledFrom([]int{1, 3, 9, 20}).Draw(t, "longest")).Draw(t, "value")
				if i%50 == 49 {
					require.EqualValues(t, len(order), s.AddApart(value))
					order = append(order, string(value))
					continue
				}
				// With other bytes behind the value, which have no effect.
				value = append(append(make([]byte, 0, 40), value...), 1, 2, 3)[:len(value)]
				id, added := s.Add(value)
				want, known := ids[string(value)]
				require.Equal(t, !known, added)
				if !known {
					want = uint32(len(order))
					ids[string(value)] = want
					order = append(order, string(value))
				}
				require.Equal(t, want, id)
			}
			require.Equal(t, len(order), s.Len())
			at := 0
			for id, v := range order {
				require.Equal(t, v, string(s.Value(uint32(id))))
				at += len(v)
				require.Equal(t, at, s.End(uint32(id)))
			}
			perm := make([]uint32, s.Len())
			for i := range perm {
				perm[i] = uint32(len(perm) - 1 - i)
			}
			s.Renumber(perm)
			for v, id := range ids {
				got, added := s.Add([]byte(v))
				require.False(t, added)
				require.Equal(t, perm[id], got)
				require.Equal(t, v, string(s.Value(got)))
			}
			s.Reset()
			require.Zero(t, s.Len())
		}
	})
}

// Values of one size get the ids that they get one by one.
func TestFixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, one Set
		size := rapid.SampledFrom([]int{1, 4, 8, 16}).Draw(t, "size")
		for range 3 {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			few := rapid.IntRange(1, 2000).Draw(t, "few")
			data := make([]byte, size*rapid.IntRange(0, 3000).Draw(t, "n"))
			var want []uint32
			for at := 0; at < len(data); at += size {
				v := r.IntN(few) * 7919
				data[at], data[at+size-1] = byte(v), byte(v>>8)
				id, _ := one.Add(data[at : at+size])
				want = append(want, id)
			}
			require.Equal(t, want, s.AddFixed(nil, data, size))
			require.Equal(t, one.Data(), s.Data())
			require.Equal(t, one.AddApart(data[:0]), s.AddApart(data[:0]))
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	for _, distinct := range []int{10, 1000, 100_000} {
		for _, format := range []string{"%x", "value %d", "a somewhat longer value %d"} {
			b.Run(fmt.Sprintf("distinct=%d/%s", distinct, format), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(1, 2))
				var data []byte
				ends := []int{0}
				for range 1 << 16 {
					data = fmt.Appendf(data, format, rnd.IntN(distinct))
					ends = append(ends, len(data))
				}
				var s Set
				microbench.Output(b, len(data)) // of the values
				for b.Loop() {
					for i, end := range ends[1:] {
						s.Add(data[ends[i]:end])
					}
				}
			})
		}
	}
}

// Strings that collide in one process do not collide in another.
func TestCollisionsCannotBeChosen(t *testing.T) {
	defer func(old [2]uint64) { seeds = old }(seeds)
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{8, 12, 40} {
		hash := func(value []byte) uint32 { return hashOf(headOf(value), value) & 0xff }
		seeds = [2]uint64{r.Uint64(), r.Uint64()}
		var collide [][]byte
		for len(collide) < 500 {
			value := make([]byte, n)
			for i := range value {
				value[i] = byte(r.Uint32())
			}
			if hash(value) == 7 {
				collide = append(collide, value)
			}
		}
		seeds = [2]uint64{r.Uint64(), r.Uint64()}
		slots := map[uint32]int{}
		for _, value := range collide {
			slots[hash(value)]++
		}
		require.Greater(t, len(slots), 150, "%d bytes", n)
	}
}

// BenchmarkAddFixed numbers random numbers of 64 bits.
func BenchmarkAddFixed(b *testing.B) {
	for _, distinct := range []int{1000, 20_000, 200_000} {
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 2))
			pool := make([]uint64, distinct)
			for i := range pool {
				pool[i] = rnd.Uint64()
			}
			var data []byte
			for range 1 << 20 {
				data = binary.LittleEndian.AppendUint64(data, pool[rnd.IntN(distinct)])
			}
			var s Set
			ids := s.AddFixed(nil, data, 8)
			microbench.Output(b, len(data)) // of the values
			for b.Loop() {
				ids = s.AddFixed(ids[:0], data, 8)
			}
		})
	}
}
