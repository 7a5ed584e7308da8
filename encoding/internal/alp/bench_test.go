package alp

import (
	"math"
	"testing"

	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// prices returns decimals with two digits after the point.
func prices(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i*7919%1000000) / 100
	}
	return v
}

// tenths returns decimals with one digit after the point.
func tenths(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i*31%10000) / 10
	}
	return v
}

// roots returns floats that are not decimals.
func roots(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1 + math.Sqrt(float64(i))/40
	}
	return v
}

func BenchmarkDecode(b *testing.B) {
	b.Run("float64", func(b *testing.B) { benchmarkDecode[float64, int64](b, prices(2048)) })
	b.Run("float32", func(b *testing.B) { benchmarkDecode[float32, int32](b, tenths(2048)) })
}

func benchmarkDecode[F Float, I Int](b *testing.B, src []F) {
	p, _ := Search[F, I](src)
	ints := make([]I, len(src))
	Encode(ints, src, p, nil)
	microbench.Output(b, len(src)*size[F]())
	for b.Loop() {
		Decode(src, ints, p)
	}
}

func BenchmarkEncode(b *testing.B) {
	b.Run("float64", func(b *testing.B) { benchmarkEncode[float64, int64](b, prices(2048)) })
	b.Run("float32", func(b *testing.B) { benchmarkEncode[float32, int32](b, tenths(2048)) })
}

func benchmarkEncode[F Float, I Int](b *testing.B, src []F) {
	p, _ := Search[F, I](src)
	ints := make([]I, len(src))
	microbench.Output(b, len(src)*size[F]())
	for b.Loop() {
		Encode(ints, src, p, nil)
	}
}

func BenchmarkSearch(b *testing.B) {
	b.Run("decimals", func(b *testing.B) { benchmarkSearch(b, prices(65536)) })
	b.Run("roots", func(b *testing.B) { benchmarkSearch(b, roots(65536)) })
}

func benchmarkSearch(b *testing.B, src []float64) {
	microbench.Output(b, 8*len(src))
	for b.Loop() {
		Search[float64, int64](src)
	}
}

func BenchmarkRD(b *testing.B) {
	src := roots(2048)
	p, _ := SearchRD(src)
	codes, right := make([]uint16, len(src)), make([]uint64, len(src))
	table := make([]uint8, p.Lefts(8))
	exc, lefts := EncodeRD(codes, right, src, p, table, nil, nil)
	b.Run("search", func(b *testing.B) {
		microbench.Output(b, 8*len(src))
		for b.Loop() {
			SearchRD(src)
		}
	})
	b.Run("encode", func(b *testing.B) {
		microbench.Output(b, 8*len(src))
		for b.Loop() {
			EncodeRD(codes, right, src, p, table, exc[:0], lefts[:0])
		}
	})
	b.Run("decode", func(b *testing.B) {
		microbench.Output(b, 8*len(src))
		for b.Loop() {
			if err := DecodeRD(right, codes, p, exc, lefts); err != nil {
				b.Fatal(err)
			}
		}
	})
}
