package session

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps a part of a file for reading and writing, as huge pages need it: at a multiple of their size.
func mapFile(f *os.File, offset int64, size int) ([]byte, error) {
	room, err := unix.MmapPtr(-1, 0, nil, uintptr(size+extent), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	at := unsafe.Add(room, -int(uintptr(room))&(extent-1))
	at, err = unix.MmapPtr(int(f.Fd()), offset, at, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return nil, errors.Join(err, unix.MunmapPtr(room, uintptr(size+extent)))
	}
	return unsafe.Slice((*byte)(at), size), nil
}

// fill gives memory to extents, in huge pages if the system has some. They replace small ones: there has to be one in each.
func fill(b []byte) {
	for i := 0; i < len(b); i += extent {
		b[i] = 0
	}
	_ = unix.Madvise(b, unix.MADV_COLLAPSE) // else each small page costs a fault
}

// release gives the memory of extents back to the system, and clears them.
func release(b []byte) error { return unix.Madvise(b, unix.MADV_REMOVE) }
