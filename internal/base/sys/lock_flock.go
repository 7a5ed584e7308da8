//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package sys

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The longest wait between two attempts to get a lock. It is held for a few system calls.
const maxLockWait = 50 * time.Millisecond

// Lock implements [FS].
func (OS) Lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := flock(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil // which unlocks
}

// flock does not let the system wait: such a wait cannot be cancelled.
func flock(ctx context.Context, f *os.File) error {
	for wait := time.Millisecond; ; wait = min(2*wait, maxLockWait) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("%w: locking folder %s: %w", errors.ErrUnsupported, f.Name(), err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
