package fault

import (
	"errors"
	"fmt"
)

// Is reports whether an error wraps one of the kinds: whether it is about the bytes, not about
// reading them.
func Is(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrChecksum) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit)
}

// ErrBatchTooLarge means that rows do not fit one array: their strings or items need more than
// 32-bit offsets, or more memory than the options allow. Fewer rows at a time may fit.
var ErrBatchTooLarge = fmt.Errorf("%w: batch too large, read fewer rows at a time", ErrLimit)
