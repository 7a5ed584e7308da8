package column

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

var benchmarks = []struct {
	name string
	typ  Type
	bits uint16
	kind Kind
}{
	{"Bit", Bit, 1, KindBool},
	{"Real32", Real32, 32, KindFloat32},
	{"SplitUInt16", SplitUInt16, 16, KindUint16},
	{"SplitReal32", SplitReal32, 32, KindFloat32},
	{"SplitReal64", SplitReal64, 64, KindFloat64},
	{"SplitInt16", SplitInt16, 16, KindInt16},
	{"SplitInt32", SplitInt32, 32, KindInt32},
	{"SplitInt64", SplitInt64, 64, KindInt64},
	{"SplitIndex32/Offset32", SplitIndex32, 32, KindOffset32},
	{"SplitIndex64/Offset64", SplitIndex64, 64, KindOffset64},
	{"SplitIndex64/Offset32", SplitIndex64, 64, KindOffset32},
	{"Real16/float", Real16, 16, KindFloat32},
	{"Trunc12/float", Real32Trunc, 12, KindFloat32},
	{"Trunc20/float", Real32Trunc, 20, KindFloat32},
	{"Quant14/float", Real32Quant, 14, KindFloat32},
	{"Quant14/double", Real32Quant, 14, KindFloat64},
	{"SplitInt32/int64", SplitInt32, 32, KindInt64},
	{"Bit/uint8", Bit, 1, KindUint8},
}

// benchmarkLen is the number of elements of a page, as ROOT makes them: 64 KiB of floats.
const benchmarkLen = 16 << 10

func benchmarkValues(t testing.TB, typ Type, bits uint16, k Kind) (Codec, []byte) {
	c, err := NewCodec(typ, bits, -10, 10, k)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, k.Size(benchmarkLen))
	for i := range benchmarkLen {
		put(src, i, k, uint64(i), rng.Float64()*20-10)
	}
	return c, src
}

func BenchmarkDecode(b *testing.B) {
	for _, tier := range tiers() {
		b.Run(tier, func(b *testing.B) {
			use(tier)
			benchmarkDecode(b)
		})
	}
}

func benchmarkDecode(b *testing.B) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			native := bm.kind
			if !Writable(bm.typ, native) {
				native = bm.typ.Native()
			}
			w, src := benchmarkValues(b, bm.typ, bm.bits, native)
			page, err := w.Append(nil, src, 0, benchmarkLen)
			require.NoError(b, err)
			c, err := NewCodec(bm.typ, bm.bits, -10, 10, bm.kind)
			require.NoError(b, err)
			dst := make([]byte, bm.kind.Size(benchmarkLen))
			microbench.Output(b, len(dst))
			for b.Loop() {
				if err := c.Decode(dst, 0, page, benchmarkLen); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, tier := range tiers() {
		b.Run(tier, func(b *testing.B) {
			use(tier)
			benchmarkAppend(b)
		})
	}
}

func benchmarkAppend(b *testing.B) {
	for _, bm := range benchmarks {
		if !Writable(bm.typ, bm.kind) {
			continue
		}
		b.Run(bm.name, func(b *testing.B) {
			c, src := benchmarkValues(b, bm.typ, bm.bits, bm.kind)
			var page []byte
			microbench.Output(b, len(src))
			for b.Loop() {
				var err error
				if page, err = c.Append(page[:0], src, 0, benchmarkLen); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
