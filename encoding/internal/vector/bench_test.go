package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// BenchmarkGather writes the values that codes stand for back to back.
func BenchmarkGather(b *testing.B) {
	for name, entries := range map[string]int{"airports": 300, "words": 20_000} {
		b.Run(name, func(b *testing.B) {
			t := NewTable(makeValues(entries, func(i int) []byte { return fmt.Appendf(nil, "%03X", i) }))
			rnd := rand.New(rand.NewPCG(3, 4))
			codes, ends := make([]uint32, 64<<10), make([]int32, 64<<10)
			for i := range codes {
				codes[i] = uint32(rnd.IntN(entries))
			}
			dst := make([]byte, t.Bound(len(codes)))
			n, err := Gather(t, dst, ends, 0, codes)
			if err != nil {
				b.Fatal(err)
			}
			microbench.Output(b, n)
			for b.Loop() {
				if _, err := Gather(t, dst, ends, 0, codes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func makeValues(n int, of func(i int) []byte) Values {
	v := Values{Offsets: []int64{0}, N: n}
	for i := range n {
		v.Data = append(v.Data, of(i)...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	return v
}
