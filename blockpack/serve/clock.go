package serve

import "time"

// clock tells the time. Tests have one of their own.
type clock interface {
	Now() time.Time
	// After returns a channel that gets a value after a duration, and a function that ends the wait.
	After(d time.Duration) (ready <-chan time.Time, stop func())
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
