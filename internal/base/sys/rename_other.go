//go:build !linux && !darwin && !windows

package sys

import "errors"

func renameNew(from, to string) error { return errors.ErrUnsupported }
