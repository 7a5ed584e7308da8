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

// Get returns the value, which it makes if it was not made yet.
func (o *Once[T]) Get(ctx context.Context, make func() (T, error)) (T, error) {
	if value, ok := o.Known(); ok {
		return value, nil
	}
	o.init.Do(o.start)
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		value, _ := o.Known()
		return value, ctx.Err()
	}
	if value, ok := o.Known(); ok {
		return value, nil
	}
	value, err := make()
	if err == nil {
		o.made.Store(&value)
	}
	return value, err
}

func (o *Once[T]) start() { o.turn = make(chan struct{}, 1) }
