//go:build !linux

package sys

// StartWriteBack implements [File]: it does nothing on this system.
func (f osFile) StartWriteBack() {}
