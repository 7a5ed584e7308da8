package sys

import "golang.org/x/sys/unix"

// StartWriteBack implements [File]. What fails is left for Sync to report.
func (f osFile) StartWriteBack() {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
