package numeric

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// shapes are the trees that are forced on values of all kinds.
var shapes = []string{
	"Plain", "SingleValue", "FLBitPack", "FFOR",
	"FOR(FLBitPack)", "FOR(FFOR)", "FOR(Plain)", "FOR(RunLength(raw,FLBitPack))", "FOR(Sparse(raw,raw))", "FOR(SingleValue)",
	"Delta(FFOR)", "Delta(Plain)", "Delta(SingleValue)", "Delta(Delta(FFOR))", "Delta(FOR(FLBitPack))", "Delta(RunLength(raw,FLBitPack))",
	"Delta(Zstd)", "RunLength(raw,raw)", "RunLength(raw,FLBitPack)", "RunLength(Plain,Plain)", "RunLength(FFOR,FFOR)",
	"RunLength(BlockDictionary(FLBitPack,raw),Delta(FFOR))", "RunLength(Delta(FFOR),Zstd)",
	"TruncateU8(raw)", "TruncateU8(FLBitPack)", "TruncateU16(FFOR)", "TruncateU32(Zstd)", "TruncateU64(LZ4)",
	"ZigZag(FLBitPack)", "ZigZag(raw)", "ZigZag(RunLength(FLBitPack,FLBitPack))",
	"BlockDictionary(FLBitPack,raw)", "BlockDictionary(FFOR,FFOR)", "BlockDictionary(Plain,Plain)",
	"BlockDictionary(RunLength(raw,raw),Delta(FFOR))", "BlockDictionary(SingleValue,SingleValue)", "BlockDictionary(Zstd,Delta(SingleValue))",
	"Sparse(raw,raw)", "Sparse(Delta(FFOR),FFOR)", "Sparse(FLBitPack,RunLength(raw,raw))", "Sparse(Zstd,Plain)",
	"Zstd", "Zstd[best]", "LZ4", "LZ4[high]",
	"ALP(FFOR)", "ALP(Plain)", "ALP[e=2,f=0](Delta(FFOR))", "ALP[e=9,f=8](TruncateU32(FLBitPack))", "ALP(RunLength(raw,FLBitPack))",
	"ALPRD(FLBitPack,FLBitPack)", "RunLength(ALP(FFOR),raw)", "BlockDictionary(FLBitPack,ALP(Zstd))",
}

// shapes2026 are trees that only edition 2026 has.
var shapes2026 = []string{
	"CommonDivisor(FLBitPack)", "CommonDivisor(Plain)", "CommonDivisor(BlockDictionary(FLBitPack,raw))", "CommonDivisor(PatchedPack(raw,raw))",
	"Narrow(raw)", "Narrow(FLBitPack)", "Narrow(Zstd)", "PatchedPack(raw,raw)", "PatchedPack(Delta(FFOR),FFOR)", "PatchedPack(Zstd,FFOR)", "PatchedPack(Delta(Narrow(raw)),raw)",
	"TightPack", "Delta(TightPack)", "PatchedPack(Delta(TightPack),TightPack)", "BlockDictionary(TightPack,TightPack)", "ALP(TightPack)",
	"BytePlanes(Zstd)", "BytePlanes(FLBitPack)", "BytePlanes(RunLength(raw,Narrow(raw)))", "BlockDictionary(Narrow(Zstd),raw)",
	"PrefixBins(Plain,Plain)", "PrefixBins(Delta(FFOR),RunLength(raw,raw))", "Delta(PrefixBins(Plain,FLBitPack))", "BlockDictionary(PrefixBins(Plain,Plain),raw)",
	"LagDelta[1](Plain,Plain)", "LagDelta[7](FFOR,Delta(FFOR))", "LagDelta[64](Plain,PatchedPack(raw,raw))", "ALP(LagDelta[3](FFOR,Sparse(raw,raw)))",
	"Delta(PatchedPack(raw,raw))", "ALP(PatchedPack(raw,raw))", "RunLength(CommonDivisor(FLBitPack),Narrow(raw))",
}

var allShapes = slices.Concat(shapes, shapes2026)

// lengths are around the limits of chunks and blocks.
var lengths = []int{0, 1, 2, 3, 7, 63, 64, 65, 255, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3000}

