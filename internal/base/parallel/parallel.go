// Package parallel does several things at the same time.
package parallel

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Each calls f for the numbers below n, in their order, but up to most of them at the same time. It begins no more after an error, and returns
// the first one when all that have begun are done; their context ends. One at a time, they run in the goroutine of the caller. A panic is an
// error of [fault.RecoverInternal].
func Each(ctx context.Context, n, most int, f func(ctx context.Context, i int) error) error {
	one := func(ctx context.Context, i int) (err error) {
		defer fault.RecoverInternal(&err)
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(ctx, i)
	}
	if min(n, most) <= 1 {
		for i := range n {
			if err := one(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(most)
	for i := range n {
		g.Go(func() error { return one(ctx, i) })
	}
	return g.Wait()
}
