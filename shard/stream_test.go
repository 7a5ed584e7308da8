package shard_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// A shard written to a stream has the same bytes as one written to a store. Every truncation of it is an error.
func TestStream(t *testing.T) {
	ctx := t.Context()
	batch := prices()
	defer batch.Release()
	o := shard.WriterOptions{CreationTime: time.Unix(1_700_000_000, 0)}
	var out bytes.Buffer
	w, err := shard.NewWriter(ctx, &out, batch.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batch))
	require.NoError(t, w.Close(ctx))

	store := storage.NewMemory()
	o.Store = store
	write(ctx, "mem://x/same", o)
	r, err := store.Open(ctx, "mem://x/same")
	require.NoError(t, err)
	same, _, err := r.ReadSuffix(ctx, 1<<20)
	require.NoError(t, err)
	require.True(t, bytes.Equal(same, out.Bytes()))

	for n := range out.Len() {
		_, err := shard.OpenReaderAt(ctx, bytes.NewReader(out.Bytes()[:n]), int64(n), shard.OpenOptions{})
		require.Error(t, err)
	}
	// A wrong size.
	_, err = shard.OpenReaderAt(ctx, bytes.NewReader(out.Bytes()), int64(out.Len()+1), shard.OpenOptions{})
	require.Error(t, err)

	_, err = shard.OpenReaderAt(ctx, bytes.NewReader(out.Bytes()), int64(out.Len()), shard.OpenOptions{Store: store})
	require.ErrorContains(t, err, "Store")
	_, err = shard.NewWriter(ctx, &out, batch.Schema(), o)
	require.ErrorContains(t, err, "Store")
	_, err = shard.NewWriter(ctx, &out, batch.Schema(), shard.WriterOptions{Layout: shard.TwoLevel})
	require.ErrorContains(t, err, "Layout")
}

// Without an import of storage/http, the error names the import.
func TestOpenNamesMissingImport(t *testing.T) {
	_, err := shard.Open(t.Context(), "https://example.invalid/x", shard.OpenOptions{})
	require.ErrorContains(t, err, "github.com/amudai/amudai-go/storage/http")
}
