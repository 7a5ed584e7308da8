package rowset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bits-and-blooms/bitset"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// fromBitset is FromBits with bits-and-blooms/bitset, which copies the words of the bitmap and then counts bits or
// finds members or edges. It is faster where nearly all bits are equal, and takes three times as long for short
// runs, because each edge takes two calls.
func fromBitset(data []byte, off, n int, words []uint64, buf []uint) Set {
	view := bitmap.Bits{Data: data, Off: off, Len: n}
	for i := range words {
		words[i] = view.Word(64 * i)
	}
	b := bitset.FromWithLength(uint(n), words)
	ones := int(b.Count())
	if ones == 0 {
		return Set{}
	}
	ranges := 0
	for i, ok := b.NextSet(0); ok; i, ok = b.NextSet(i) {
		ranges++
		if i, ok = b.NextClear(i); !ok {
			break
		}
	}
	if compact(uint64(ones), ranges, uint64(n)) {
		rows := make([]uint32, 0, ones)
		for i, part := b.NextSetMany(0, buf); len(part) > 0; i, part = b.NextSetMany(i+1, buf) {
			for _, row := range part {
				rows = append(rows, uint32(row))
			}
		}
		return Set{n: int64(ones), rows: rows}
	}
	out := make([]Range, 0, ranges)
	for i, ok := b.NextSet(0); ok; i, ok = b.NextSet(i) {
		from := i
		if i, ok = b.NextClear(i); !ok {
			i = uint(n)
		}
		out = append(out, Range{int64(from), int64(i)})
	}
	return setOf(out)
}

// BenchmarkBitset compares FromBits with bits-and-blooms/bitset. A case sets one bit in so many.
func BenchmarkBitset(b *testing.B) {
	const n = 1 << 16
	for _, one := range []int{1, 2, 8, 64, 1024} {
		rng := rand.New(rand.NewPCG(1, 2))
		data := make([]byte, n/8)
		for i := range n {
			if rng.IntN(one) == 0 {
				data[i/8] |= 1 << (i % 8)
			}
		}
		words, buf := make([]uint64, n/64), make([]uint, 256)
		if a, c := FromBits(data, 0, n, 0), fromBitset(data, 0, n, words, buf); !a.Equal(c) {
			b.Fatal("the two sets differ")
		}
		b.Run(fmt.Sprintf("ours/%d", one), func(b *testing.B) {
			for b.Loop() {
				FromBits(data, 0, n, 0)
			}
		})
		b.Run(fmt.Sprintf("bitset/%d", one), func(b *testing.B) {
			for b.Loop() {
				fromBitset(data, 0, n, words, buf)
			}
		})
	}
}
