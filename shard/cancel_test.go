package shard

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// watchedStore calls onWrite before each write, if it is set.
type watchedStore struct {
	storage.Store
	onWrite func()
}

func (s *watchedStore) Create(ctx context.Context, location string, o storage.CreateOptions) (storage.Writer, error) {
	w, err := s.Store.Create(ctx, location, o)
	return watchedWriter{w, s}, err
}

type watchedWriter struct {
	storage.Writer
	s *watchedStore
}

func (w watchedWriter) Write(ctx context.Context, p []byte) error {
	if w.s.onWrite != nil {
		w.s.onWrite()
	}
	return w.Writer.Write(ctx, p)
}

// Close stops writing the last stripe when its context ends, even in the middle of a buffer.
func TestCloseIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, store := writeLong(t, func(*WriterOptions, *watchedStore) {})
	writes := 0
	store.onWrite = func() { cancel(); writes++ }
	require.ErrorIs(t, w.Close(ctx), context.Canceled)
	require.LessOrEqual(t, writes, 2)
}

// It also stops a stripe that is written concurrently.
func TestCloseStopsStripeBeside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := make(chan struct{})
	writes := 0
	w, _ := writeLong(t, func(o *WriterOptions, s *watchedStore) {
		o.StripeRows = 400_000
		s.onWrite = func() { <-stopped; writes++ }
	})
	require.NotNil(t, w.stop)
	stop := w.stop
	w.stop = sync.OnceFunc(func() { stop(); close(stopped) })
	require.ErrorIs(t, w.Close(ctx), context.Canceled)
	require.LessOrEqual(t, writes, 2)
}

// A panic while a stripe is written concurrently is an error of Close, because no caller could recover it.
func TestPanicBeside(t *testing.T) {
	w, _ := writeLong(t, func(o *WriterOptions, s *watchedStore) {
		o.StripeRows = 400_000
		s.onWrite = func() { panic("store failed") }
	})
	require.NotNil(t, w.stop)
	require.ErrorContains(t, w.Close(t.Context()), "store failed")
	require.NoError(t, w.Abort(t.Context()))
}

// writeLong writes 6 MB of incompressible rows in one stripe. It calls set once the shard is created.
func writeLong(t *testing.T, set func(*WriterOptions, *watchedStore)) (*Writer, *watchedStore) {
	data := incompressible(rand.New(rand.NewPCG(1, 2)), 400_000)
	store := &watchedStore{Store: storage.NewMemory()}
	w, err := Create(t.Context(), "mem://x/long", data.schema, WriterOptions{Store: store, Parallelism: 2})
	require.NoError(t, err)
	set(&w.o, store)
	b := data.batch(0, data.rows)
	defer b.Release()
	require.NoError(t, w.Write(t.Context(), b))
	return w, store
}
