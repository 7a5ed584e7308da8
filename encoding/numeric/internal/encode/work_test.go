package encode_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/codec"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// The work of trials is bounded, whatever the values are: once it is done, each part of the tree at hand is written with what is likely to be best.
func TestWorkOfTrials(t *testing.T) {
	const n = 8 << 10
	random := rand.New(rand.NewPCG(1, 2))
	sequences := []struct {
		name string
		next func(i int, last uint64) uint64
	}{
		{"noise", func(int, uint64) uint64 { return random.Uint64() }},
		{"few, and far", func(int, uint64) uint64 { return 1000 * random.Uint64N(3000) }},
		{"walk", func(_ int, last uint64) uint64 { return last + random.Uint64N(7) - 3 }},
		{"steps", func(i int, last uint64) uint64 { return last + uint64(i%5/4)*random.Uint64N(200) }},
		{"runs of codes", func(i int, last uint64) uint64 { return max(last*uint64(min(i%7, 1)), random.Uint64N(90)) }},
		{"words of a log", func(i int, _ uint64) uint64 { return uint64(i%31) * (1 + random.Uint64N(4)) << 12 }},
		{"ids", func(i int, _ uint64) uint64 { return 1 << 40 * random.Uint64N(900) / 7 * uint64(1+i/100) }},
	}
	for _, profile := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
		ended := 0
		for _, s := range sequences {
			values := make([]uint64, n)
			for i := range values {
				values[i] = s.next(i, values[max(i, 1)-1])
			}
			e := new(encode.Workspace)
			e.Begin(codec.Table, profile, edition.E2026.Features())
			encode.AppendTree(e, nil, values, word.I64, bitmap.All(n), new(encode.Hint), nil)
			left := e.Left()
			require.GreaterOrEqual(t, left, -24*int64(n), "%v, %s: more than one trial after the end", profile, s.name)
			if left < 0 {
				ended++
			}
		}
		if profile != encoding.Balanced {
			require.Positive(t, ended, "%v: the bound is never reached", profile)
		}
	}
}
