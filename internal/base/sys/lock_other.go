//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package sys

import (
	"context"
	"errors"
	"fmt"
)

// Lock implements [FS].
func (OS) Lock(_ context.Context, dir string) (unlock func(), err error) {
	return nil, fmt.Errorf("%w: this system cannot lock folder %s", errors.ErrUnsupported, dir)
}
