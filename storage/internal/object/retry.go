package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/amudai/amudai-go/storage"
)

// Retry limits the attempts of a request, in number and time. The zero value stands for
// the defaults.
type Retry struct {
	// Attempts is the largest number of times that a request is sent, by default 4.
	Attempts int
	// Backoff is the delay before the second attempt, by default 100 ms, and ten times that if the server is overloaded. It
	// doubles with each further attempt, up to 5 s. The actual delay is random, between half of it and all of it. It is never
	// shorter than the server asks for by the header Retry-After; if that is more than a minute, the request is not repeated.
	Backoff time.Duration
	// Schedule gives attempts and delays instead of Attempts and Backoff.
	Schedule Schedule
	// Patience is how long a request is repeated that an overloaded server refuses, also if that takes more attempts. By default 5 minutes, and none if
	// Attempts or Backoff are given.
	Patience time.Duration
	// Stall is the longest time without an answer, or without a byte of it, by default 30 s. Sending takes longer by
	// a second for every 64 KiB. What takes longer is cancelled, and counts as a failed attempt.
	Stall time.Duration
}

// Schedule are the attempts of a request, and the delays between them, by the settings of a cloud.
type Schedule interface {
	MaxAttempts() int
	// RetryDelay is the delay after an attempt that failed with err. The first attempt has number 1.
	RetryDelay(attempt int, err error) (time.Duration, error)
}

// delay is the time to wait after an attempt that failed.
func (r Retry) delay(attempt int, t transient) (time.Duration, error) {
	if r.Schedule != nil {
		wait, err := r.Schedule.RetryDelay(attempt, t.error)
		return max(wait, t.after), err
	}
	wait := r.Backoff
	if t.busy {
		wait *= 10
	}
	wait = min(wait<<min(attempt-1, 10), 5*time.Second)
	return max(wait/2+rand.N(wait/2+1), t.after), nil
}

func (r Retry) withDefaults() Retry {
	if r.Attempts <= 0 && r.Backoff <= 0 && r.Schedule == nil && r.Patience == 0 {
		r.Patience = 5 * time.Minute
	}
	if r.Schedule != nil {
		r.Attempts = r.Schedule.MaxAttempts()
	}
	r.Attempts = cmp.Or(max(r.Attempts, 0), 4)
	r.Backoff = cmp.Or(max(r.Backoff, 0), 100*time.Millisecond)
	r.Stall = cmp.Or(max(r.Stall, 0), 30*time.Second)
	return r
}

// transient marks an error that another attempt may avoid.
type transient struct {
	error
	busy  bool          // the server is overloaded
	after time.Duration // that the server asks to wait
}

func (t transient) Unwrap() error { return t.error }

// Transient marks an error that another attempt may avoid: a broken connection, a timeout,
// a status such as 503.
func Transient(err error) error { return transient{error: err} }

// maxAfter is the longest wait that a server may ask for.
const maxAfter = time.Minute

// Busy is [Transient] for an answer: a server that is overloaded gets more time, and so does one that asks for it.
func Busy(err error, status int, h http.Header) error {
	t := transient{error: err, busy: status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable}
	after := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 31); err == nil {
		t.after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		t.after = time.Until(at)
	}
	if t.after > maxAfter {
		return fmt.Errorf("%w, and asks to wait for %v", err, t.after.Round(time.Second))
	}
	return t
}

// IsTransient reports whether an error is marked by [Transient].
func IsTransient(err error) bool {
	var t transient
	return errors.As(err, &t)
}

// OfStatus is the error of a [Client] for a status of HTTP that err tells of. advice is about denied access.
func OfStatus(status int, h http.Header, err error, advice string) error {
	switch {
	case status == 404:
		return fs.ErrNotExist
	case status == 401, status == 403:
		return Failure{Text: "access denied", Advice: advice, Err: fs.ErrPermission}
	case status == 412:
		return ErrCondition
	case status == 416:
		return ErrRange
	case TransientStatus(status):
		return Busy(err, status, h)
	}
	return err
}

// TransientStatus reports whether a request with this HTTP status may succeed later.
func TransientStatus(code int) bool {
	return code == 408 || code == 429 || code >= 500 && code != 501
}

// Do calls f until its error is not transient, up to Attempts times, each within the time
// of Stall. The error is that of ctx once that has ended.
func (r Retry) Do(ctx context.Context, f func(context.Context) error) error {
	return r.DoWithin(ctx, 0, f)
}

// DoWithin is Do for a request that sends n bytes, or lets the server copy them.
func (r Retry) DoWithin(ctx context.Context, n int64, f func(context.Context) error) error {
	r = r.withDefaults()
	began, told := time.Now(), false
	for attempt := 1; ; attempt++ {
		limit := r.Stall + time.Duration(n>>16)*time.Second
		err := r.once(ctx, limit, f)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var t transient
		if !errors.As(err, &t) {
			return err
		}
		if attempt >= r.Attempts && !(t.busy && time.Since(began) < r.Patience) {
			return fmt.Errorf("%w (after %d attempts)", t.error, attempt)
		}
		if attempt >= r.Attempts && !told {
			told = true
			storage.Notify(ctx, fmt.Sprintf("the server is overloaded, and is asked again for up to %v: %v", r.Patience, t.error))
		}
		wait, err := r.delay(attempt, t)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// stallKey is the key of the watch of an attempt, in its context.
type stallKey struct{}

// watch cancels an attempt that has made no progress for some time.
type watch struct {
	timer *time.Timer
	limit time.Duration
}

// errStalled is the cause of cancelled attempts.
var errStalled = errors.New("no answer in time")

func (r Retry) once(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := watch{time.AfterFunc(limit, func() { cancel(errStalled) }), r.Stall}
	defer w.timer.Stop()
	err := f(context.WithValue(attempt, stallKey{}, w))
	if err != nil && context.Cause(attempt) == errStalled {
		return Transient(fmt.Errorf("%w: %v", errStalled, limit))
	}
	return err
}

// ReadFull is io.ReadFull in a call of [Retry.Do]: each byte that arrives gives the attempt more time.
func ReadFull(ctx context.Context, body io.Reader, p []byte) (n int, err error) {
	w, watched := ctx.Value(stallKey{}).(watch)
	for n < len(p) && err == nil {
		var got int
		got, err = body.Read(p[n:])
		if n += got; watched && got > 0 {
			w.timer.Reset(w.limit)
		}
	}
	switch {
	case n == len(p):
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// patient returns a context for a request that must not be given up half-way: what it does on the server would be unknown. It
// ends some time after that of the caller, or when the attempt has stalled.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if context.Cause(ctx) == errStalled {
			cancel()
			return
		}
		select {
		case <-longer.Done():
		case <-time.After(cleanUpTime):
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}
