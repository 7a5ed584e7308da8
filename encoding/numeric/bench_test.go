package numeric

import (
	"fmt"
	"math"
	"testing"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// benchLen is the number of values of most blocks.
const benchLen = 8192

// noise is a fixed pseudorandom sequence.
func noise(n int) []uint64 {
	out := make([]uint64, n)
	x := uint64(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = x
	}
	return out
}

// benchValues returns values that suit an encoding.
func benchValues[T Value](kind string) []T {
	out := make([]T, benchLen)
	at := uint64(1000)
	random := noise(2 * benchLen)
	run := 0
	for i, r := range random[:benchLen] {
		switch kind {
		case "constant":
			out[i] = 7
		case "narrow":
			out[i] = T(1000000 + r%4096)
		case "ascending":
			at += r % 30
			out[i] = T(at)
		case "runs":
			if run--; run <= 0 {
				run = int(random[benchLen+i]%7) + 1
				at += r % 30
			}
			out[i] = T(at)
		case "long runs":
			if run--; run <= 0 {
				run = int(random[benchLen+i] % 100)
				at += r % 30
			}
			out[i] = T(at)
		case "few":
			out[i] = T((r % 500) * 864000)
		case "small":
			out[i] = T(r % 100)
		case "sparse":
			if r%50 == 0 {
				out[i] = T(r % 1000)
			}
		case "skewed":
			out[i] = T(math.Exp2(float64(r%160) / 10))
		default:
			out[i] = T(float64(r%100000) / 100)
		}
	}
	return out
}

var benchShapes = []struct{ shape, kind string }{
	{"Plain", "narrow"}, {"SingleValue", "constant"}, {"FFOR", "narrow"}, {"TightPack", "narrow"}, {"FOR(FLBitPack)", "narrow"},
	{"Delta(FFOR)", "ascending"}, {"RunLength(Delta(FFOR),FLBitPack)", "runs"}, {"RunLength(FFOR,FLBitPack)", "long runs"},
	{"BlockDictionary(FLBitPack,raw)", "few"}, {"Sparse(Delta(FFOR),FFOR)", "sparse"}, {"TruncateU8(raw)", "small"},
	{"TruncateU16(FLBitPack)", "small"}, {"ZigZag(FLBitPack)", "small"}, {"LZ4", "skewed"}, {"Zstd", "skewed"},
	{"TruncateU32(Zstd)", "skewed"}, {"CommonDivisor(FLBitPack)", "few"}, {"LagDelta[100](FFOR,FFOR)", "skewed"}, {"PatchedPack(Delta(FFOR),FFOR)", "skewed"},
	{"BytePlanes(Zstd)", "skewed"}, {"PrefixBins(Plain,Plain)", "skewed"}, {"Narrow(raw)", "small"},
}

// benchDecode decodes a block repeatedly. GB/s are those of its values. For comparison, the first benchmark of each
// type copies as many bytes.
func benchDecode[T Value](b *testing.B, shape string, values []T) {
	size := len(values) * sizeOf[T]()
	tree, err := AppendTreeAs(nil, values, bitmap.All(len(values)), shape)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]T, len(values))
	var s Scratch
	microbench.Output(b, size)
	b.ReportMetric(float64(len(tree)*8)/float64(len(values)), "bits/value")
	for b.Loop() {
		if err := Decode(dst, tree, &s); err != nil {
			b.Fatal(err)
		}
	}
}

func benchDecodeInts[T Value](b *testing.B) {
	for _, c := range benchShapes {
		p, err := parseShape(c.shape)
		if err != nil {
			b.Fatal(err)
		}
		if !suits(p, Of[T]()) {
			continue
		}
		b.Run(Of[T]().String()+"/"+c.shape, func(b *testing.B) { benchDecode(b, c.shape, benchValues[T](c.kind)) })
	}
}

func BenchmarkDecode(b *testing.B) {
	benchDecodeInts[int32](b)
	benchDecodeInts[int64](b)
	benchDecodeInts[uint16](b)
	for _, shape := range []string{"Plain", "ALP[e=2,f=0](FFOR)", "ALPRD(FLBitPack,FLBitPack)", "BlockDictionary(FLBitPack,raw)"} {
		b.Run("f64/"+shape, func(b *testing.B) { benchDecode(b, shape, benchValues[float64]("decimals")) })
	}
}

// BenchmarkEncode encodes blocks with the choices of each profile. GB/s are those of the values.
func BenchmarkEncode(b *testing.B) {
	for _, p := range []encoding.Profile{encoding.ProfilePlain, encoding.MinimalCompression, encoding.Balanced, encoding.HighCompression} {
		for _, kind := range []string{"narrow", "ascending", "runs", "few", "small", "sparse", "skewed"} {
			b.Run(fmt.Sprintf("i64/%v/%s", p, kind), func(b *testing.B) {
				values := benchValues[int64](kind)
				e := NewEncoder[int64](encoding.Options{Profile: p})
				var dst []byte
				microbench.Output(b, 8*benchLen)
				for b.Loop() {
					dst, _ = e.AppendBlock(dst[:0], values, bitmap.All(benchLen))
				}
				b.ReportMetric(float64(len(dst)*8)/benchLen, "bits/value")
			})
		}
	}
	b.Run("f64/Balanced/decimals", func(b *testing.B) {
		values := benchValues[float64]("decimals")
		e := NewEncoder[float64](encoding.Options{})
		var dst []byte
		microbench.Output(b, 8*benchLen)
		for b.Loop() {
			dst, _ = e.AppendBlock(dst[:0], values, bitmap.All(benchLen))
		}
		b.ReportMetric(float64(len(dst)*8)/benchLen, "bits/value")
	})
}

// BenchmarkSelect finds the values within a narrow interval. GB/s are those of all values of the block, as if they
// were decoded.
func BenchmarkSelect(b *testing.B) {
	for _, c := range benchShapes {
		if p, err := parseShape(c.shape); err != nil || !suits(p, I64) {
			continue
		}
		b.Run("i64/"+c.shape, func(b *testing.B) {
			values := benchValues[int64](c.kind)
			blk := forcedBlock(b, values, bitmap.All(benchLen), c.shape)
			in := []Interval[int64]{{values[0] - 3, values[0] + 3}}
			dst := make([]uint64, benchLen/64)
			var s Scratch
			microbench.Output(b, 8*benchLen)
			for b.Loop() {
				if err := SelectRanges(blk, benchLen, in, BlockOptions{Checksums: true}, &s, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRows decodes every k-th of 8192 values. The time is per row.
func BenchmarkRows(b *testing.B) {
	for _, c := range benchShapes {
		if p, err := parseShape(c.shape); err != nil || !suits(p, I64) {
			continue
		}
		for _, k := range []int{8, 32, 512} {
			b.Run(fmt.Sprintf("i64/%s/%d", c.shape, k), func(b *testing.B) {
				blk := forcedBlock(b, benchValues[int64](c.kind), bitmap.All(benchLen), c.shape)
				var places []int64
				for i := range benchLen / k {
					places = append(places, int64(i*k))
				}
				rows := rowset.FromRows(places)
				dst := make([]int64, len(places))
				var s Scratch
				microbench.Output(b, 8*len(dst))
				for b.Loop() {
					if _, err := DecodeRows(dst, nil, 0, blk, benchLen, rows, BlockOptions{Checksums: true}, &s); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/row")
			})
		}
	}
}
