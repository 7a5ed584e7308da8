package external_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/external"
	"github.com/amudai/amudai-go/storage"
)

// Without a reader of Parquet files, the error names the import that is missing.
func TestOpenNamesMissingImport(t *testing.T) {
	store := storage.NewMemory()
	require.NoError(t, store.Put("mem://x/a.parquet", []byte("PAR1")))
	r, err := store.Open(t.Context(), "mem://x/a.parquet")
	require.NoError(t, err)
	defer r.Close()
	_, err = external.Open(t.Context(), r, nil)
	require.ErrorContains(t, err, "a.parquet")
	require.ErrorContains(t, err, `import _ "github.com/amudai/amudai-go/table/parquet"`)
}
