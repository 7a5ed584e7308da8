package object_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// lateSource answers after some time, and one request in 50 after ten seconds, unless that is cancelled.
type lateSource struct {
	every                              func() time.Duration
	requests, cancelled, opened, close atomic.Int64
	fail                               atomic.Bool // those that are not late
}

func (s *lateSource) Get(ctx context.Context, _ string, off, n int64, _ storage.Version) (object.Content, error) {
	wait := s.every()
	late := s.requests.Add(1)%50 == 30
	if late {
		wait = 10 * time.Second
	}
	select {
	case <-ctx.Done():
		s.cancelled.Add(1)
		return object.Content{}, ctx.Err()
	case <-time.After(wait):
	}
	if s.fail.Load() && !late {
		return object.Content{}, errors.New("refused")
	}
	s.opened.Add(1)
	return object.Content{Properties: object.Properties{Size: 1000, Version: "v"}, Offset: off, Body: lateBody{bytes.NewReader(make([]byte, n)), s}}, nil
}

func (s *lateSource) Head(context.Context, string) (object.Properties, error) {
	return object.Properties{Size: 1000, Version: "v"}, nil
}

type lateBody struct {
	io.Reader
	s *lateSource
}

func (b lateBody) Close() error { b.s.close.Add(1); return nil }

// A read that is late is sent again, and the one that is not needed is cancelled: no read takes long, of a few percent more requests. Without leave no read is.
func TestHedging(t *testing.T) {
	for _, c := range []struct {
		hedged bool
		atOnce int
		every  time.Duration
	}{{true, 1, 30 * time.Millisecond}, {true, 50, 30 * time.Millisecond}, {true, 1, time.Second}, {false, 1, 30 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if c.hedged {
				ctx = storage.WithHedging(ctx)
			}
			s := &lateSource{every: func() time.Duration { return c.every }}
			r := object.NewReader(s, object.Retry{}, &object.Pace{}, "a", "fake://b/a")
			_, err := r.Size(ctx)
			require.NoError(t, err)
			const reads = 1000
			var longest time.Duration
			for range reads / c.atOnce {
				began := time.Now()
				var all sync.WaitGroup
				for range c.atOnce {
					all.Go(func() {
						if err := r.ReadAt(ctx, make([]byte, 100), 7); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				longest = max(longest, time.Since(began))
			}
			require.Equal(t, s.opened.Load(), s.close.Load(), "bodies")
			if !c.hedged {
				require.EqualValues(t, reads, s.requests.Load())
				require.Equal(t, 10*time.Second, longest)
				return
			}
			require.Less(t, longest, max(3*c.every, 100*time.Millisecond)+2*c.every)
			require.LessOrEqual(t, s.requests.Load(), int64(reads+reads/32+1))
			require.EqualValues(t, s.requests.Load()-reads, s.cancelled.Load())
			require.NotZero(t, s.cancelled.Load())
		})
	}
}

// If one of both requests fails, the other one counts; if both do, or the read is cancelled, that is the error.
func TestHedgingOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := storage.WithHedging(t.Context())
		s := &lateSource{every: func() time.Duration { return 10 * time.Millisecond }}
		r := object.NewReader(s, object.Retry{}, &object.Pace{}, "a", "fake://b/a")
		_, err := r.Size(ctx)
		require.NoError(t, err)
		p := make([]byte, 10)
		for range 29 {
			require.NoError(t, r.ReadAt(ctx, p, 0))
		}
		s.fail.Store(true)
		began := time.Now()
		require.NoError(t, r.ReadAt(ctx, p, 0), "the late one, as the second one fails")
		require.Equal(t, 10*time.Second, time.Since(began))
		require.ErrorContains(t, r.ReadAt(ctx, p, 0), "refused")
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		require.ErrorIs(t, r.ReadAt(short, p, 0), context.DeadlineExceeded)
	})
}
