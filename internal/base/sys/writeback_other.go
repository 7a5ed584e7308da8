//go:build !linux

package sys

// StartWriteBack implements [File]: here the system decides alone.
func (f osFile) StartWriteBack() {}
