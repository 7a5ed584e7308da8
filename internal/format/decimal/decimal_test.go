package decimal

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// These bytes were made with decNumber.
func TestVectors(t *testing.T) {
	for text, want := range map[string]string{
		"0":                                    "00000000000000000000000000000822",
		"1":                                    "01000000000000000000000000000822",
		"-1":                                   "010000000000000000000000000008a2",
		"123.45":                               "c5490000000000000000000000800722",
		"12.5":                                 "a5000000000000000000000000c00722",
		"1.20":                                 "a0000000000000000000000000800722",
		"NaN":                                  "0000000000000000000000000000007c",
		"0E-6176":                              "00000000000000000000000000000000",
		"0.3333333333333333333333333333333333": "b3cd36db6cb3cd36db6cb3cd369bff2d",
		"9999999999999999999999999999999999":   "fffcf3cf3ffffcf3cf3ffffcf30f086e",
		"Infinity":                             "00000000000000000000000000000078",
		"-Infinity":                            "000000000000000000000000000000f8",
	} {
		d, err := parse(text)
		require.NoError(t, err)
		require.Equal(t, want, hex.EncodeToString(d[:]), text)
		require.Equal(t, text, d.String())
	}
}

// The tables agree with the definition of the other direction (IEEE 754-2008, table 3.3), and with the number of
// declets that are not canonical.
func TestDeclets(t *testing.T) {
	for v := range uint16(1000) {
		x, y, z := v/100, v/10%10, v%10
		a, e, i := x>>3, y>>3, z>>3
		bcd, fgh, jkm := x&7, y&7, z&7
		bc, fg, jk := bcd>>1, fgh>>1, jkm>>1
		d, h, m := x&1, y&1, z&1
		join := func(pq, r, st, u, vwx, y uint16) uint16 { return pq<<8 | r<<7 | st<<5 | u<<4 | vwx<<1 | y }
		var want uint16
		switch a<<2 | e<<1 | i {
		case 0:
			want = join(bc, d, fg, h, jk, m)
		case 1:
			want = join(bc, d, fg, h, 4, m)
		case 2:
			want = join(bc, d, jk, h, 5, m)
		case 3:
			want = join(bc, d, 2, h, 7, m)
		case 4:
			want = join(jk, d, fg, h, 6, m)
		case 5:
			want = join(fg, d, 1, h, 7, m)
		case 6:
			want = join(jk, d, 0, h, 7, m)
		case 7:
			want = join(0, d, 3, h, 7, m)
		}
		require.Equal(t, want, toDeclet[v], "%d", v)
		require.Equal(t, v, fromDeclet[want])
		require.True(t, canonical(uint64(want)))
	}
	odd := 0
	for declet := range uint64(1024) {
		if !canonical(declet) {
			odd++
			require.NotEqual(t, uint16(declet), toDeclet[fromDeclet[declet]])
			require.False(t, canonical(declet<<50))
		}
	}
	require.Equal(t, 24, odd)
}

// parse reads the text of [Decimal.String]: digits with an optional sign, point and exponent,
// Inf, Infinity or NaN in any case. It fails rather than round.
func parse(s string) (Decimal, error) {
	rest, negative := strings.CutPrefix(strings.ToLower(s), "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	switch rest {
	case "inf", "infinity":
		return special(0x78, negative), nil
	case "nan":
		return special(0x7c, negative), nil
	}
	mantissa, power, scientific := strings.Cut(rest, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, exponent, err := whole+fraction, 0, error(nil)
	if scientific {
		exponent, err = strconv.Atoi(power)
	}
	if err != nil || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Decimal{}, fmt.Errorf("%.60q is not a decimal", s)
	}
	exponent -= len(fraction)
	// Zeros move between coefficient and exponent to bring both into range.
	digits = strings.TrimLeft(digits, "0")
	for strings.HasSuffix(digits, "0") && (len(digits) > MaxDigits || exponent < MinExponent) {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	for digits != "" && len(digits) < MaxDigits && exponent > MaxExponent {
		digits, exponent = digits+"0", exponent-1
	}
	if digits == "" {
		exponent = min(max(exponent, MinExponent), MaxExponent)
	}
	v, _ := new(big.Int).SetString("0"+digits, 10)
	d, ok := FromCoefficient(negative, new(big.Int).Rsh(v, 64).Uint64(), v.Uint64(), exponent)
	if !ok || len(digits) > MaxDigits {
		return Decimal{}, fmt.Errorf("%.60q is out of the range of decimals", s)
	}
	return d, nil
}

// special is an infinity or a NaN.
func special(head byte, negative bool) Decimal {
	if negative {
		head |= 0x80
	}
	return Decimal{15: head}
}

func genDecimal() *rapid.Generator[Decimal] {
	return rapid.Custom(func(t *rapid.T) Decimal {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return special(0x78, rapid.Bool().Draw(t, "neg"))
		case 1:
			return special(0x7c, false)
		}
		v, _ := new(big.Int).SetString(rapid.StringMatching(`-?[0-9]{1,34}`).Draw(t, "coefficient"), 10)
		e := rapid.OneOf(rapid.IntRange(-40, 40), rapid.IntRange(MinExponent, MaxExponent)).Draw(t, "exponent")
		d, ok := fromBig(v, e)
		require.True(t, ok)
		if v.Sign() == 0 && rapid.Bool().Draw(t, "negative zero") {
			d[15] |= 0x80
		}
		return d
	})
}

