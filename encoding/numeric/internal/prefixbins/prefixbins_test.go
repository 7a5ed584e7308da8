package prefixbins

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Values come back from streams of any bins, and every set of kernels reads damaged streams alike.
func TestDecode(t *testing.T) {
	t.Run("8", func(t *testing.T) { rapid.Check(t, checkDecode[uint8]) })
	t.Run("16", func(t *testing.T) { rapid.Check(t, checkDecode[uint16]) })
	t.Run("32", func(t *testing.T) { rapid.Check(t, checkDecode[uint32]) })
	t.Run("64", func(t *testing.T) { rapid.Check(t, checkDecode[uint64]) })
}

func FuzzDecode(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		switch rapid.SampledFrom([]int{8, 16, 32, 64}).Draw(t, "bits") {
		case 8:
			checkDecode[uint8](t)
		case 16:
			checkDecode[uint16](t)
		case 32:
			checkDecode[uint32](t)
		case 64:
			checkDecode[uint64](t)
		}
	}))
}

func checkDecode[U word.Uint](t *rapid.T) {
	var a word.Arena
	b := drawBins[U](t)
	values := make([]U, rapid.IntRange(0, 300).Draw(t, "values"))
	b.index = make([]uint16, len(values))
	for i := range values {
		bin := rapid.IntRange(0, len(b.Lows)-1).Draw(t, "bin")
		width := b.Widths[len(b.Lows)+bin]
		values[i] = b.Lows[bin] + U(rapid.Uint64().Draw(t, "offset")&(1<<width-1))
		b.index[i] = uint16(bin)
	}
	var data []byte
	var starts [Streams + 1]int
	codes := b.Codes(&a)
	for k := range Streams {
		data = b.AppendStream(data, values, k, codes, 0)
		starts[k+1] = len(data)
	}
	data = append(data, make([]byte, Slack)...)
	got, err := decodeAll(t, &a, b, data, starts, len(values))
	require.NoError(t, err)
	require.Equal(t, values, got)
	data[rapid.IntRange(0, len(data)-1).Draw(t, "damaged byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "damage"))
	_, _ = decodeAll(t, &a, b, data, starts, len(values))
}

// decodeAll decodes with all sets of kernels, which have to agree.
func decodeAll[U word.Uint](t *rapid.T, a *word.Arena, b Bins[U], data []byte, starts [Streams + 1]int, n int) ([]U, error) {
	all := tiers()
	defer use(all[len(all)-1])
	var first []U
	var firstErr error
	for i, tier := range all {
		use(tier)
		// Canaries show whether something is written behind the values.
		canaries := slices.Repeat([]U{42}, 64)
		got := append(make([]U, n), canaries...)
		err := Decode(a, got[:n:n], b.Lows, b.Widths, data, starts)
		require.Equal(t, canaries, got[n:])
		if i == 0 {
			first, firstErr = got[:n], err
		}
		require.Equal(t, first, got[:n])
		require.Equal(t, firstErr, err)
	}
	return first, firstErr
}

// drawBins draws a complete code by splitting its codes, and bins that need not be in order.
func drawBins[U word.Uint](t *rapid.T) Bins[U] {
	lengths := []uint8{0}
	for range rapid.IntRange(0, 40).Draw(t, "splits") {
		if i := rapid.IntRange(0, len(lengths)-1).Draw(t, "split"); lengths[i] < codeBits {
			lengths[i]++
			lengths = append(lengths, lengths[i])
		}
	}
	b := Bins[U]{Lows: make([]U, len(lengths)), Widths: lengths}
	widest := rapid.SampledFrom([]int{0, 2, word.BitsOf[U]()}).Draw(t, "widest")
	for i := range b.Lows {
		b.Lows[i] = U(rapid.Uint64().Draw(t, "low"))
		b.Widths = append(b.Widths, uint8(rapid.IntRange(0, widest).Draw(t, "width")))
	}
	return b
}
