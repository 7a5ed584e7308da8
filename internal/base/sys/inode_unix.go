//go:build unix

package sys

import (
	"io/fs"
	"syscall"
)

// Inode returns the number of a file within its file system. It is 0 if the system has
// no such numbers.
func Inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