func (p Parts) big() *big.Int {
	v := new(big.Int).SetUint64(p.Hi)
	v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(p.Lo))
	if p.Negative {
		v.Neg(v)
	}
	return v
}

func (d Decimal) rat() *big.Rat {
	p := d.Parts()
	r := new(big.Rat).SetInt(p.big())
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(p.Exponent, -p.Exponent))), nil)
	if p.Exponent < 0 {
		return r.Quo(r, new(big.Rat).SetInt(ten))
	}
	return r.Mul(r, new(big.Rat).SetInt(ten))
}

func TestAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e := genDecimal().Draw(t, "d"), genDecimal().Draw(t, "e")
		p := d.Parts()
		require.Equal(t, p.Class == NaN, d.IsNaN())
		require.Equal(t, p.Class == Infinite, d.IsInf())
		require.Equal(t, p.Class == Finite && p.big().Sign() == 0, d.IsZero())
		if p.Class == Finite {
			require.Equal(t, p.big().Sign(), d.Sign())
			again, ok := FromCoefficient(p.Negative, p.Hi, p.Lo, p.Exponent)
			require.True(t, ok)
			require.Equal(t, d, again)
			require.Equal(t, len(new(big.Int).Abs(p.big()).String()), max(digits(p.Hi, p.Lo), 1))
			testScales(t, d)
		}
		back, err := parse(d.String())
		require.NoError(t, err)
		require.Equal(t, d, back)
		require.Equal(t, -d.Compare(e), e.Compare(d))
		require.Zero(t, d.Compare(d))
		if p.Class == Finite && e.Parts().Class == Finite {
			require.Equal(t, d.rat().Cmp(e.rat()), d.Compare(e), "%v %v", d, e)
		}
		r := d.Reduce()
		require.Zero(t, d.Compare(r))
		if q := r.Parts(); p.Class == Finite && p.Exponent < 0 {
			require.True(t, q.Exponent == 0 || q.big().String()[len(q.big().String())-1] != '0', "%v", r)
			require.LessOrEqual(t, q.Exponent, 0)
		} else {
			require.Equal(t, d, r)
		}
	})
}

func testScales(t *rapid.T, d Decimal) {
	scale := rapid.IntRange(-40, 45).Draw(t, "scale")
	ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	want := new(big.Rat)
	if scale < 0 {
		want.Quo(d.rat(), ten)
	} else {
		want.Mul(d.rat(), ten)
	}
	b, ok := d.Big(scale)
	if len(want.Num().String()) < 12000 {
		require.Equal(t, want.IsInt(), ok)
	}
	if ok {
		require.Zero(t, want.Num().Cmp(b), "%v", d)
	}
	hi, lo, ok := d.Rescale(scale)
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	require.Equal(t, want.IsInt() && new(big.Int).Abs(want.Num()).Cmp(limit) < 0, ok, "%v scale %d", d, scale)
	var small [1]int64
	n := ToInt64(small[:], []Decimal{d}, scale)
	require.Equal(t, want.IsInt() && want.Num().IsInt64(), n == 1)
	var wide [1]Int128
	require.Equal(t, ok, ToInt128(wide[:], []Decimal{d}, scale) == 1)
	if ok {
		got := big.NewInt(hi)
		got.Lsh(got, 64).Add(got, new(big.Int).SetUint64(lo))
		require.Zero(t, want.Num().Cmp(got))
		require.Equal(t, Int128{lo, hi}, wide[0])
	}
	if n == 1 {
		require.Equal(t, want.Num().Int64(), small[0])
	}
}

