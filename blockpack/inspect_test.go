package blockpack_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/table/provider"
)

// TestInspect accounts for all bytes of a file that this package writes.
func TestInspect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.blockpack")
	w, err := blockpack.Create(t.Context(), path, blockpack.WriterOptions{BlockSpans: 300})
	require.NoError(t, err)
	for _, m := range otlpgen.Corpus(t, "zipkin_lens.otlp") {
		require.NoError(t, w.WriteOTLP(t.Context(), m))
	}
	require.NoError(t, w.Close(t.Context()))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	in := provider.Input{Name: path, Reader: f, At: f, Size: info.Size(), Location: path}
	out, err := blockpack.New(blockpack.FormatOptions{}).Inspect(t.Context(), in, provider.InspectOptions{Hex: true})
	require.NoError(t, err)
	end := int64(0)
	for _, r := range out.Bytes {
		require.Equal(t, end, r.Offset)
		end += r.Size
		require.NotNil(t, r.Dump, r.Name)
		d, err := r.Dump(t.Context())
		require.NoError(t, err)
		next := 0
		for _, p := range d.Parts {
			require.Equal(t, next, p.Offset, "%s: %s", r.Name, p.Text)
			next += p.Size
		}
		require.Equal(t, len(d.Data), next, r.Name)
	}
	require.Equal(t, info.Size(), end)

	out, err = blockpack.New(blockpack.FormatOptions{}).Inspect(t.Context(), in, provider.InspectOptions{Detail: 3})
	require.NoError(t, err)
	require.Contains(t, out.Facts, provider.Fact{Name: "spans", Value: int64(1118)})
	require.Contains(t, out.Facts, provider.Fact{Name: "written by", Value: "amudai-go/1"})
}

// inspected is how a file is built.
func inspected(t testing.TB, file []byte) *provider.Outline {
	t.Helper()
	in := provider.Input{Name: "a.blockpack", At: bytes.NewReader(file), Size: int64(len(file))}
	out, err := blockpack.New(blockpack.FormatOptions{}).Inspect(t.Context(), in, provider.InspectOptions{})
	require.NoError(t, err)
	return out
}
