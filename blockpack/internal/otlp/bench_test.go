package otlp

import (
	"testing"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

func BenchmarkAddTraces(b *testing.B) {
	messages := otlpgen.Corpus(b, "hotrod.otlp.zst")
	total, n := 0, 0
	for _, m := range messages {
		total += len(m)
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	for b.Loop() {
		n = 0
		builder := NewBuilder(Options{})
		for _, m := range messages {
			if err := builder.AddTraces(m); err != nil {
				b.Fatal(err)
			}
			if builder.Rows() >= 8000 {
				n += builder.Finish().Rows
			}
		}
		n += builder.Finish().Rows
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "spans/s")
}

func BenchmarkAppendTraces(b *testing.B) {
	builder := NewBuilder(Options{})
	for _, m := range otlpgen.Corpus(b, "hotrod.otlp.zst")[:40] {
		if err := builder.AddTraces(m); err != nil {
			b.Fatal(err)
		}
	}
	block := builder.Finish()
	batch := batchOf(b, block, spans.Options{})
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = AppendTraces(buf[:0], batch, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(buf)))
	b.ReportMetric(float64(block.Rows)*float64(b.N)/b.Elapsed().Seconds(), "spans/s")
}

func BenchmarkAddBatch(b *testing.B) {
	builder := NewBuilder(Options{})
	for _, m := range otlpgen.Corpus(b, "hotrod.otlp.zst")[:40] {
		if err := builder.AddTraces(m); err != nil {
			b.Fatal(err)
		}
	}
	block := builder.Finish()
	batch := batchOf(b, block, spans.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if err := builder.AddBatch(batch); err != nil {
			b.Fatal(err)
		}
		builder.Finish()
	}
	b.ReportMetric(float64(block.Rows)*float64(b.N)/b.Elapsed().Seconds(), "spans/s")
}
