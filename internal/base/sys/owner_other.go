//go:build !unix

package sys

import "io/fs"

// NoWait is a flag of os.OpenFile, which this system lacks.
const NoWait = 0

// setOwner does nothing on this system.
func setOwner(string, fs.FileInfo) bool { return true }
