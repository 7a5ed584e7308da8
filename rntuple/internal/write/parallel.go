package write

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// each calls f for the numbers below n, on several goroutines if the options allow them. Every goroutine has an
// encoder of its own. The error is that of the lowest number.
func (w *Writer) each(ctx context.Context, n int, f func(e *encoder, i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	work := func(e *encoder) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			errs[i] = guarded(f, e, i)
		}
	}
	var others sync.WaitGroup
	for _, e := range w.encoders[1:max(min(n, len(w.encoders)), 1)] {
		others.Go(func() { work(e) })
	}
	work(w.encoders[0])
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func guarded(f func(e *encoder, i int) error, e *encoder, i int) (err error) {
	defer fault.RecoverInternal(&err)
	return f(e, i)
}