// Within agrees with the number of digits in the text.
func TestWithin(t *testing.T) {
	edges := []string{"0", "1", "9", "10", "999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808",
		"9999999999999999999", "10000000000000000000", "18446744073709551616", strings.Repeat("9", 34), "1" + strings.Repeat("0", 34),
		strings.Repeat("9", 38), "1" + strings.Repeat("0", 38), "170141183460469231731687303715884105727"}
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.OneOf(rapid.SampledFrom(edges), rapid.StringMatching(`[1-9][0-9]{0,37}`)).Draw(t, "digits")
		v, _ := new(big.Int).SetString(digits, 10)
		if rapid.Bool().Draw(t, "negative") {
			v.Neg(v)
		}
		words := new(big.Int).And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
		hi := new(big.Int).Rsh(words, 64).Uint64()
		n := Int128{Lo: new(big.Int).And(words, new(big.Int).SetUint64(math.MaxUint64)).Uint64(), Hi: int64(hi)}
		precision := rapid.IntRange(1, 38).Draw(t, "precision")
		fits := v.Sign() == 0 || len(digits) <= precision
		require.Equal(t, fits, Within([]Int128{{}, n}, precision) == 2, "%s in %d digits", v, precision)
		exponent := rapid.IntRange(-40, 40).Draw(t, "exponent")
		if d, ok := fromBig(v, exponent); ok {
			require.Equal(t, fits, d.Within(precision, -exponent), "%s in %d digits", d, precision)
		}
	})
	require.False(t, Decimal{15: 0x7c}.Within(38, 0))
	require.False(t, Decimal{15: 0xf8}.Within(38, 0))
}

func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2e9, 2e9), rapid.SampledFrom([]int64{0, math.MinInt64, math.MaxInt64, 1e18, 1e18 - 1, -1e18, 999999999, 1e9})), 0, 50).Draw(t, "ints")
		exponent := rapid.OneOf(rapid.IntRange(-20, 20), rapid.IntRange(MinExponent, MaxExponent)).Draw(t, "exponent")
		d := make([]Decimal, len(ints))
		FromInt64(d, ints, exponent)
		wide := make([]Int128, len(ints))
		for i, v := range ints {
			want, ok := fromBig(big.NewInt(v), exponent)
			require.True(t, ok)
			require.Equal(t, want, d[i])
			wide[i] = Int128{uint64(v), v >> 63}
		}
		fromWide := make([]Decimal, len(ints))
		require.Equal(t, len(ints), FromInt128(fromWide, wide, exponent))
		require.Equal(t, d, fromWide)
		narrow := make([]int64, len(ints))
		require.Equal(t, len(ints), Narrow(narrow, wide))
		require.Equal(t, ints, narrow)
		back := make([]int64, len(ints))
		require.Equal(t, len(ints), ToInt64(back, d, -exponent))
		require.Equal(t, ints, back)
		clear(back)
		exps := make([]int16, len(ints))
		n := Coefficients(back, exps, d)
		for i := range n {
			require.Equal(t, ints[i], back[i])
			require.EqualValues(t, exponent, exps[i])
		}
		if n < len(ints) {
			require.Equal(t, int64(math.MinInt64), ints[n])
		}
		require.Equal(t, append([]Decimal(nil), d...), append([]Decimal(nil), Slice(Bytes(d))...))
	})
}

// 35 digits are refused, never rounded.
func TestFromInt128Stops(t *testing.T) {
	top := pow10[34]
	src := []Int128{{1, 0}, {top.lo - 1, int64(top.hi)}, {top.lo, int64(top.hi)}}
	require.Equal(t, 2, FromInt128(make([]Decimal, 3), src, 0))
	require.Equal(t, 1, Narrow(make([]int64, 3), src))
	require.Equal(t, 0, Narrow(make([]int64, 1), []Int128{{1 << 63, 0}}))
	src[1] = Int128{0, math.MinInt64}
	require.Equal(t, 1, FromInt128(make([]Decimal, 3), src, 0))
}

func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(genDecimal(), 0, 20).Draw(t, "v")
		if rapid.Bool().Draw(t, "alike") {
			for i := range v {
				FromInt64(v[i:i+1], []int64{rapid.Int64Range(-9, 9).Draw(t, "int")}, -2)
			}
		}
		var wlo, whi Decimal
		n := 0
		for _, d := range v {
			if d.IsNaN() {
				continue
			}
			if n == 0 || d.Compare(wlo) < 0 {
				wlo = d
			}
			if n == 0 || d.Compare(whi) > 0 {
				whi = d
			}
			n++
		}
		lo, hi, got := Bounds(v)
		require.Equal(t, n, got)
		if n > 0 {
			require.Equal(t, [2]Decimal{wlo, whi}, [2]Decimal{lo, hi}) // the first of equal numbers
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{"", "-", ".", "e5", "1e", "1e+", "1x", "1..2", "--1", "0x1", "1_0", "1e99999999999999999999", "1E+6145", "1E-6177",
		"12345678901234567890123456789012345", "0.12345678901234567890123456789012345", "100000000000000000000000000000000000000000000001", "nanx"} {
		_, err := parse(s)
		require.Error(t, err, s)
	}
	for s, want := range map[string]string{
		"+1": "1", ".5": "0.5", "5.": "5", "1E+6144": "1.000000000000000000000000000000000E+6144", "1e-6176": "1E-6176", "10E-6177": "1E-6176",
		"0E+9999": "0E+6111", "0E-9999": "0E-6176", "-0.00": "-0.00", "inf": "Infinity", "-NaN": "-NaN",
		"10000000000000000000000000000000000000000":    "1.000000000000000000000000000000000E+40",
		"00000000000000000000000000000000000000000012": "12",
		"1.20000000000000000000000000000000000000":     "1.200000000000000000000000000000000",
	} {
		d, err := parse(s)
		require.NoError(t, err, s)
		require.Equal(t, want, d.String())
	}
}

