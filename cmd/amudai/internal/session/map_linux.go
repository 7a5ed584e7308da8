package session

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps a part of a file for reading and writing.
func mapFile(f *os.File, offset int64, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// release gives the memory of b back to the system, and clears b.
func release(b []byte) error {
	page := os.Getpagesize()
	head := min(-int(uintptr(unsafe.Pointer(unsafe.SliceData(b))))&(page-1), len(b))
	clear(b[:head])
	tail := (len(b) - head) &^ (page - 1)
	clear(b[head+tail:])
	if tail == 0 {
		return nil
	}
	return unix.Madvise(b[head:head+tail], unix.MADV_REMOVE)
}
