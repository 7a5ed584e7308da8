//go:build unix

package fastlanes

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// guardedPage returns memory in front of a page that may not be accessed.
func guardedPage(t *testing.T) []byte {
	const size = 1 << 16 // a multiple of all page sizes
	mem, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(mem)) })
	require.NoError(t, unix.Mprotect(mem[size:], unix.PROT_NONE))
	return mem[:size]
}
