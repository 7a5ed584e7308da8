//go:build unix

package suite

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile is the bytes of a file, in the page cache, outside of the memory of this process.
func mapFile(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
}
