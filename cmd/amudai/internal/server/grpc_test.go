package server

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// A call that is one too many is refused so that its sender tries again, and has a place once another one has ended.
func TestAdmit(t *testing.T) {
	calls := semaphore.NewWeighted(1)
	first, end := context.WithCancel(t.Context())
	_, err := admit(calls)(first, &tap.Info{})
	require.NoError(t, err)
	_, err = admit(calls)(t.Context(), &tap.Info{})
	require.Equal(t, codes.Unavailable, status.Code(err))
	end()
	require.NoError(t, calls.Acquire(t.Context(), 1)) // once the first one has given it back
}
