package sys

import "golang.org/x/sys/unix"

// StartWriteBack implements [File]. Sync reports failures.
func (f osFile) StartWriteBack() {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