// drawValues draws bit patterns of T of many kinds: constant, runs, sorted, steps, few distinct values, decimals,
// extremes, noise.
func drawValues[T Value](t *rapid.T) []T {
	n := rapid.SampledFrom(lengths).Draw(t, "n")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	seed := rapid.Uint64().Draw(t, "seed")
	random := func() uint64 {
		seed += 0x9e3779b97f4a7c15
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	float := Of[T]().Float()
	base, width := random(), random()%20
	at := base
	out := make([]T, n)
	for i := range out {
		switch kind {
		case 0:
			out[i] = fromBits[T](base)
		case 1: // runs
			if random()%7 == 0 {
				at = base + random()&(1<<width-1)
			}
			out[i] = fromBits[T](at)
		case 2: // ascending
			at += random() & (1<<width - 1)
			out[i] = fromBits[T](at)
		case 3: // few distinct
			out[i] = fromBits[T](base * (random()%11 + 1))
		case 4: // mostly zero
			if random()%50 == 0 {
				out[i] = fromBits[T](random())
			}
		case 5: // decimals
			v := float64(int64(random()%200000)-100000) / 100
			if out[i] = T(v); !float {
				out[i] = fromBits[T](uint64(int64(v)))
			}
		case 6: // extremes
			odd := []uint64{0, 1, 1 << 7, 1 << 15, 1 << 31, 1 << 63, math.MaxUint64, math.MaxInt64, math.MaxInt32, 127, 0x7ff8000000000001,
				0xfff0000000000001, 0x7fc00001, 0x80000000, 0x7f800001}
			out[i] = fromBits[T](odd[random()%uint64(len(odd))])
		case 7: // narrow
			out[i] = fromBits[T](base + random()&(1<<width-1))
		case 8: // even steps
			out[i] = fromBits[T](base + uint64(i)*width)
		default:
			out[i] = fromBits[T](random())
		}
	}
	return out
}

// fromBits returns the T with the low bits of b.
func fromBits[T Value](b uint64) T {
	var v [1]T
	word.Load(v[:], block8(b))
	return v[0]
}

func block8(b uint64) []byte { return word.StoreOne(nil, b) }

func drawNulls(t *rapid.T, n int) bitmap.Bits {
	every := rapid.SampledFrom([]int{0, 0, 1, 2, 30, -40}).Draw(t, "nulls")
	if every == 0 {
		return bitmap.All(n)
	}
	off := rapid.IntRange(0, 9).Draw(t, "off")
	b := bitmap.Bits{Data: bytes.Repeat([]byte{0xff}, (n+off)/8+1), Off: off, Len: n}
	for i := range n {
		if every > 0 == (i%max(every, -every) == 0) {
			b.Data[(off+i)/8] &^= 1 << ((off + i) % 8)
		}
	}
	return b
}

// requireSame checks that got has the bits of want at every position that is not null.
func requireSame[T Value](t require.TestingT, want, got []T, valid bitmap.Bits, what string) {
	w, g := word.Store(nil, want), word.Store(nil, got)
	if valid.Data == nil && bytes.Equal(w, g) {
		return
	}
	size := sizeOf[T]()
	for i := range want {
		if valid.At(i) && !bytes.Equal(w[i*size:(i+1)*size], g[i*size:(i+1)*size]) {
			require.Failf(t, "wrong value", "%s: slot %d of %d: %x, want %x", what, i, len(want), g[i*size:(i+1)*size], w[i*size:(i+1)*size])
		}
	}
}

func testShapes[T Value](t *testing.T) {
	t.Run(Of[T]().String(), func(t *testing.T) {
		if raceEnabled && Of[T]() != I64 {
			t.Skip("-race: one type is enough")
		}
		rapid.Check(t, func(t *rapid.T) {
			values := drawValues[T](t)
			valid := drawNulls(t, len(values))
			var s Scratch
			some := rapid.SliceOfN(rapid.SampledFrom(allShapes), 15, 15).Draw(t, "shapes")
			for _, shape := range some {
				p, err := parseShape(shape)
				require.NoError(t, err)
				if !suits(p, Of[T]()) {
					continue
				}
				tree, err := AppendTreeAs([]byte("xyz"), values, valid, shape)
				require.NoError(t, err)
				tree = tree[3:]
				got := make([]T, len(values))
				require.NoError(t, Decode(got, tree, &s), shape)
				requireSame(t, values, got, valid, shape)
				node := Describe(tree, Of[T](), len(values))
				require.NoError(t, node.FirstErr(), shape)
			}
		})
	})
}

func TestForcedShapes(t *testing.T) {
	testShapes[int8](t)
	testShapes[int16](t)
	testShapes[int32](t)
	testShapes[int64](t)
	testShapes[uint8](t)
	testShapes[uint16](t)
	testShapes[uint32](t)
	testShapes[uint64](t)
	testShapes[float32](t)
	testShapes[float64](t)
}

// The trees that were forced in the reference are the same here, for the same values. If an encoding leaves no
// choice, the bytes are the same, too.
func TestGoldenShapes(t *testing.T) {
	blocks, inputs := vectors(t)
	same, trees := 0, 0
	for _, v := range blocks {
		if strings.HasPrefix(v.Requested, "profile:") {
			continue
		}
		typ, _ := parseType(v.Type)
		in := inputs[v.Input]
		b, err := encoding.ParseBlock(v.Block, v.Checksum)
		require.NoError(t, err)
		valid := bitmap.All(v.N)
		tree, got := encodeBytes(t, typ, in.Values, valid, v.Requested)
		require.Equal(t, in.Values, got, v.ID)
		node := Describe(tree, typ, v.N)
		require.NoError(t, node.FirstErr(), v.ID)
		if node.String() == v.Tree {
			trees++
		}
		if bytes.Equal(tree, b.Values) {
			same++
		}
	}
	t.Logf("%d of the trees alike, %d to the byte", trees, same)
	if testdata.AllGoldens(t) {
		require.Greater(t, trees, 1000)
		require.Greater(t, same, 600)
	}
}

func encodeBytes(t *testing.T, typ Type, values []byte, valid bitmap.Bits, shape string) (tree, decoded []byte) {
	switch typ {
	case I8:
		return encodeBytesOf[int8](t, values, valid, shape)
	case I16:
		return encodeBytesOf[int16](t, values, valid, shape)
	case I32:
		return encodeBytesOf[int32](t, values, valid, shape)
	case I64:
		return encodeBytesOf[int64](t, values, valid, shape)
	case U8:
		return encodeBytesOf[uint8](t, values, valid, shape)
	case U16:
		return encodeBytesOf[uint16](t, values, valid, shape)
	case U32:
		return encodeBytesOf[uint32](t, values, valid, shape)
	case U64:
		return encodeBytesOf[uint64](t, values, valid, shape)
	case F32:
		return encodeBytesOf[float32](t, values, valid, shape)
	}
	return encodeBytesOf[float64](t, values, valid, shape)
}

func encodeBytesOf[T Value](t *testing.T, values []byte, valid bitmap.Bits, shape string) (tree, decoded []byte) {
	src := make([]T, len(values)/sizeOf[T]())
	word.Load(src, values)
	tree, err := AppendTreeAs(nil, src, valid, shape)
	require.NoError(t, err)
	dst := make([]T, len(src))
	var s Scratch
	require.NoError(t, Decode(dst, tree, &s), shape)
	return tree, word.Store(nil, dst)
}

func testEncoder[T Value](t *testing.T) {
	for _, p := range []encoding.Profile{encoding.ProfilePlain, encoding.MinimalCompression, encoding.Balanced, encoding.HighCompression,
		encoding.MinimalSize} {
		t.Run(fmt.Sprintf("%v/%v", Of[T](), p), func(t *testing.T) {
			if raceEnabled && Of[T]() != I64 {
				t.Skip("-race: one type is enough")
			}
			rapid.Check(t, func(t *rapid.T) {
				o := encoding.Options{Profile: p, NoChecksums: rapid.Bool().Draw(t, "no checksums")}
				if rapid.Bool().Draw(t, "2026") {
					o.Features = edition.E2026.Features()
				}
				e, again := NewEncoder[T](o), NewEncoder[T](o)
				var s Scratch
				for range rapid.IntRange(1, 8).Draw(t, "blocks") {
					values := drawValues[T](t)
					valid := drawNulls(t, len(values))
					require.Contains(t, []int{shortBlock, longBlock}, e.Plan(values, valid))
					again.Plan(values, valid)
					blk, err := e.AppendBlock(nil, values, valid)
					require.NoError(t, err)
					other, err := again.AppendBlock(make([]byte, 5, 100), values, valid)
					require.NoError(t, err)
					require.Equal(t, blk, other[5:])
					got := make([]T, len(values))
					validity := make([]byte, len(values)/8+1)
					nulls, err := DecodeBlock(got, validity, 0, blk, BlockOptions{Checksums: !o.NoChecksums}, &s)
					require.NoError(t, err)
					require.Equal(t, valid.Nulls(), nulls)
					requireSame(t, values, got, valid, "block")
					b, err := encoding.ParseBlock(blk, !o.NoChecksums)
					require.NoError(t, err)
					require.LessOrEqual(t, len(b.Values), 2+len(values)*sizeOf[T]())
					for i := range values {
						require.Equal(t, valid.At(i), validity[i/8]>>(i%8)&1 != 0)
					}
				}
			})
		})
	}
}

func TestEncoder(t *testing.T) {
	testEncoder[int8](t)
	testEncoder[int16](t)
	testEncoder[int32](t)
	testEncoder[int64](t)
	testEncoder[uint8](t)
	testEncoder[uint16](t)
	testEncoder[uint32](t)
	testEncoder[uint64](t)
	testEncoder[float32](t)
	testEncoder[float64](t)
}

func TestBadShapes(t *testing.T) {
	for _, shape := range []string{"", "FSST", "FOO", "FOR(", "FOR(Plain", "FOR(Plain,Plain,Plain)", "FOR(Plain)x", "FFOR[3", "ALP[e=99,f=0](FFOR)", "ALP[x](FFOR)"} {
		_, err := AppendTreeAs(nil, []int32{1, 2}, bitmap.All(2), shape)
		require.Error(t, err, shape)
	}
}

// A column of few values is one block, but in other profiles and in edition reference, and not after other blocks.
func TestBrief(t *testing.T) {
	values := make([]int64, 40_000)
	for i := range values {
		values[i] = int64(i) * 7919 % 10_007
	}
	for _, c := range []struct {
		o    encoding.Options
		want int
	}{
		{encoding.Options{Features: edition.E2026.Features()}, longBlock},
		{encoding.Options{}, 0},
		{encoding.Options{Features: edition.E2026.Features(), Profile: encoding.MinimalCompression}, 0},
	} {
		not := NewEncoder[int64](c.o)
		if c.want == 0 {
			c.want = not.Plan(values, bitmap.All(len(values)))
		}
		e := NewEncoder[int64](c.o)
		e.Brief(true, false)
		require.Equal(t, c.want, e.Plan(values, bitmap.All(len(values))))
		e.Brief(false, false)
		require.Equal(t, not.Plan(values, bitmap.All(len(values))), e.Plan(values, bitmap.All(len(values))))
	}
	e := NewEncoder[int64](encoding.Options{Features: edition.E2026.Features()})
	first, err := e.AppendBlock(nil, values, bitmap.All(len(values)))
	require.NoError(t, err)
	require.NotEmpty(t, first)
	e.Brief(true, false)
	require.Equal(t, shortBlock, e.Plan(values[:10_000], bitmap.All(10_000)))
}

// The same steps but for jumps, as of the ages of one person after the other, take little more than what tells the jumps.
func TestJumps(t *testing.T) {
	const n = 30_000
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, n)
	jumps := 0
	for i := 1; i < n; i++ {
		values[i] = values[i-1] + 728 + random.Int64N(4)
		if random.IntN(5) == 0 {
			values[i] = 9_000 + random.Int64N(15_000)
			jumps++
		}
	}
	block, err := NewEncoder[int64](encoding.Options{Features: edition.E2026.Features()}).AppendBlock(nil, values, bitmap.All(n))
	require.NoError(t, err)
	require.Less(t, len(block), n/4+3*jumps)
}

// A long block is explored in its middle. If that is not like the whole, the whole is explored: profiles for small files are not far larger than Balanced.
func TestUnlikeMiddle(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for name, other := range map[string]func() float64{
		"few values":  func() float64 { return float64(draw.IntN(1000)) / 2 },
		"many values": func() float64 { return float64(draw.IntN(1_000_000)) / 4 },
	} {
		values := make([]float64, 60_000)
		for i := range values {
			values[i] = []float64{0, 4.5, 14.5, 24.5}[draw.IntN(4)]
			if (i < 20_000 || i > 40_000) && draw.IntN(100) < 10 {
				values[i] = other()
			}
		}
		balanced := len(NewEncoder[float64](encoding.Options{Features: edition.E2026.Features(), Profile: encoding.Balanced}).AppendTree(nil, values, encoding.Bits{}))
		for _, p := range []encoding.Profile{encoding.HighCompression, encoding.MinimalSize} {
			tree := NewEncoder[float64](encoding.Options{Features: edition.E2026.Features(), Profile: p}).AppendTree(nil, values, encoding.Bits{})
			require.LessOrEqual(t, len(tree), balanced+balanced/20, "%s, %v", name, p)
		}
	}
}
