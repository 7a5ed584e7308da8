//go:build !linux

package session

import (
	"errors"
	"os"
)

func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func fill([]byte) {}

func release([]byte) error { return errors.ErrUnsupported }
