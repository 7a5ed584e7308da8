package fault

import "errors"

// Is tells whether an error is about bytes, not about reading them: whether it wraps one of
// the kinds.
func Is(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrChecksum) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit)
}
