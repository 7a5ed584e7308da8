package blockpack_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

var ctx = context.Background()

// write writes messages to a file in memory.
func write(t testing.TB, messages [][]byte, o blockpack.WriterOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := blockpack.NewWriter(ctx, &out, o)
	require.NoError(t, err)
	for _, m := range messages {
		require.NoError(t, w.WriteOTLP(ctx, m))
	}
	require.NoError(t, w.Close(ctx))
	require.EqualValues(t, out.Len(), w.Stats().Bytes)
	return out.Bytes()
}

// TestSizes bounds the bytes of a span in files of real traces.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		corpus string
		spans  int
		limit  float64 // bytes of a span
		events float64 // of a span's events, which the reference does not store
	}{
		{"hotrod.otlp.zst", 148770, 60, 20},
		{"zipkin_lens.otlp", 1118, 150, 2},
	} {
		messages := otlpgen.Corpus(t, c.corpus)
		all := float64(len(write(t, messages, blockpack.WriterOptions{}))) / float64(c.spans)
		strict := float64(len(write(t, messages, blockpack.WriterOptions{Strict: true}))) / float64(c.spans)
		fmt.Printf("%s: %.1f bytes a span, %.1f without extensions\n", c.corpus, all, strict)
		require.Less(t, strict, c.limit)
		require.Less(t, all, c.limit+c.events)
	}
}
