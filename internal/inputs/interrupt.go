package inputs

import (
	"context"
	"io"
	"os"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/sys"
)

// Interruptible is a reader of a pipe or terminal whose Read ends with ctx, also while no bytes come. A read that has begun
// goes on in a goroutine then, and may still write to its buffer: nothing else can end it before the process does. Other files are
// returned as they are.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return r
		}
		sys.GrowPipe(f, pipeBytes)
	}
	return interruptible{ctx, r}
}

// pipeBytes is what a pipe should hold: the most that Linux allows to all users by default.
const pipeBytes = 1 << 20

type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case r := <-started(func() (int, error) { return i.r.Read(p) }):
		return r.value, r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}

// result is what a function returned.
type result[T any] struct {
	value T
	err   error
}

// started calls a function in a goroutine, and returns what will have its result.
func started[T any](f func() (T, error)) <-chan result[T] {
	done := make(chan result[T], 1)
	go func() {
		var r result[T]
		defer func() { done <- r }()
		defer fault.RecoverInternal(&r.err)
		r.value, r.err = f()
	}()
	return done
}
