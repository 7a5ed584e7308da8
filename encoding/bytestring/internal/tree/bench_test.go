package tree

import (
	"fmt"
	"testing"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// BenchmarkOffsets brings offsets as they are stored to their final form.
func BenchmarkOffsets(b *testing.B) {
	stored := make([]uint64, 8<<10)
	for i := range stored {
		stored[i] = uint64(3 * i)
	}
	benchOffsets[int32](b, stored, 4)
	benchOffsets[int64](b, stored, 8)
	b.Run("check", func(b *testing.B) {
		tree := Tree{Offsets: stored}
		microbench.Output(b, 8*len(stored)) // that are looked at
		for b.Loop() {
			if _, err := tree.checkOffsets(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchOffsets[O int32 | int64](b *testing.B, stored []uint64, width int) {
	b.Run(fmt.Sprintf("%T", O(0)), func(b *testing.B) {
		dst := make([]O, len(stored))
		microbench.Output(b, width*len(dst))
		for b.Loop() {
			moveOffsets(dst, stored, 1000)
		}
	})
}