func FuzzDecimal(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add([]byte("\xff\xfc\xf3\xcf\x3f\xff\xfc\xf3\xcf\x3f\xff\xfc\xf3\x0f\x08\x6e1234567890123456"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ds := Slice(b)
		if len(ds) < 2 {
			return
		}
		d, e := ds[0], ds[1]
		require.Equal(t, -d.Compare(e), e.Compare(d))
		p := d.Parts()
		if p.Class != Finite {
			return
		}
		again, ok := FromCoefficient(p.Negative, p.Hi, p.Lo, p.Exponent)
		require.True(t, ok)
		require.Equal(t, p, again.Parts())
		back, err := parse(d.String())
		require.NoError(t, err)
		require.Equal(t, again, back)
		var c [1]int64
		var x [1]int16
		if Coefficients(c[:], x[:], []Decimal{d}) == 1 {
			FromInt64(ds[:1], c[:], int(x[0]))
			require.Equal(t, d, ds[0])
		}
		d.Reduce()
		for _, scale := range []int{-50, 0, 50, 6200} {
			d.Rescale(scale)
			d.Big(scale)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	ints, ds := make([]int64, 100), make([]Decimal, 100)
	exps := make([]int16, 100)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		FromInt64(ds, ints, -2)
		ToInt64(ints, ds, 2)
		Coefficients(ints, exps, ds)
		ds[0].Compare(ds[1])
	}))
}

func benchData(limit int64) ([]int64, []Decimal) {
	r := rand.New(rand.NewPCG(1, 2))
	ints := make([]int64, 65536)
	for i := range ints {
		ints[i] = r.Int64N(limit)
	}
	ds := make([]Decimal, len(ints))
	FromInt64(ds, ints, -2)
	return ints, ds
}

func BenchmarkColumns(b *testing.B) {
	for _, limit := range []int64{1000, 10_000_000, 1e17} {
		ints, ds := benchData(limit)
		wide := make([]Int128, len(ints))
		for i, v := range ints {
			wide[i] = Int128{uint64(v), v >> 63}
		}
		exps := make([]int16, len(ints))
		for _, c := range []struct {
			name string
			size int // of the results
			run  func()
		}{
			{"FromInt64", 16, func() { FromInt64(ds, ints, -2) }},
			{"FromInt128", 16, func() { FromInt128(ds, wide, -2) }},
			{"ToInt64", 8, func() { ToInt64(ints, ds, 2) }},
			{"ToInt128", 16, func() { ToInt128(wide, ds, 2) }},
			{"Coefficients", 10, func() { Coefficients(ints, exps, ds) }},
		} {
			b.Run(fmt.Sprintf("%s/limit=%.0e", c.name, float64(limit)), func(b *testing.B) {
				microbench.Output(b, c.size*len(ints))
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	_, ds := benchData(10_000_000)
	microbench.Output(b, 16*len(ds)) // of the values
	for b.Loop() {
		for i := 1; i < len(ds); i++ {
			ds[i].Compare(ds[i-1])
		}
	}
}

// fromBig is v × 10^exponent, made of digits and not of text.
func fromBig(v *big.Int, exponent int) (Decimal, bool) {
	abs := new(big.Int).Abs(v)
	ten, rem := big.NewInt(10), new(big.Int)
	limit := new(big.Int).Exp(ten, big.NewInt(MaxDigits), nil)
	for abs.Cmp(limit) >= 0 {
		if abs.BitLen() > 64*1024 {
			return Decimal{}, false
		}
		q, r := new(big.Int).QuoRem(abs, ten, rem)
		if r.Sign() != 0 {
			return Decimal{}, false
		}
		abs = q
		exponent++
	}
	lo := new(big.Int).And(abs, new(big.Int).SetUint64(^uint64(0))).Uint64()
	hi := new(big.Int).Rsh(abs, 64).Uint64()
	return FromCoefficient(v.Sign() < 0, hi, lo, exponent)
}
