package bytestring

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/edition"
)

var notANumber = decimal.Decimal{15: 0x7c}

func number(coefficient int64, exponent int) decimal.Decimal {
	var d [1]decimal.Decimal
	decimal.FromInt64(d[:], []int64{coefficient}, exponent)
	return d[0]
}

// large is ±(hi·2^64 + lo) × 10^exponent.
func large(t require.TestingT, negative bool, hi, lo uint64, exponent int) decimal.Decimal {
	d, ok := decimal.FromCoefficient(negative, hi, lo, exponent)
	require.True(t, ok)
	return d
}

func decimalColumn(values ...decimal.Decimal) Values {
	return Values{Data: decimal.Bytes(values), Fixed: 16, N: len(values)}
}

// The example of the comment on the encoding.
func TestDecimalBytes(t *testing.T) {
	v := decimalColumn(number(125, -2), notANumber, number(50, -2))
	tree, err := AppendTreeAs(nil, v, bitmap.All(3), "DecimalTree(Plain)")
	require.NoError(t, err)
	u64 := func(b string) string { return b + strings.Repeat("00", 7) }
	require.Equal(t, "0180feff00000000010000001a000000"+"0100"+u64("7d")+u64("7d")+u64("32")+strings.Repeat("00", 6)+
		"01000000"+strings.Repeat("00", 15)+"7c", hex.EncodeToString(tree))
	node := Describe(tree, 3, 16)
	require.NoError(t, node.FirstErr())
	require.Equal(t, "DecimalTree[e=-2,x=1](Plain)", node.String())

	var s Scratch
	b, err := Parse(withTree(tree, bitmap.All(3)), 3, 16, BlockOptions{Checksums: true}, &s)
	require.NoError(t, err)
	exponent, integers, x, ok := b.Integers()
	require.True(t, ok)
	require.Equal(t, -2, exponent)
	require.Equal(t, []int64{125, 125, 50}, integers)
	require.Equal(t, []uint32{1}, x.Positions)
	require.True(t, x.Values[0].IsNaN())
}

// odd decimals have no integer, or one that does not give their bytes back.
func oddDecimals(t require.TestingT) []decimal.Decimal {
	odd := []decimal.Decimal{
		notANumber, {15: 0x78}, {15: 0xf8}, large(t, true, 0, 0, 0), large(t, true, 0, 0, -2),
		{}, number(1, 100), large(t, false, 66926059427634, 16033479673939144690, 0), number(1, decimal.MinExponent),
		number(math.MaxInt64, 0), number(math.MinInt64, 0), large(t, false, 0, 1<<63, 0),
	}
	var raw decimal.Decimal
	for i := range raw {
		raw[i] = 0xff
	}
	odd = append(odd, raw)
	raw = number(125, -2)
	raw[0], raw[1] = 0xff, 0xff // a declet that is not canonical
	return append(odd, raw)
}

func TestDecimals(t *testing.T) {
	odd := oddDecimals(t)
	var s Scratch
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 100, 1024, 2500}).Draw(t, "n")
		kind := rapid.SampledFrom([]string{"one scale", "reduced", "scales", "large"}).Draw(t, "kind")
		oddShare := rapid.SampledFrom([]int{0, 0, 3, 60}).Draw(t, "percent odd")
		nullShare := rapid.SampledFrom([]int{0, 0, 10, 100}).Draw(t, "percent null")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		values := make([]decimal.Decimal, n)
		mask := make([]byte, (n+7)/8)
		for i := range values {
			c := int64(rnd.IntN(100_000) - 50_000)
			switch kind {
			case "one scale":
				values[i], _ = decimal.FromCoefficient(c < 0, 0, uint64(max(c, -c)), -2)
			case "reduced":
				values[i], _ = decimal.FromCoefficient(c < 0, 0, uint64(max(c, -c)), -4)
				values[i] = values[i].Reduce()
			case "scales":
				values[i], _ = decimal.FromCoefficient(c < 0, 0, uint64(max(c, -c)), rnd.IntN(9)-6)
			case "large":
				values[i], _ = decimal.FromCoefficient(c < 0, 0, uint64(math.MaxInt64)-uint64(rnd.IntN(1000)), -10)
			}
			if rnd.IntN(100) < oddShare {
				values[i] = odd[rnd.IntN(len(odd))]
			}
			if rnd.IntN(100) >= nullShare {
				bitmap.SetRange(mask, i, 1)
			}
		}
		v, valid := decimalColumn(values...), bitmap.Bits{Data: mask, Len: n}
		profile := rapid.SampledFrom(profiles).Draw(t, "profile")
		e := NewEncoder(encoding.Options{Profile: profile, Features: edition.E2026.Features()}, 16)
		blk, err := e.AppendBlock(nil, v, valid)
		require.NoError(t, err)
		require.Equal(t, quoted(v, valid), decodeAll(t, blk, n, 16, BlockOptions{Checksums: true}, &s))
		tree, err := AppendTreeAs(nil, v, valid, "DecimalTree(FFOR)")
		if err != nil {
			return
		}
		blk = withTree(tree, valid)
		require.Equal(t, quoted(v, valid), decodeAll(t, blk, n, 16, BlockOptions{Checksums: true}, &s))
		checkIntegers(t, values, valid, blk, &s)
		if oddShare == 0 && (kind == "one scale" || kind == "large" || kind == "reduced") {
			b, err := Parse(blk, n, 16, BlockOptions{Checksums: true}, &s)
			require.NoError(t, err)
			_, _, x, _ := b.Integers()
			require.Empty(t, x.Positions)
		}
	})
}

