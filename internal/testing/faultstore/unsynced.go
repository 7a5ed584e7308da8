package faultstore

import (
	"io/fs"

	"github.com/amudai/amudai-go/internal/base/sys"
)

// Unsynced has stores of local files not wait for disks, for the TestMain of packages whose tests write thousands of small files. Tests cannot tell: none cuts the
// power, and what a killed process has written stays. Faults of syncs are injected all the same.
func Unsynced() {
	disk = unsynced{sys.OS{}}
	sys.Default = disk
}

// disk is the file system that faults are injected into.
var disk sys.FS = sys.OS{}

type unsynced struct{ sys.FS }

func (s unsynced) Create(name string, like fs.FileInfo) (sys.File, error) {
	f, err := s.FS.Create(name, like)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

func (unsynced) SyncDir(string) error { return nil }

type unsyncedFile struct{ sys.File }

func (unsyncedFile) StartWriteBack() {}

func (unsyncedFile) Sync() error { return nil }
