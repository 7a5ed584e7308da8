package object_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// settings are those of a cloud.
type settings struct {
	attempts int
	wait     time.Duration
}

func (s settings) MaxAttempts() int                             { return s.attempts }
func (s settings) RetryDelay(int, error) (time.Duration, error) { return s.wait, nil }
func answer(status int, after string) error {
	return object.Busy(errors.New("busy"), status, http.Header{"Retry-After": {after}})
}

func TestDelays(t *testing.T) {
	for name, test := range map[string]struct {
		retry    object.Retry
		err      func() error
		attempts int
		from, to time.Duration
	}{
		"broken":              {object.Retry{}, func() error { return object.Transient(errors.New("busy")) }, 4, 350 * time.Millisecond, 700 * time.Millisecond},
		"an error":            {object.Retry{}, func() error { return answer(500, "") }, 4, 350 * time.Millisecond, 700 * time.Millisecond},
		"overloaded":          {object.Retry{Attempts: 4}, func() error { return answer(503, "") }, 4, 3500 * time.Millisecond, 7 * time.Second},
		"too many":            {object.Retry{Attempts: 4}, func() error { return answer(429, "") }, 4, 3500 * time.Millisecond, 7 * time.Second},
		"told":                {object.Retry{Attempts: 4}, func() error { return answer(503, "10") }, 4, 30 * time.Second, 30 * time.Second},
		"told a date":         {object.Retry{Attempts: 4}, func() error { return answer(503, "Sat, 01 Jan 2000 00:00:20 GMT") }, 4, 19 * time.Second, 30 * time.Second}, // synctest begins in 2000
		"told to go":          {object.Retry{}, func() error { return answer(503, "61") }, 1, 0, 0},
		"told nonsense":       {object.Retry{}, func() error { return answer(500, "soon") }, 4, 350 * time.Millisecond, 700 * time.Millisecond},
		"settings":            {object.Retry{Schedule: settings{7, 3 * time.Second}}, func() error { return answer(503, "") }, 7, 18 * time.Second, 18 * time.Second},
		"settings, and told":  {object.Retry{Schedule: settings{2, 3 * time.Second}}, func() error { return answer(503, "5") }, 2, 5 * time.Second, 5 * time.Second},
		"settings of no end":  {object.Retry{Schedule: settings{0, time.Second}}, func() error { return answer(503, "") }, 4, 3 * time.Second, 3 * time.Second},
		"settings of one try": {object.Retry{Schedule: settings{1, time.Second}}, func() error { return answer(503, "") }, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, attempts := time.Now(), 0
				err := test.retry.Do(t.Context(), func(context.Context) error { attempts++; return test.err() })
				require.ErrorContains(t, err, "busy")
				require.Equal(t, test.attempts, attempts)
				require.GreaterOrEqual(t, time.Since(start), test.from)
				require.LessOrEqual(t, time.Since(start), test.to)
			})
		})
	}
}

// An overloaded server is asked again for five minutes, and the user is told once, unless the program has chosen a number of attempts.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		retry    object.Retry
		recovers time.Duration // after that
		from, to time.Duration
		is       bool // answered
		told     int
	}{
		{object.Retry{}, time.Hour, 5 * time.Minute, 5*time.Minute + 5*time.Second, false, 1},
		{object.Retry{}, 4 * time.Minute, 4 * time.Minute, 4*time.Minute + 5*time.Second, true, 1},
		{object.Retry{}, time.Second, time.Second, 4 * time.Second, true, 0},
		{object.Retry{Attempts: 4}, time.Hour, 3500 * time.Millisecond, 7 * time.Second, false, 0},
		{object.Retry{Schedule: settings{3, time.Second}, Patience: time.Minute}, time.Hour, time.Minute, time.Minute + time.Second, false, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, told := time.Now(), 0
			err := test.retry.Do(storage.WithNotice(t.Context(), func(text string) {
				require.Contains(t, text, "overloaded")
				told++
			}), func(context.Context) error {
				if time.Since(start) < test.recovers {
					return answer(503, "")
				}
				return nil
			})
			require.Equal(t, test.is, err == nil)
			require.GreaterOrEqual(t, time.Since(start), test.from)
			require.LessOrEqual(t, time.Since(start), test.to)
			require.Equal(t, test.told, told)
		})
	}
}

// A wait ends with its context.
func TestDelayIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, object.Retry{}.Do(ctx, func(context.Context) error { return answer(503, "30") }), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
	})
}
