package shard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/storage"
)

// The schema is correct or an error, whichever read of it fails or is cancelled. Failures are not cached.
func TestArrowSchemaWithFailingReads(t *testing.T) {
	ctx := t.Context()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, g := range golden.Shards(t) {
		faults := faultstore.New()
		s, err := Open(ctx, g.Path(t), OpenOptions{Store: faults.Wrap(storage.Local{}), SuffixBytes: 64})
		if err != nil {
			continue // not every golden can be opened
		}
		want, err := openGolden(t, g.Path(t)).ArrowSchema(ctx)
		for k := 1; ; k++ {
			faults.Reset()
			faults.FailAt(faultstore.Read, k)
			got, gotErr := s.ArrowSchema(ctx)
			if faults.Count(faultstore.Read) < k {
				requireSameError(t, err, gotErr)
				if err == nil {
					require.True(t, want.Equal(got), g.File)
				}
				break
			}
			require.ErrorIs(t, gotErr, faultstore.Err, g.File)
			_, gotErr = s.ArrowSchema(cancelled)
			require.ErrorIs(t, gotErr, context.Canceled, g.File)
		}
		require.NoError(t, s.Close())
	}
}

func openGolden(t *testing.T, path string) *Shard {
	s, err := Open(t.Context(), path, OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func requireSameError(t *testing.T, want, got error) {
	if want == nil {
		require.NoError(t, got)
	} else {
		require.EqualError(t, got, want.Error())
	}
}
