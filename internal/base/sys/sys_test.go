package sys

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := OS{}.Lock(t.Context(), dir)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = OS{}.Lock(ended, dir)
	require.ErrorIs(t, err, context.Canceled)
	unlock()
	unlock, err = OS{}.Lock(t.Context(), dir)
	require.NoError(t, err)
	unlock()
}
