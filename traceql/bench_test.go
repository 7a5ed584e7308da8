package traceql_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
	"github.com/amudai/amudai-go/traceql"
)

// BenchmarkSearch finds traces in a Blockpack file with seven copies of HotROD, a million spans.
func BenchmarkSearch(b *testing.B) {
	messages, err := tracegen.Load(filepath.Join(testdata.Shared(b), "corpus", "traces", "hotrod.otlp.zst"))
	require.NoError(b, err)
	location := filepath.Join(b.TempDir(), "a.blockpack")
	w, err := blockpack.Create(b.Context(), location, blockpack.WriterOptions{})
	require.NoError(b, err)
	for m := range tracegen.Repeat(messages, 7) {
		require.NoError(b, w.WriteOTLP(b.Context(), m))
	}
	require.NoError(b, w.Close(b.Context()))
	f, err := blockpack.Open(b.Context(), location, blockpack.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	src, err := traceql.BlockpackSource(b.Context(), f)
	require.NoError(b, err)
	for _, c := range []struct {
		name, query string
		limit       int
	}{
		{"20 traces", `{ }`, 20},
		{"20 errors", `{ status = error }`, 20},
		{"no match", `{ name = "!" }`, 0},
		{"rare", `{ span.http.status_code = 500 || span.http.response.status_code = 500 }`, 0},
		{"structure", `{ resource.service.name = "frontend" } >> { status = error }`, 20},
		{"aggregate", `{ status = error } | count() > 3`, 20},
		{"recent", `{ status = error } with (most_recent=true)`, 20},
		{"all errors", `{ status = error }`, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			q, err := traceql.Parse(c.query)
			require.NoError(b, err)
			traces := 0
			for b.Loop() {
				for _, err := range traceql.Search(b.Context(), q, []traceql.Source{src}, traceql.Options{Limit: c.limit, Spans: 3}) {
					require.NoError(b, err)
					traces++
				}
			}
			b.ReportMetric(float64(traces)/float64(b.N), "traces")
		})
	}
}

// BenchmarkShapes finds traces of several shapes, 250,000 spans of each, as docs/blockpack.md compares them with Tempo. A file is opened anew each time.
func BenchmarkShapes(b *testing.B) {
	for _, shape := range shapes {
		location := filepath.Join(b.TempDir(), shape.name+".blockpack")
		w, err := blockpack.Create(b.Context(), location, blockpack.WriterOptions{})
		require.NoError(b, err)
		for _, m := range shape.messages(250_000) {
			require.NoError(b, w.WriteOTLP(b.Context(), m))
		}
		require.NoError(b, w.Close(b.Context()))
		service := fmt.Sprintf("{ resource.service.name = %q }", shape.service)
		for _, query := range []string{
			service, `{ status = error }`, `{ duration > 1s }`, `{ span.http.status_code = 500 }`, service + ` >> { status = error }`, service + ` | count() > 2`,
		} {
			b.Run(shape.name+"/"+query, func(b *testing.B) {
				q, err := traceql.Parse(query)
				require.NoError(b, err)
				for b.Loop() {
					f, err := blockpack.Open(b.Context(), location, blockpack.Options{})
					require.NoError(b, err)
					src, err := traceql.BlockpackSource(b.Context(), f)
					require.NoError(b, err)
					for _, err := range traceql.Search(b.Context(), q, []traceql.Source{src}, traceql.Options{Spans: 3}) {
						require.NoError(b, err)
					}
					require.NoError(b, f.Close())
				}
			})
		}
	}
}
