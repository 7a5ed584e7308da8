package blockpack

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table"
)

// golden reads a file that the reference implementation wrote.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "golden", "blockpack", name))
	require.NoError(t, err)
	return b
}

func verifyBytes(t testing.TB, file []byte) *table.Report {
	t.Helper()
	in := table.Input{Name: "a.blockpack", At: bytes.NewReader(file), Size: int64(len(file))}
	r, err := New(FormatOptions{}).Verify(t.Context(), in, table.VerifyOptions{})
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
