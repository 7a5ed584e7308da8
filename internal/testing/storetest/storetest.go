// Package storetest has the tests of all stores.
package storetest

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Read tests reading of an artifact of 500,000 bytes, which are the digits in turn.
func Read(t *testing.T, s storage.Store, location string) {
	ctx := context.Background()
	r, err := s.Open(ctx, location)
	require.NoError(t, err)
	defer r.Close()
	tail, size, err := r.ReadSuffix(ctx, 7)
	require.NoError(t, err)
	require.EqualValues(t, 500_000, size)
	require.Equal(t, "3456789", string(tail))
	tail, _, err = r.ReadSuffix(ctx, 1_000_000)
	require.NoError(t, err)
	require.Len(t, tail, 500_000)

	p := make([]byte, 5)
	require.NoError(t, r.ReadAt(ctx, p, 499_995))
	require.Equal(t, "56789", string(p))
	require.NoError(t, r.ReadAt(ctx, nil, 500_000))
	for _, off := range []int64{-1, 499_996, 500_000, 500_001, 1 << 62, -1 << 63} {
		err := r.ReadAt(ctx, p, off)
		require.ErrorIs(t, err, fault.ErrCorrupt, "at %d", off)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, r.ReadAt(ended, p, 0), context.Canceled)
	_, _, err = r.ReadSuffix(ended, 5)
	require.ErrorIs(t, err, context.Canceled)
}