// checkIntegers compares what a block offers instead of decimals.
func checkIntegers(t require.TestingT, values []decimal.Decimal, valid bitmap.Bits, blk []byte, s *Scratch) {
	b, err := Parse(blk, len(values), 16, BlockOptions{Checksums: true}, s)
	require.NoError(t, err)
	exponent, integers, x, ok := b.Integers()
	require.True(t, ok)
	odd := map[uint32]decimal.Decimal{}
	for i, p := range x.Positions {
		odd[p] = x.Values[i]
	}
	for i, want := range values {
		if !valid.At(i) {
			continue
		}
		if d, ok := odd[uint32(i)]; ok {
			require.Equal(t, want, d)
			continue
		}
		var got [1]decimal.Decimal
		decimal.FromInt64(got[:], integers[i:i+1], exponent)
		require.Zero(t, want.Compare(got[0]), "%v is not %v", got[0], want)
	}
}

// Decimals are only written as such where the edition has them, and pay.
func TestDecimalChoice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	values := make([]decimal.Decimal, 4000)
	ids := make([]byte, 16*len(values))
	for i := range values {
		values[i], _ = decimal.FromCoefficient(false, 0, uint64(rnd.IntN(10_000_000)), -2)
	}
	for i := range ids {
		ids[i] = byte(rnd.Uint32())
	}
	for _, p := range profiles {
		for _, ed := range []edition.Edition{edition.Reference, edition.E2026} {
			o := encoding.Options{Profile: p, Features: ed.Features()}
			blk, err := NewEncoder(o, 16).AppendBlock(nil, decimalColumn(values...), bitmap.All(len(values)))
			require.NoError(t, err)
			got := root(treeOf(t, blk, len(values), 16))
			want := ed == edition.E2026 && p != encoding.ProfilePlain
			require.Equal(t, want, got == "DecimalTree", "%v, %v: %s", p, ed, got)
			blk, err = NewEncoder(o, 16).AppendBlock(nil, Values{Data: ids, Fixed: 16, N: len(values)}, bitmap.All(len(values)))
			require.NoError(t, err)
			require.NotEqual(t, "DecimalTree", root(treeOf(t, blk, len(values), 16)))
		}
	}
}

func TestBadDecimals(t *testing.T) {
	good, err := AppendTreeAs(nil, decimalColumn(number(125, -2), notANumber, number(50, -2)), bitmap.All(3), "DecimalTree(FFOR)")
	require.NoError(t, err)
	change := func(at int, b byte) []byte {
		bad := append([]byte(nil), good...)
		bad[at] = b
		return bad
	}
	for _, c := range []struct {
		name  string
		tree  []byte
		fixed int
		want  string
	}{
		{"size of values", good, 15, "values of 15 bytes"},
		{"exponent", change(3, 0x7f), 16, "exponent"},
		{"form", change(4, 2), 16, "form 2"},
		{"exceptions", change(8, 2), 16, "for 2 exceptions"},
		{"position", change(len(good)-20, 3), 16, "exception at 3"},
		{"integers size", change(13, 0xff), 16, "integers of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Scratch
			_, err := Parse(frame(c.tree), 3, c.fixed, BlockOptions{}, &s)
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A block of values that are no decimals may follow blocks of decimals.
func TestDecimalsThenOthers(t *testing.T) {
	e := NewEncoder(encoding.Options{Features: edition.E2026.Features()}, 16)
	var s Scratch
	var prices []decimal.Decimal
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		prices = append(prices, number(int64(rnd.IntN(1000))*100+25, -2))
	}
	other := Values{Data: []byte(strings.Repeat("0123456789abcdef", 10)), Fixed: 16, N: 10}
	for i, v := range []Values{decimalColumn(prices...), other, decimalColumn(prices...)} {
		blk, err := e.AppendBlock(nil, v, bitmap.All(v.N))
		require.NoError(t, err)
		if i == 0 {
			require.Equal(t, "DecimalTree", root(treeOf(t, blk, v.N, 16)))
		}
		require.Equal(t, quoted(v, bitmap.All(v.N)), decodeAll(t, blk, v.N, 16, BlockOptions{Checksums: true}, &s))
	}
}
