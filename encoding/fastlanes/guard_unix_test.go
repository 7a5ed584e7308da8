//go:build unix

package fastlanes

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// guardedPage is memory behind which nothing may be read.
func guardedPage(t *testing.T) []byte {
	const size = 1 << 16 // a multiple of any page
	mem, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(mem)) })
	require.NoError(t, unix.Mprotect(mem[size:], unix.PROT_NONE))
	return mem[:size]
}
