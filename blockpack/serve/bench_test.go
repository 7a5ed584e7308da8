package serve_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

// BenchmarkReceive stores the spans of HotROD that eight clients send, in messages as they were recorded. It reports spans a second, with the
// end of the files.
func BenchmarkReceive(b *testing.B) {
	messages := otlpgen.Corpus(b, "hotrod.otlp.zst")
	spans := int64(0)
	for b.Loop() {
		s, err := serve.Open(ctx, b.TempDir(), serve.Options{})
		require.NoError(b, err)
		var next atomic.Int64
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(messages)); i = next.Add(1) - 1 {
					r := httptest.NewRequest(http.MethodPost, serve.Path, bytes.NewReader(messages[i]))
					r.Header.Set("Content-Type", "application/x-protobuf")
					w := httptest.NewRecorder()
					if s.ServeHTTP(w, r); w.Code != http.StatusOK {
						b.Errorf("status %d", w.Code)
					}
				}
			})
		}
		wait.Wait()
		require.NoError(b, s.Close(ctx))
		spans += s.Stats().Spans
	}
	b.ReportMetric(float64(spans)/b.Elapsed().Seconds(), "spans/s")
}
