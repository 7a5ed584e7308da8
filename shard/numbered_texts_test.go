package shard_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// Texts that count up take no more than half a byte each, which Balanced gives for faster reading: what is spared of trials must not miss that another
// encoding takes a hundredth of the bytes. Of several blocks they were packed digits of two bytes twice.
func TestNumberedTextsAreSmall(t *testing.T) {
	for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
		for _, rows := range []int{2000, 30_000, 70_000, 150_000} {
			store := storage.NewMemory()
			w, err := shard.CreateOf[struct{ Number string }](t.Context(), "numbers.amudai.shard", shard.WriterOptions{Store: store, Profile: p})
			require.NoError(t, err)
			for row := range rows {
				require.NoError(t, w.Write(t.Context(), struct{ Number string }{fmt.Sprintf("INV-%06d", row)}))
			}
			require.NoError(t, w.Close(t.Context()))
			r, err := store.Open(t.Context(), "numbers.amudai.shard")
			require.NoError(t, err)
			_, size, err := r.ReadSuffix(t.Context(), 1)
			require.NoError(t, err)
			require.Less(t, size, int64(3000+rows/2), "%v, %d rows", p, rows)
		}
	}
}
