package otlp

import (
	"testing"

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
