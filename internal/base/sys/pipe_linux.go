package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// GrowPipe lets a pipe hold more bytes, so that its ends take fewer turns. It does nothing where the system refuses that, nor to
// another kind of file.
func GrowPipe(f *os.File, size int) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		if now, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && now < size {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size)
		}
	})
}
