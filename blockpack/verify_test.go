package blockpack_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table/provider"
)

// golden reads a file that the reference implementation wrote.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "golden", "blockpack", name))
	require.NoError(t, err)
	return b
}

func verifyBytes(t testing.TB, file []byte) *provider.Report {
	t.Helper()
	in := provider.Input{Name: "a.blockpack", At: bytes.NewReader(file), Size: int64(len(file))}
	r, err := blockpack.New(blockpack.FormatOptions{}).Verify(t.Context(), in, provider.VerifyOptions{})
	require.NoError(t, err)
	return r
}

// Files of the reference implementation have no problems. What their range indexes lack is a note.
func TestVerifyGolden(t *testing.T) {
	for _, name := range []string{"ref_empty.blockpack", "ref_kinds.blockpack", "ref_probe.blockpack"} {
		t.Run(name, func(t *testing.T) {
			r := verifyBytes(t, golden(t, name))
			require.Empty(t, r.Problems)
			require.Zero(t, r.Unchecked)
			for _, n := range r.Notes {
				t.Log(n)
			}
			t.Log(r.Checked)
		})
	}
}

// Files that are written here have no problems, and nothing in them is left unchecked.
func TestVerifyWritten(t *testing.T) {
	for _, corpus := range []string{"hotrod.otlp.zst", "zipkin_lens.otlp"} {
		t.Run(corpus, func(t *testing.T) {
			messages := otlpgen.Corpus(t, corpus)
			messages = messages[:min(len(messages), sweep.Count(20, len(messages)))]
			for _, o := range []blockpack.WriterOptions{{}, {BlockSpans: 500}} {
				r := verifyBytes(t, write(t, messages, o))
				require.Empty(t, r.Problems)
				require.Zero(t, r.Unchecked)
				t.Log(r.Checked, r.Notes)
			}
		})
	}
}
