package session

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// used is the memory of a file.
func used(t *testing.T, f *os.File) int64 {
	info, err := f.Stat()
	require.NoError(t, err)
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}
