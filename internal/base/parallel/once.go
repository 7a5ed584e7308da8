package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Once is a value that the first who asks for it makes, and after an error the next one. Those who ask meanwhile wait until it is there, or until their
// contexts end. The zero value is ready to use, by several goroutines at once.
type Once[T any] struct {
	made atomic.Pointer[T]
	init sync.Once
	turn chan struct{} // has room for one who makes the value
}

// Known returns the value if it was made.
func (o *Once[T]) Known() (value T, ok bool) {
	if made := o.made.Load(); made != nil {
		return *made, true
	}
	return value, false
}

// Get returns the value, which it makes if it was not made yet. make must not ask for the same value: it would wait for itself.
func (o *Once[T]) Get(ctx context.Context, make func() (T, error)) (value T, err error) {
	if value, ok := o.Known(); ok {
		return value, nil
	}
	o.init.Do(o.start)
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return value, ctx.Err()
	}
	if value, ok := o.Known(); ok {
		return value, nil
	}
	made, err := make() // in memory of its own, which calls that find it there do not take
	if err == nil {
		o.made.Store(&made)
	}
	return made, err
}

func (o *Once[T]) start() { o.turn = make(chan struct{}, 1) }
