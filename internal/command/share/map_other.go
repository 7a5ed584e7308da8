//go:build !unix

package share

import (
	"errors"
	"os"
)

func mapFile(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
