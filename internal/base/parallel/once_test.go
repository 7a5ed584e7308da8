package parallel

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// A value is made once, and again after an error. Who waits for it stops when its context ends.
func TestOnce(t *testing.T) {
	var o Once[int]
	_, ok := o.Known()
	require.False(t, ok)
	broken := errors.New("broken")
	_, err := o.Get(t.Context(), func() (int, error) { return 0, broken })
	require.ErrorIs(t, err, broken)

	making, finish, made := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		v, err := o.Get(context.Background(), func() (int, error) {
			close(making)
			<-finish
			return 7, nil
		})
		if err == nil {
			made <- v
		}
		close(made)
	}()
	<-making
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	none := func() (int, error) { return 0, errors.New("made twice") }
	_, err = o.Get(ctx, none)
	require.ErrorIs(t, err, context.Canceled)
	close(finish)
	require.Equal(t, 7, <-made)
	v, err := o.Get(ctx, none)
	require.NoError(t, err)
	require.Equal(t, 7, v)
}
