//go:build unix

package share

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a part of a file for reading and writing.
func mapFile(f *os.File, offset int64, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}
