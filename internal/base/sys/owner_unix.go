//go:build unix

package sys

import (
	"io/fs"
	"os"
	"syscall"
)

// NoWait is a flag of os.OpenFile: the call does not wait for the other end of a pipe.
const NoWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// setOwner gives a file the owner and group of another one. Only administrators may give files away, and only members of a
// group to it. It reports whether the group is right.
func setOwner(name string, like fs.FileInfo) bool {
	s, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	return os.Lchown(name, int(s.Uid), int(s.Gid)) == nil || os.Lchown(name, -1, int(s.Gid)) == nil
}
