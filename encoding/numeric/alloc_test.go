package numeric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Decoding does not allocate once the scratch memory has grown to the size that a block needs.
func TestNoAllocation(t *testing.T) {
	skipIfRace(t)
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

func skipIfRace(t *testing.T) {
	if raceEnabled {
		t.Skip("-race: the detector allocates")
	}
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

// Encoding does not allocate once an encoder has memory for a column.
func TestEncodeNoAllocation(t *testing.T) {
	skipIfRace(t)
	for _, kind := range []string{"constant", "narrow", "ascending", "runs", "long runs", "few", "small", "sparse", "skewed"} {
		for p := range encoding.MinimalSize {
			for _, features := range []edition.Set{0, edition.E2026.Features()} {
				values := benchValues[int64](kind)
				e := NewEncoder[int64](encoding.Options{Profile: p, Features: features})
				var dst []byte
				write := func() { dst, _ = e.AppendBlock(dst[:0], values, bitmap.All(len(values))) }
				write()
				write()
				require.LessOrEqual(t, testing.AllocsPerRun(20, write), 0.5, "%s, %v", kind, p)
			}
		}
	}
}
