package numeric

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Decoding does not allocate once the scratch has grown to what a block needs.
func TestNoAllocation(t *testing.T) {
	blocks, _ := vectors(t)
	seen := map[string]bool{}
	for _, v := range blocks {
		typ, _ := parseType(v.Type)
		if typ != I64 && typ != U32 && typ != F64 || v.N < 1000 || seen[v.Type+v.Requested] {
			continue
		}
		seen[v.Type+v.Requested] = true
		var s Scratch
		var allocs float64
		switch typ {
		case I64:
			allocs = allocations[int64](t, v, &s)
		case U32:
			allocs = allocations[uint32](t, v, &s)
		case F64:
			allocs = allocations[float64](t, v, &s)
		}
		require.Zero(t, allocs, v.ID)
	}
	t.Logf("%d kinds of blocks", len(seen))
}

func allocations[T Value](t *testing.T, v vector, s *Scratch) float64 {
	dst, validity := make([]T, v.N), make([]byte, v.N/8+1)
	decode := func() {
		if _, err := DecodeBlock(dst, validity, 0, v.Block, BlockOptions{Checksums: v.Checksum}, s); err != nil {
			t.Fatal(v.ID, err)
		}
	}
	decode()
	decode()
	return testing.AllocsPerRun(3, decode)
}
