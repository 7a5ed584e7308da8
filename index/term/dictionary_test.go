package term

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// slowReader waits in each read until it may go on.
type slowReader struct {
	storage.Reader
	reads, goOn chan struct{}
}

func (r slowReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	r.reads <- struct{}{}
	<-r.goOn
	return r.Reader.ReadAt(ctx, p, off)
}

// A search that waits for the terms which another one reads ends with its context.
func TestNarrowWaits(t *testing.T) {
	data := table{make([][]byte, 100)}
	for i := range data[0] {
		data[0][i] = []byte{byte('a' + i%20)}
	}
	x := open(t, write(t, data, Options{Rows: 100, Fields: 1}, 1<<30, 1), 100)
	slow := slowReader{x.file.Reader, make(chan struct{}), make(chan struct{})}
	x.file.Reader = slow
	narrow := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := x.Narrow(ctx, x.allBlocks(), []byte("Z"))
			done <- err
		}()
		return done
	}
	first := narrow(tctx)
	<-slow.reads
	ctx, cancel := context.WithCancel(tctx)
	second := narrow(ctx)
	cancel()
	select {
	case err := <-second:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(time.Minute):
		require.Fail(t, "a search waits, and has no context any more")
	}
	close(slow.goOn)
	require.NoError(t, <-first)
}
