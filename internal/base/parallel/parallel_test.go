package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEach(t *testing.T) {
	for _, most := range []int{1, 3, 100} {
		var sum, now, peak atomic.Int64
		require.NoError(t, Each(t.Context(), 50, most, func(_ context.Context, i int) error {
			if n := now.Add(1); n > peak.Load() {
				peak.Store(n)
			}
			defer now.Add(-1)
			sum.Add(int64(i))
			return nil
		}))
		require.EqualValues(t, 49*50/2, sum.Load())
		require.LessOrEqual(t, peak.Load(), int64(most))
		bad := errors.New("bad")
		require.ErrorIs(t, Each(t.Context(), 50, most, func(ctx context.Context, i int) error {
			if i == 7 {
				return bad
			}
			return nil
		}), bad)
		require.EqualError(t, Each(t.Context(), 2, most, func(context.Context, int) error { panic("oh") }), "internal error: oh")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, Each(ended, 2, most, func(context.Context, int) error { panic("not called") }), context.Canceled)
	}
	require.NoError(t, Each(t.Context(), 0, 3, nil))
}
