package blockpack_test

import (
	"io"
	"testing"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

// BenchmarkWriteOTLP writes the messages of 148,770 spans.
func BenchmarkWriteOTLP(b *testing.B) {
	messages := otlpgen.Corpus(b, "hotrod.otlp.zst")
	bytes := 0
	for _, m := range messages {
		bytes += len(m)
	}
	for _, o := range []struct {
		name string
		o    blockpack.WriterOptions
	}{{"default", blockpack.WriterOptions{}}, {"one core", blockpack.WriterOptions{Parallelism: 1}}} {
		b.Run(o.name, func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			var spans int64
			cpu := measure.CPU()
			for b.Loop() {
				w, err := blockpack.NewWriter(ctx, io.Discard, o.o)
				if err != nil {
					b.Fatal(err)
				}
				for _, m := range messages {
					if err := w.WriteOTLP(ctx, m); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(ctx); err != nil {
					b.Fatal(err)
				}
				spans += w.Stats().Spans
			}
			b.ReportMetric(float64(spans)/b.Elapsed().Seconds(), "spans/s")
			b.ReportMetric((measure.CPU()-cpu)/float64(spans)*1e9, "cpu-ns/span")
		})
	}
}
